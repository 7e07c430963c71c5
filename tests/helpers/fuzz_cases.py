"""How many cases the properties of tests/test_fuzz_*.py are tried on; see `fuzz` in conftest.py."""

from __future__ import annotations

import pytest


def cases(few: int, many: int) -> pytest.MarkDecorator:
    """Try a property a few times, and in the slow suite many."""
    slow = pytest.param(many, marks=pytest.mark.slow)
    return pytest.mark.parametrize("fuzz", [few, slow], indirect=True, ids=["few", "many"])
