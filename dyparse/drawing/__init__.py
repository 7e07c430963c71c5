"""Dependency trees as SVG and TikZ: arcs above the words, several trees of one sentence aligned,
and their differences marked. Start with `tree_picture` in `svg.py`; `layout.py` decides where words
and arcs go, `render.py` draws them, and `text.py` cleans, shortens and measures strings. `tikz.py`
writes the same trees for LaTeX, and `latex.py` is what all LaTeX output shares. The package knows
sentences and nothing of parsers.
"""
