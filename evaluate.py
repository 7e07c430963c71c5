"""Evaluate a saved parser:  python evaluate.py model=DIR split=test   (--help lists all)

The same as `dyparse evaluate`.
"""

import sys

from dyparse.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["evaluate", *sys.argv[1:]]))
