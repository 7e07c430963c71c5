"""`dyparse conf` lists, prints and copies the yaml files of the options."""

from helpers.tiny import CONF


def test_it_lists_every_group_with_its_alternatives(dyparse_command):
    status, out, _ = dyparse_command("conf")
    assert status == 0
    assert "trainer" in out
    for path in (CONF / "loss").glob("*.yaml"):
        assert path.stem in out


def test_it_prints_a_file(dyparse_command):
    _, out, _ = dyparse_command("conf", "trainer/debug")
    assert out == "# trainer/debug.yaml\n" + (CONF / "trainer/debug.yaml").read_text()


def test_it_copies_all_files_or_some_and_replaces_none(tmp_path, dyparse_command):
    dyparse_command("conf", "-o", tmp_path / "all")
    yamls = {path.relative_to(CONF) for path in CONF.rglob("*.yaml")}
    copied = {p.relative_to(tmp_path / "all") for p in (tmp_path / "all").rglob("*") if p.is_file()}
    assert copied == yamls
    dyparse_command("conf", "loss/hinge.yaml", "-o", tmp_path / "one")
    assert [path.name for path in (tmp_path / "one").rglob("*.yaml")] == ["hinge.yaml"]
    (tmp_path / "one/loss/hinge.yaml").write_text("mine")
    status, _, error = dyparse_command("conf", "-o", tmp_path / "one")
    assert status == 2
    assert "hinge.yaml: exists already and is not overwritten; remove it" in error
    assert (tmp_path / "one/loss/hinge.yaml").read_text() == "mine"
    assert not (tmp_path / "one/train.yaml").exists()


def test_a_file_is_no_directory_to_copy_to(tmp_path, dyparse_command):
    (tmp_path / "file").touch()
    for output in (tmp_path / "file", tmp_path / "file" / "below"):
        status, _, error = dyparse_command("conf", "-o", output)
        assert status == 2
        assert f"--output is {output}: {tmp_path / 'file'} is no directory; choose" in error


def test_an_unknown_name_is_an_error_with_the_nearest(dyparse_command):
    status, _, error = dyparse_command("conf", "loss/hing")
    assert status == 2
    assert "did you mean 'loss/hinge'" in error
