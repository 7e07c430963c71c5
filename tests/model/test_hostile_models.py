"""Model directories that somebody damaged or made up: one CheckpointError, and nothing is run."""

import json
import os
import pickle
import random
import re
import socket
import subprocess
import sys
import time
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
import torch
from helpers.messages import assert_one_message
from helpers.saved_models import (
    FILES,
    MANIFEST,
    Mischief,
    assert_refused,
    forge,
    rewrite_config,
)
from helpers.tiny import fresh_parser, run, sample
from safetensors.torch import load_file, save_file

import dyparse
from dyparse.data.conllu import read_sentences
from dyparse.errors import CheckpointError
from dyparse.model.checkpoint import read_checkpoint
from dyparse.model.checkpoint_files import DECISIVE, digest_of_model
from dyparse.model.plain_yaml import load_plain_yaml

SPECIAL = {
    "pipe": os.mkfifo,
    "directory": os.mkdir,
    "device": lambda path: os.symlink("/dev/zero", path),
    "terminal": lambda path: os.symlink("/dev/tty", path),
    "loop": lambda path: os.symlink(path, path),
    "link to nothing": lambda path: os.symlink("nowhere", path),
    "socket": lambda path: bind(path),
}


def bind(path):
    """A socket of this name, which may be long."""
    before = Path.cwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.chdir(before)


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_only_regular_files_are_opened(saved, name, kind):
    (saved / name).unlink()
    SPECIAL[kind](saved / name)
    finding = {"loop": "Too many levels", "link to nothing": "No such file"}
    assert_refused(saved, saved / name, finding.get(kind, "no regular file"))
    if name in DECISIVE:  # what parse-corpus reads before
        with pytest.raises(CheckpointError):
            digest_of_model(saved)


