"""The model: a network of an encoder, a scorer of moves and prediction heads, and its directory on
disk. Start with `parser.py`, which turns sentences into trees; `inputs.py` understands what it is
given, `network.py` has the layers, `parts.py` builds them from choices and a vocabulary, and
`checkpoint.py` writes and reads them. `sources.py` finds a model in a directory, in an installed
package or, with `hub.py`, on the Hugging Face Hub.
"""
