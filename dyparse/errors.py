"""Errors that users can fix: each is one message with place, finding and remedy."""


class DyparseError(Exception):
    """Base class of the package's errors; programs print the message and exit with status 2."""


class TreebankError(DyparseError):
    """A treebank or CoNLL-U file cannot be used as it is."""


class EmptyFileError(TreebankError):
    """A CoNLL-U file has no sentences."""


class NoSplitError(TreebankError):
    """A treebank has no sentences for train, dev or test."""


class CheckpointError(DyparseError):
    """A model is missing, damaged or of another version; or the Hub does not give or take it."""


class ConfigError(DyparseError):
    """An option has a wrong name, type or value."""


class DyparseWarning(UserWarning):
    """Something users should know that does not stop the program; printed as one line."""