def test_links_to_files_are_followed_as_caches_make_them(saved, tmp_path):
    for name in (*FILES, MANIFEST):
        (saved / name).rename(tmp_path / name)
        (saved / name).symlink_to(tmp_path / name)
    (tmp_path / "link").symlink_to(saved)
    assert dyparse.load(tmp_path / "link")


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="needs /proc")
def test_a_file_that_does_not_tell_its_size_is_refused(saved):
    (saved / "vocabulary.json").unlink()
    (saved / "vocabulary.json").symlink_to("/proc/version")
    assert_refused(saved, saved / "vocabulary.json", "sha256")


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_a_file_of_a_terabyte_is_refused_at_once(saved, name):
    os.truncate(saved / name, 2**40)  # sparse: it takes no room on the disk
    start = time.perf_counter()
    assert_refused(saved, saved / name, "expected at most")
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000, "\ud800", "/dev/null", "loop"])
def test_names_that_are_no_directory_are_refused(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(CheckpointError, match="no such model directory") as caught:
        dyparse.load(path)
    assert str(caught.value).isprintable()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_named(saved):
    for path in (saved / "config.yaml", saved):
        path.chmod(0)
        assert_refused(saved, saved, "Permission denied")
        path.chmod(0o700)


def nested(depth, value):
    """A list in a list in a list."""
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [1]\nb: *a",
        "a: &a 1",
        "&a a: 1",
        "- &x\n  - *x",
        "a: 1\na: 2",
        "<<: {a: 1}",
        "1: a",
        "null: a",
        "? [a]\n: b",
        "{a: {b: 1, b: 2}}",
        "a: !!binary aGVsbG8=",
        "a: !!set {b}",
        "a: !!timestamp 2001-01-01",
        "a: 2001-01-01",
        "a: 9223372036854775808",
        f"a: 0x{'f' * 9999}",
        f"a: {'9' * 9999}",
        "a: !!int ''",
        "a: !!int x",
        "a: !!float ''",
        "a: !!float x",
        "a: !!bool x",
        "a: !x 1",
        "a: !!python/name:os.system ''",
        "a: !!python/object/apply:os.system ['false']",
        "a: 1\n---\nb: 2",
        "a: \x07",
        "[" * 9999,
        "- " * 9999,
        "{a: " * 9999,
        f"a: {':'.join(['1'] * 9999)}.5",
    ],
)
def test_yaml_that_is_more_than_plain_data_is_refused(text):
    assert load_plain_yaml(b"a: [1, -2.5, x, true, null, {b: ''}]") == {
        "a": [1, -2.5, "x", True, None, {"b": ""}]
    }
    with pytest.raises(ValueError, match="not plain YAML"):
        load_plain_yaml(text.encode())


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config.update(format_version=3.0),
        lambda config: config.update(format_version=[3]),
        lambda config: config.update(format_version=nested(20, 3)),
        lambda config: config.update(format_version="3\x1b[31m"),
        lambda config: config.update(format_version=10**15, dyparse="\x1b[2J" * 99),
        lambda config: config.update(_target_="os.system"),
        lambda config: config.pop("torch"),
        lambda config: config["system"].update(name="_best_gains"),
        lambda config: config["system"].update(name="arc_eager.ArcEager"),
        lambda config: config["system"].update(name="arc_eager\0"),
        lambda config: config["system"].update(name="\x1b[31m" * 99),
        lambda config: config["system"].update({"\x1b[31m": 1}),
        lambda config: config["system"].update(single_root=[True]),
        lambda config: config["system"].update(single_root={"_target_": "os.system"}),
        lambda config: config["system"].update(single_root=None),
        lambda config: config["encoder"].update(name="bilstm", _target_="os.system"),
        lambda config: config["encoder"].update(features="word"),
        lambda config: config["encoder"].update(features={"word": 1}),
        lambda config: config["encoder"].update(features=nested(300, "word")),
        lambda config: config["encoder"].update(features=[None]),
        lambda config: config["encoder"].update(features=["???"]),
        lambda config: config["encoder"].update(hidden="???"),
        lambda config: config["encoder"].update(hidden=None),
        lambda config: config["encoder"].update(hidden=10**9),
        lambda config: config["encoder"].update(hidden=2**62),
        lambda config: config["encoder"].update(hidden=2**63 - 1),
        lambda config: config["encoder"].update(layers=10**9),
        lambda config: config["encoder"].update(layers=100),
        lambda config: config["encoder"]["widths"].update(word=10**12),
        lambda config: config["encoder"].update(subword_buckets=10**12),
        lambda config: config["encoder"].update(subword_buckets=2**63 - 1),
        lambda config: config["encoder"].update(input_dropout=float("nan")),
        lambda config: config["network"].update(hidden=10**9),
        lambda config: config["network"].update(hidden=2**63 - 1),
        lambda config: config["network"].update(reduced=10**9),
        lambda config: config["network"].update(dropout=float("inf")),
        lambda config: config["network"].update({"hidden.x": 1}),
    ],
)
def test_a_config_with_absurd_values_is_refused_at_once_in_printable_words(saved, change):
    rewrite_config(saved, change)
    start = time.perf_counter()
    with pytest.raises(CheckpointError) as caught:
        dyparse.load(saved)
    assert time.perf_counter() - start < 5
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


def test_a_config_that_asks_for_much_memory_takes_none(saved):
    rewrite_config(saved, lambda config: config["encoder"].update(hidden=10**6))
    program = (
        "import resource, sys, dyparse\n"
        "from dyparse.errors import CheckpointError\n"
        "from dyparse.model.parser import Parser\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    dyparse.load(sys.argv[1])\n"
        "except CheckpointError:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, saved], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 100_000  # KiB; the weights would be of several TiB


def rewrite_weights(directory, change):
    """Change the weights in place, and the manifest with them."""
    path = directory / "model.safetensors"
    weights = load_file(path)
    change(weights)
    save_file(weights, path)
    forge(directory)
    return path


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda w: w["hidden_bias"].fill_(torch.nan), "not finite"),
        (lambda w: w["output.weight"].view(-1)[-1:].fill_(-torch.inf), "not finite"),
        (lambda w: w.update(hidden_bias=w["hidden_bias"].double()), "hidden_bias is of F64"),
        (lambda w: w.update(hidden_bias=w["hidden_bias"].int()), "hidden_bias is of I32"),
        (lambda w: w.update(hidden_bias=w["hidden_bias"][:, None]), "is [24, 1]"),
        (lambda w: w.update(hidden_bias=torch.zeros(0)), "is [0]"),
        (lambda w: w.update(hidden_bias=torch.zeros(25)), "is [25]"),
        (lambda w: w.update({"../x\x1b": torch.zeros(1)}), "one too many"),
        (lambda w: w.update({"__class__": torch.zeros(1)}), "one too many"),
        (lambda w: w.clear(), "is missing"),
    ],
)
def test_weights_of_other_names_shapes_types_or_not_finite_are_refused(saved, change, finding):
    path = rewrite_weights(saved, change)
    assert_refused(saved, path, finding)
    with pytest.raises(CheckpointError, match=re.escape(str(path))):
        read_checkpoint(saved)


