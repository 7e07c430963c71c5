"""Real treebanks through `dyparse parse`: every byte comes out, but for HEAD and DEPREL."""

from pathlib import Path

import pytest
from malformed import without_trees
from tiny import UD

FILES = sorted(UD.glob("*/*.conllu"))
SMALL = [path for path in FILES if "UD_English-LinES" in path.parts or "-ud-dev" in path.name]

pytestmark = pytest.mark.skipif(not FILES, reason=f"no UD treebanks at {UD}; set DYPARSE_UD")


def assert_kept(command, model: Path, path: Path, out: Path) -> None:
    status, _, err = command("parse", model, path, "-o", out)
    assert (status, "error" in err) == (0, False)
    given, written = path.read_bytes(), out.read_bytes()
    assert without_trees(written) == without_trees(given)
    assert written != given


def small_or_slow(path: Path):
    marks = [] if path in SMALL else [pytest.mark.slow]
    return pytest.param(path, marks=marks, id=path.stem)


@pytest.mark.parametrize("path", map(small_or_slow, FILES))
def test_parsing_a_treebank_changes_heads_and_relations_only(
    dyparse_command, model_directory, path, tmp_path
):
    assert_kept(dyparse_command, model_directory, path, tmp_path / "out.conllu")
