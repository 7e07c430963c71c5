"""Names that parts of a network cannot have."""

from collections.abc import Container


def is_taken(name: str, known: Container[str]) -> bool:
    """Whether torch's containers of modules have an attribute of this name; known names are free.

    (Without torch for these: it takes long to import, and parsing does without.)
    """
    if name in known:
        return False
    from torch import nn

    return hasattr(nn.ModuleDict, name)
