"""Pages of the oracle explorer for the docs, one per transition system; `scripts/make_docs.py`
writes them to docs/systems/<name>.html.
"""

from __future__ import annotations

from dyparse import system as systems
from dyparse.web.sentences import pasted
from dyparse.web.static_page import static_page

PROJECTIVE = """\
1	She	_	PRON	_	_	2	nsubj	_	_
2	ate	_	VERB	_	_	0	root	_	_
3	hot	_	ADJ	_	_	4	amod	_	_
4	soup	_	NOUN	_	_	2	obj	_	_

"""
CROSSING = """\
1	What	_	PRON	_	_	3	nsubj:pass	_	_
2	was	_	AUX	_	_	3	aux:pass	_	_
3	asked	_	VERB	_	_	0	root	_	_
4	for	_	ADP	_	_	1	case	_	_

"""
THREE_WORDS = """\
1	What	_	PRON	_	_	3	nsubj:pass	_	_
2	was	_	AUX	_	_	3	aux:pass	_	_
3	asked	_	VERB	_	_	0	root	_	_

"""


def explorer_page(name: str) -> str:
    """The page of a system; its tree is not projective if the system is for such trees."""
    system = systems.load(name)
    text = PROJECTIVE if system.trees == "projective" else CROSSING
    if name == "two_planar":  # 50,793 states of four words
        text = THREE_WORDS
    return static_page(system, pasted(text)[0])
