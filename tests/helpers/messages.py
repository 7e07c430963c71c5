"""Checks of what a command prints."""

from __future__ import annotations


def assert_one_message(result: tuple[int, str, str], *findings: object) -> None:
    """Exit status 2, and nothing but one message on standard error."""
    status, out, err = result
    assert status == 2
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for finding in findings:
        assert str(finding) in err