@pytest.mark.parametrize("scale", [1e38, -1e38, 1e-44, 0.0])
def test_huge_weights_still_give_trees(saved, scale):
    rewrite_weights(saved, lambda w: [t.fill_(scale) for t in w.values()])
    assert_gives_trees(dyparse.load(saved))


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"{}",
        b"[]",
        b'{"a":1}',
        b'{"a":{"dtype":"F32","shape":[0,9223372036854775807,2],"data_offsets":[0,0]}}',
        b'{"a":{"dtype":"F32","shape":[18446744073709551615,0],"data_offsets":[0,0]}}',
        b'{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}}',
        b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}',
        b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4000000000]}}',
        b'{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}',
        b'{"a":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}}',
        b'{"a":{"dtype":"C64","shape":[0],"data_offsets":[0,0]}}',
        b'{"__metadata__":{"x":1}}',
        b'{"a":' * 2000,
    ],
)
def test_headers_that_no_program_writes_are_refused(saved, header):
    for size, rest in ((len(header), b""), (len(header), b"\0"), (2**63, b""), (10**8, b"")):
        path = saved / "model.safetensors"
        path.write_bytes(size.to_bytes(8, "little") + header + rest)
        forge(saved)
        assert_refused(saved, path, "damaged")


@pytest.mark.parametrize(
    "change",
    [
        lambda v: v["heads"].update(labels=[]),
        lambda v: v["heads"]["labels"].__setitem__(0, ""),
        lambda v: v["heads"]["labels"].__setitem__(0, "a\tb"),
        lambda v: v["heads"]["labels"].__setitem__(0, "a\n1\tb"),
        lambda v: v["heads"]["labels"].reverse(),
        lambda v: v["features"]["word"].__setitem__(0, "\ud800"),
        lambda v: v["features"]["upos"].append(v["features"]["upos"][0]),
        lambda v: v["features"].update(word=[float("nan")]),
        lambda v: v["features"].update(word={"a": 1}),
        lambda v: v["features"].update(word=[["a"]]),
        lambda v: v["features"].update(word=nested(900, "a")),
        lambda v: v["features"].update(more=[]),
        lambda v: v["features"].pop("upos"),
        lambda v: v["heads"].pop("labels"),
        lambda v: v.update(heads=[]),
        lambda v: v.update({"more": []}),
        lambda v: v.update(lemmas=["a\tX\tb"]),  # without their heads
        lambda v: v.update(lemmas=[1]),
        lambda v: v.pop("lemmas"),
    ],
)
def test_a_vocabulary_that_would_spoil_trees_is_refused(saved, change):
    path = saved / "vocabulary.json"
    vocabulary = json.loads(path.read_text())
    change(vocabulary)
    path.write_text(json.dumps(vocabulary))
    forge(saved)
    assert_refused(saved, path, "damaged")


@pytest.mark.parametrize("text", ["[" * 10**6, '{"words": ' * 10**5, "9" * 10**5, "\ufeff{}"])
def test_json_without_end_is_refused(saved, text):
    path = saved / "vocabulary.json"
    path.write_text(text)
    forge(saved)
    assert_refused(saved, path, "damaged")


def test_loading_prints_nothing_and_warns_of_nothing(saved):
    program = "import sys, dyparse; dyparse.load(sys.argv[1])"
    command = [sys.executable, "-W", "error", "-c", program, saved]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_loading_draws_no_random_numbers(saved):
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    dyparse.load(saved)
    assert torch.rand(1) == expected


def test_bad_models_are_one_message_on_the_command_line(saved, dyparse_command, tmp_path):
    source = tmp_path / "in.conllu"
    source.write_text(sample("dev")[0].to_conllu())
    (saved / "metrics.json").write_text("{}")
    assert_one_message(dyparse_command("parse", saved, source), "metrics.json", "sha256")
    output = tmp_path / "out.conllu"
    result = dyparse_command("parse", saved, source, "-o", output)
    assert_one_message(result, "metrics.json")
    assert not output.exists()
    (saved / "config.yaml").unlink()
    os.mkfifo(saved / "config.yaml")
    assert_one_message(dyparse_command("parse", saved, source), "no regular file")
    assert_one_message(dyparse_command("parse", "", source), "no such model directory")


