"""The content of single columns of CoNLL-U: crossing heads, which labels are subjects and objects,
attributes in MISC, and what a cell may hold.
"""
