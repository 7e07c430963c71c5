"""How good a parser is, and why. Start with `attachment_scores` (UAS, LAS and their relatives) and
`score_report` (the same by class of arcs, what `dyparse evaluate` prints); `conll18/` scores files
with other tokens, and tags and lemmas too. `measure` parses dev and test once after training,
counts the errors along the derivations (`error_analysis`) and writes a run's `result.json`, which
`run_result` reads without torch or numba. Two tools need no parser at all: `coverage` (how much of
a treebank a transition system can build) and `oracle_trace` (a derivation step by step, with the
cost of every move).
"""
