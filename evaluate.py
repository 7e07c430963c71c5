"""Evaluate a saved parser:  python evaluate.py model=DIR split=test   (--help lists all)

The same as `dyparse evaluate`.
"""

import sys

from dyparse.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["evaluate", *sys.argv[1:]]))
