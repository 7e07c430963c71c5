"""The `dyparse` command, and `python -m dyparse`: quiet on Ctrl-C while it imports the rest."""

import gc
import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # not ignored, as it is in the background
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends the program without a traceback
    gc.disable()
    from dyparse.cli.main import main as run

    gc.freeze()  # what was imported stays: no garbage to look for
    gc.enable()
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, before)
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