def test_a_bad_model_is_one_message_of_evaluate_py(saved, tmp_path):
    (saved / MANIFEST).unlink()
    done = run("evaluate.py", f"model={saved}", "treebank=sample", cwd=tmp_path)
    assert_one_message((done.returncode, done.stdout, done.stderr), MANIFEST, "missing")


def assert_gives_trees(parser):
    """What it writes is CoNLL-U that our own reader takes."""
    sentences = sample("dev")[:3]
    text = "".join(tree.to_conllu() for tree in parser.parse(sentences))
    assert len(list(read_sentences(BytesIO(text.encode()), trees=True))) == len(sentences)


class Damager:
    """Random damage to files of a model; none of it may make a file of this name."""

    def __init__(self, seed, proof, other):
        self.random, self.proof, self.other = random.Random(seed), proof, other
        self.ways = [self.flip, self.flip, self.cut, self.repeat, self.drop, self.overwrite]
        self.ways += [self.swap, self.pickled, self.zipped, self.torch_saved, self.digit]

    def __call__(self, name, content):
        while (damaged := self.random.choice(self.ways)(name, content)) == content:
            pass
        return damaged

    def place(self, content):
        return self.random.randrange(len(content))

    def flip(self, _, content):
        place, bit = self.place(content), 1 << self.random.randrange(8)
        return content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :]

    def cut(self, _, content):
        return content[: self.place(content)]

    def repeat(self, _, content):
        start, end = sorted((self.place(content), self.place(content)))
        return content[:end] + content[start:end] + content[end:]

    def drop(self, _, content):
        start, end = sorted((self.place(content), self.place(content)))
        return content[:start] + content[end:]

    def overwrite(self, _, content):
        place = self.place(content)
        piece = self.random.randbytes(self.random.randrange(1, 20))
        return content[:place] + piece + content[place + len(piece) :]

    def digit(self, _, content):
        places = [place for place, byte in enumerate(content[:4000]) if chr(byte).isdigit()]
        place, digit = self.random.choice(places or [0]), self.random.choice("0123456789-e._")
        return content[:place] + digit.encode() + content[place + 1 :]

    def swap(self, name, _):
        return (self.other / name).read_bytes()

    def pickled(self, _, __):
        return pickle.dumps(Mischief(self.proof))

    def zipped(self, name, content):
        buffer = BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(name, content)
        return buffer.getvalue()

    def torch_saved(self, _, __):
        buffer = BytesIO()
        torch.save({"weights": Mischief(self.proof)}, buffer)
        return buffer.getvalue()


@pytest.fixture
def other(tmp_path):
    """Another model, with weights of the same shapes in some places."""
    fresh_parser(sample("train")[:100], seed=7).save(tmp_path / "other", {"other": True})
    return tmp_path / "other"


def check_damage(directory, name, cases, damager):
    """Damage a file in many ways: never a model, and of a forger's nothing but trees."""
    intact = {path.name: path.read_bytes() for path in directory.iterdir()}
    for _ in range(cases):
        (directory / name).write_bytes(damager(name, intact[name]))
        with pytest.raises(CheckpointError):
            dyparse.load(directory)
        if name != MANIFEST:
            forge(directory)
            try:
                parser = dyparse.load(directory)
            except CheckpointError:
                pass
            else:
                assert_gives_trees(parser)
            (directory / MANIFEST).write_bytes(intact[MANIFEST])
        assert not damager.proof.exists()
    (directory / name).write_bytes(intact[name])
    assert dyparse.load(directory)


@pytest.mark.parametrize("name", [*FILES, MANIFEST])
def test_no_damage_is_loaded_and_no_forgery_runs_anything(saved, name, other, tmp_path):
    check_damage(saved, name, 80, Damager(f"1{name}", tmp_path / "was run", other))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FILES, MANIFEST])
@pytest.mark.parametrize("seed", range(5))
def test_no_damage_is_loaded_in_many_more_cases(saved, name, seed, other, tmp_path):
    check_damage(saved, name, 1000, Damager(f"{seed}{name}", tmp_path / "was run", other))


def test_the_pickle_of_these_tests_would_leave_a_trace(tmp_path):
    pickle.loads(pickle.dumps(Mischief(tmp_path / "proof")))
    assert (tmp_path / "proof").exists()
