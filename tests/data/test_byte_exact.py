"""Real treebanks through `dyparse parse`: every byte comes out, but for HEAD and DEPREL."""

import pytest
from helpers.malformed import without_trees
from helpers.tiny import UD

FILES = sorted(UD.glob("*/*.conllu"))


@pytest.mark.skipif(not FILES, reason=f"no UD treebanks at {UD}; set DYPARSE_UD")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_parsing_a_treebank_changes_heads_and_relations_only(
    dyparse_command, model_directory, path, tmp_path
):
    out = tmp_path / "out.conllu"
    status, _, err = dyparse_command("parse", model_directory, path, "-o", out)
    assert (status, "error" in err) == (0, False)
    given, written = path.read_bytes(), out.read_bytes()
    assert without_trees(written) == without_trees(given)
    assert written != given
