"""Train a parser:  python train.py treebank=sample exploration=explore   (--help lists all)

The same as `dyparse train`.
"""

import sys

from dyparse.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["train", *sys.argv[1:]]))
