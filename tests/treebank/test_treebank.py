import dataclasses
import importlib
import os
from functools import partial
from pathlib import Path

import pytest
from helpers.tiny import UD as UD_ROOT
from helpers.tiny import yamls
from omegaconf import OmegaConf

from dyparse.errors import TreebankError
from dyparse.treebank._split_files import SPLITS
from dyparse.treebank.files import Files
from dyparse.treebank.sample import Sample
from dyparse.treebank.ud import UD


def write(path: Path, *names: str) -> str:
    """Writes one-word sentences with these sent_ids; returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    sentences = (f"# sent_id = {name}\n1\tw\t_\t_\t_\t_\t0\troot\t_\t_\n\n" for name in names)
    path.write_text("".join(sentences))
    return str(path)


def ids_of(sentences):
    return [sentence.sent_id for sentence in sentences]


def numbers(n: int) -> list[str]:
    return [str(i) for i in range(1, n + 1)]


@pytest.mark.parametrize("path", yamls("treebank"), ids=lambda path: path.stem)
def test_every_yaml_names_a_treebank_and_fits_its_fields(path):
    node = OmegaConf.load(path)
    module, _, name = node.pop("_target_").rpartition(".")
    target = getattr(importlib.import_module(module), name)
    assert set(node) == {field.name for field in dataclasses.fields(target)}
    OmegaConf.merge(OmegaConf.structured(target), node)
    treebank = target(**node)
    assert isinstance(treebank.name, str)
    with pytest.raises(TreebankError, match=r"expected one of|no such directory|which UD treebank"):
        treebank.read("valid")


def test_the_sample_has_three_splits_that_share_no_sentence():
    sample = Sample()
    read = {split: sample.read(split) for split in SPLITS}
    assert len(read["train"]) > len(read["dev"]) > 100
    assert len(read["test"]) > 100
    sent_ids = [name for sentences in read.values() for name in ids_of(sentences)]
    assert len(set(sent_ids)) == len(sent_ids)
    assert sample.name == "sample"
    assert "sample" in sample.describe()


def test_files_are_read_as_named(tmp_path):
    paths = {split: write(tmp_path / f"{split}.conllu", split) for split in SPLITS}
    files = Files(**paths)
    for split in paths:
        assert ids_of(files.read(split)) == [split]
    assert all(path in files.describe() for path in paths.values())
    assert "held out" not in files.describe()


def test_without_dev_every_tenth_sentence_of_train_is_held_out(tmp_path):
    files = Files(train=write(tmp_path / "a b=c.conllu", *numbers(25)))
    assert ids_of(files.read("dev")) == ["10", "20"]
    assert ids_of(files.read("train")) == [n for n in numbers(25) if n not in ("10", "20")]
    assert "sentences 10, 20, 30, ... of train (1 in 10) are held out as dev" in files.describe()
    assert "\n" not in files.describe()
    assert files.name == "a_b_c"


@pytest.mark.parametrize(("n", "share", "dev"), [(2, 0.1, "2"), (9, 0.1, "9"), (3, 0.5, "2")])
def test_at_least_one_sentence_is_held_out_and_one_is_left(n, share, dev, tmp_path):
    files = Files(train=write(tmp_path / "x.conllu", *numbers(n)), held_out=share)
    assert ids_of(files.read("dev")) == [dev]
    assert ids_of(files.read("train")) == [name for name in numbers(n) if name != dev]


def test_nothing_can_be_held_out_of_one_sentence(tmp_path):
    files = Files(train=write(tmp_path / "x.conllu", "1"))
    for split in ("train", "dev"):
        with pytest.raises(TreebankError, match="at least 2"):
            files.read(split)


@pytest.mark.parametrize("share", [0.0, -0.1, 1e-320, 0.6, 1.0, float("nan")])
def test_a_share_that_leaves_nothing_is_refused(share):
    for treebank in (partial(Files, "x.conllu"), partial(UD, "ud", "UD_Latin-Parts")):
        with pytest.raises(ValueError, match=r"treebank\.held_out is"):
            treebank(held_out=share)


def test_a_split_without_a_file_is_refused_with_the_option_to_set(tmp_path):
    files = Files(train=write(tmp_path / "x.conllu", "1", "2"))
    with pytest.raises(TreebankError, match=r"treebank\.test=FILE"):
        files.read("test")
    only_test = Files(test=write(tmp_path / "y.conllu", "1"))
    assert "held out" not in only_test.describe()
    for split in ("train", "dev"):
        with pytest.raises(TreebankError, match=rf"treebank\.{split}=FILE"):
            only_test.read(split)
    assert "treebank.train=FILE" in Files().describe()


def release(root: Path) -> Path:
    write(root / "UD_Latin-One" / "la_one-ud-train.conllu", "train")
    write(root / "UD_Latin-One" / "la_one-ud-dev.conllu", "dev")
    write(root / "UD_Latin-One" / "la_one-ud-test.conllu", "test")
    write(root / "UD_Latin-Parts" / "la_parts-ud-train-b.conllu", "3", "4")
    write(root / "UD_Latin-Parts" / "la_parts-ud-train-a.conllu", "1", "2")
    write(root / "UD_Latin-Parts" / "la_parts-ud-test.conllu", "test")
    write(root / "UD_Latin-Test" / "la_test-ud-test.conllu", "test")
    (root / "UD_Latin-Empty").mkdir()
    write(root / "UD_Latin-Mixed" / "la_x-ud-test.conllu", "x")
    write(root / "UD_Latin-Mixed" / "la_y-ud-test.conllu", "y")
    return root


def test_a_ud_treebank_is_found_by_name(tmp_path):
    treebank = UD(str(release(tmp_path)), "UD_Latin-One")
    for split in SPLITS:
        assert ids_of(treebank.read(split)) == [split]
    assert "la_one-ud-dev.conllu" in treebank.describe()


def test_parts_of_train_are_joined_in_order_and_dev_is_held_out_of_the_whole(tmp_path):
    treebank = UD(str(release(tmp_path)), "UD_Latin-Parts", held_out=0.25)
    assert ids_of(treebank.read("train")) == ["1", "2", "3"]
    assert ids_of(treebank.read("dev")) == ["4"]
    assert "train-a.conllu + " in treebank.describe()
    assert "held out" in treebank.describe()


@pytest.mark.parametrize(
    ("name", "finding"),
    [
        ("UD_Latin-Pars", "did you mean UD_Latin-Parts"),
        ("UD_Klingon-Zzz", "there is UD_Latin-Empty, UD_Latin-Mixed, UD_Latin-One"),
        ("qqqqqq", "dyparse download qqqqqq"),
        ("", "which UD treebank[?] .* treebank=ud/UD_English-LinES"),
        ("../" + "x", "no treebank"),
        ("UD_Latin-Empty", "unpack or download it again"),
        ("UD_Latin-Mixed", "several treebanks .la_x, la_y."),
        ("UD_Latin-Test", "this treebank only has test"),
    ],
)
def test_a_ud_treebank_that_cannot_be_read_is_explained(name, finding, tmp_path):
    root = release(tmp_path / "ud")
    with pytest.raises(TreebankError, match=finding):
        UD(str(root), name).read("train")


def test_a_wrong_root_is_explained(tmp_path):
    root = release(tmp_path / "ud")
    with pytest.raises(TreebankError, match="no such directory"):
        UD(str(tmp_path / "none"), "UD_Latin-One").describe()
    with pytest.raises(TreebankError, match=f"is a treebank itself: set it to {root}"):
        UD(str(root / "UD_Latin-One"), "UD_Latin-One").describe()


@pytest.mark.skipif(not UD_ROOT.is_dir(), reason=f"no UD treebanks at {UD_ROOT}; set DYPARSE_UD")
def test_a_real_ud_treebank_is_read():
    name = sorted(path.name for path in UD_ROOT.glob("UD_*"))[0]
    treebank = UD(str(UD_ROOT), name)
    sentences = treebank.read("test")
    assert len(sentences) > 100
    assert {sentence.path for sentence in sentences} <= set(treebank.describe().split(" "))


def test_a_pipe_is_not_read_twice(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(TreebankError, match="a pipe, but train is read twice"):
        Files(train=str(tmp_path / "pipe")).read("train")
