"""One way to name a treebank: `sample`, a UD directory, its name, a file."""

from pathlib import Path

import pytest
from helpers.tiny import sample

from dyparse.data.conllu import read_sentences
from dyparse.errors import ConfigError, TreebankError
from dyparse.treebank._names import files_of, find_named, with_named_treebanks


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    for name in ("ud/UD_Toy-One", "ud/UD_Toy-Two", "else/UD_Toy-Far", "a b"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "toy-ud-train.conllu").write_text("")
    for name in ("own.conllu", "it's.conllu", "a,b.conllu"):
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "choice", "options"),
    [
        ("sample", "sample", {}),
        ("ud/UD_Toy-One", "ud", {"root": "ud", "name": "UD_Toy-One"}),
        ("ud/UD_Toy-One/", "ud", {"root": "ud", "name": "UD_Toy-One"}),
        ("UD_Toy-One", "ud", {"root": "ud", "name": "UD_Toy-One"}),
        ("own.conllu", "files", {"train": "own.conllu"}),
    ],
)
def test_a_name_means_a_choice_and_its_options(name, choice, options):
    assert find_named(name) == (choice, options)


def test_the_directory_itself_has_a_name_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "ud/UD_Toy-One")
    assert find_named(".").options == {"root": str(tmp_path / "ud"), "name": "UD_Toy-One"}


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("sampel", "did you mean 'sample'"),
        ("UD_Toy-Oen", "dyparse download UD_Toy-Oen; did you mean 'UD_Toy-One'"),
        ("UD_English-LinES", "dyparse download UD_English-LinES"),
        ("nowhere/dev.conllu", "no such file, directory or treebank"),
        ("UD_" + 300 * "x", "no such file, directory or treebank"),
        ("", "the name of the treebank is empty; expected `sample`"),
        ("~no-such-user/UD_Toy-One", "no such file, directory or treebank"),
    ],
)
def test_an_unknown_name_is_an_error_with_a_remedy(name, hint):
    with pytest.raises(TreebankError, match=hint):
        find_named(name)


def test_all_files_of_a_treebank_are_found():
    name, files = files_of("sample")
    assert name == "sample"
    assert len(list(read_sentences(files[1], trees=True))) == len(sample("dev"))
    assert files_of("UD_Toy-Two") == ("UD_Toy-Two", ["ud/UD_Toy-Two/toy-ud-train.conllu"])
    assert files_of("own.conllu") == ("own.conllu", ["own.conllu"])


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (["treebank=sample", "seed=2"], ["treebank=sample", "seed=2"]),
        (["treebank=ud"], ["treebank=ud"]),  # the choice, though there is a directory ud
        (["treebank=mine"], ["treebank=mine"]),  # perhaps a group of the user's own
        (
            ["treebank=UD_Toy-One"],
            ["treebank=ud", "treebank.root=ud", "treebank.name=UD_Toy-One"],
        ),
        (
            ["treebank=ud/UD_Toy-One,ud/UD_Toy-Two"],
            ["treebank=ud", "treebank.root=ud", "treebank.name=UD_Toy-One,UD_Toy-Two"],
        ),
        (["treebank='a b'"], ["treebank=ud", "treebank.root=.", "treebank.name='a b'"]),
        (["treebank=own.conllu"], ["treebank=files", "treebank.train=own.conllu"]),
        (["treebank=it's.conllu"], ["treebank=files", r"treebank.train='it\'s.conllu'"]),
        ([r"treebank='it\'s.conllu'"], ["treebank=files", r"treebank.train='it\'s.conllu'"]),
        (["treebank=a,b.conllu"], ["treebank=files", "treebank.train='a,b.conllu'"]),
    ],
)
def test_an_option_may_name_a_place(given, options):
    assert with_named_treebanks(given) == options


def test_a_list_of_treebanks_may_be_longer_than_a_path():
    names = [f"UD_Toy-{number:0200}" for number in range(20)]
    for name in names:
        (Path("ud") / name).mkdir()
    assert with_named_treebanks([f"treebank={','.join(names)}"])[2].count("UD_Toy") == 20


def test_an_empty_name_is_refused():
    Path("here.conllu").touch()
    with pytest.raises(TreebankError, match="the name of the treebank is empty"):
        with_named_treebanks(["treebank="])


def test_a_file_is_evaluated_whatever_the_split():
    options = with_named_treebanks(["treebank=own.conllu"], every_split=True)
    assert options[0] == "treebank=files"
    assert options[1:] == [f"treebank.{split}=own.conllu" for split in ("train", "dev", "test")]


@pytest.mark.parametrize("listed", ["sample,ud/UD_Toy-One", "ud/UD_Toy-One,else/UD_Toy-Far"])
def test_a_sweep_over_treebanks_in_several_places_is_refused(listed):
    with pytest.raises(ConfigError, match="dyparse compare --treebank"):
        with_named_treebanks([f"treebank={listed}"])
