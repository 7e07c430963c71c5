"""Files of pretrained word vectors: word2vec, fastText and GloVe, plain or gzipped.

Start at `read.py`, which tells the formats apart by their content and keeps the rows that are asked
for. Files are read once, from front to back; memory grows with the rows kept, not with the file.
"""
