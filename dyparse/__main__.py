"""`python -m dyparse` is the `dyparse` command."""

import sys

from dyparse.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
