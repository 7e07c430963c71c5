"""What users can mend: every error here is one message with place, finding and remedy."""


class DyparseError(Exception):
    """Root of the package's errors; entry points print the message and exit with status 2."""


class TreebankError(DyparseError):
    """A treebank or CoNLL-U file cannot be used as it is."""


class EmptyFileError(TreebankError):
    """A CoNLL-U file holds no sentence."""


class NoSplitError(TreebankError):
    """A treebank has no sentences for train, dev or test."""


class CheckpointError(DyparseError):
    """A model directory is missing, damaged, or of another version."""


class ConfigError(DyparseError):
    """An option has a wrong name, type or value."""


class DyparseWarning(UserWarning):
    """What users should know, while the work goes on; entry points print the message alone."""
