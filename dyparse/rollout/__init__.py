"""Compiled loops over parser states, where most of the CPU time of the oracles is spent.

Start with rollout.py: it takes whole sentences through their states, scoring and choosing moves, to
collect training states (`rollout`) or to parse (`decode_greedily`). scorer.py has the scores of one
state; replay.py repeats moves that are known. All of them work for every transition system and
exploration, whose kernels are compiled in.
"""
