"""From text to sentences to numbers: a sentence is plain data (`sentence.py`, the place to start),
read from CoNLL-U files (`conllu.py`) under strict rules (`conllu_rules.py`); malformed sentences
stop the reading or are skipped (`malformed.py`). `split_files.py` reads the splits of a treebank,
`download.py` fetches one of Universal Dependencies, `tokenizer.py` splits running text into words.
`vocabulary.py` and `batch.py` turn sentences into the arrays that a network is trained on.
"""
