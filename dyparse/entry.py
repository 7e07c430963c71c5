"""Where programs begin: errors as one message, how OpenMP threads wait, what torch remembers."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from dyparse.errors import ConfigError, DyparseError, TreebankError

# OpenMP threads that spin long while another waits for a busy core make training dozens of times
# slower; threads that do not spin at all make it twice as slow. Read when torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

# Two layers of torch keep what they compiled for each of the last 1024 shapes. Hardly two batches
# have the same shape: memory would grow with the input, and nothing is gained in time.
os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32")
os.environ.setdefault("LRU_CACHE_CAPACITY", "32")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn an error that the user can mend into its message and exit status 2."""
    try:
        yield
    except DyparseError as error:
        found_by_all = isinstance(error, ConfigError | TreebankError)
        is_first = os.environ.get("RANK", "0") == "0"  # of the processes that torchrun started
        sys.exit(_complain(str(error)) if is_first or not found_by_all else 2)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        sys.exit(_complain(f"{place}{error.strerror or error}"))


def _complain(message: str) -> int:
    sys.stderr.write(f"error: {message}\n")
    return 2
