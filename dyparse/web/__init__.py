"""The oracle explorer and the parsing server: what a state looks like to a program or a page.

`exploring` turns states of a transition system into plain data, with costs and lost arcs.
"""
