"""Parsing of large inputs: streams, several processes on one machine, many files on Ray.

Start with `stream.py`, the one loop that parses: checked sentences in, CoNLL-U out. `reading.py`
gives it sentences, `settings.py` the parser. It runs in this process; in the worker processes of
`worker_pool.py`, which parse a stream cut into the pieces of `chunks.py`; and in the Ray actors of
`ray_pool.py`, each of which parses whole files as `corpus.py` says.
"""
