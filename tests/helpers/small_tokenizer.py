"""Options of a tokenizer that is trained in a moment."""

from dyparse.tokenizer.learned import Learned

SMALL = Learned(embedding=12, hidden=12, convolution=3, epochs=4, learning_rate=0.02, dropout=0.0)
