"""Number of cases that fuzz tests try; see the fixture `fuzz` in conftest.py."""

from __future__ import annotations

import pytest


def cases(few: int, many: int) -> pytest.MarkDecorator:
    """Tries a property on few cases, and on many in the slow suite."""
    slow = pytest.param(many, marks=pytest.mark.slow)
    return pytest.mark.parametrize("fuzz", [few, slow], indirect=True, ids=["few", "many"])
