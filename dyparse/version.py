"""The version of the package, for the build, `dyparse.__version__` and saved models."""

__version__ = "0.1.0"
