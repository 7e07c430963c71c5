"""Scores of files with any words, as the CoNLL 2018 shared task has them (Zeman et al. 2018):
`conll18_scores` in `scores.py` is the whole table, from tokens to lemmas and trees.
`word_alignment` finds the same words in files with other tokens or sentences, and `parsed_file`
which of their columns are right.
"""
