"""From text to sentences to numbers: a sentence is plain data (`sentence.py`, the place to start),
read from CoNLL-U files (`conllu.py`) under strict rules (`conllu_rules.py`); malformed sentences
stop the reading or are skipped (`malformed.py`). A document is the sentences of a text
(`document.py`); `word_rules.py` has simple rules that split a text into words. `vocabulary.py` and
`batch.py` turn sentences into the arrays that a network is trained on.
"""
