"""Where programs begin: errors as one message, threads that wait without burning a core."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dyparse.errors import DyparseError

# A spinning thread that waits for one on a busy core makes training dozens of times slower. Read
# by OpenMP when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an error that the user can mend into its message and exit status 2."""
    try:
        yield
    except DyparseError as error:
        sys.exit(_complain(str(error)))
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.exit(_complain(f"{place}{error.strerror or error}"))


def _complain(message: str) -> int:
    sys.stderr.write(f"error: {message}\n")
    return 2
