"""The content of single columns of CoNLL-U: which labels are subjects and objects, attributes in
MISC, and what a cell may hold.
"""
