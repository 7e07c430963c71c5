"""`dyparse package`: a wheel that pip accepts, with the same bytes every time."""

import os
import subprocess
import sys
import zipfile
from email.parser import Parser as HeaderParser

import pytest
import torch
from helpers.messages import assert_one_message
from helpers.programs import python
from helpers.saved_models import FILES, MANIFEST
from helpers.tiny import sample
from helpers.tiny_transformers import tiny_options, tiny_parser

from dyparse.model.parser import Parser

WHEEL = "dyparse_en_tiny-1.0-py3-none-any.whl"
INFORMATION = "dyparse_en_tiny-1.0.dist-info"


@pytest.fixture
def package(dyparse_command, model_directory, tmp_path):
    """package(*options): write the wheel of the tiny model; what the command prints."""

    def call(*options):
        given = {"--name": "dyparse-en-tiny", "--version": "1.0", "-o": tmp_path}
        chosen = {str(option).partition("=")[0] for option in options}
        named = [word for pair in given.items() if pair[0] not in chosen for word in pair]
        return dyparse_command("package", model_directory, *named, *options)

    return call


def test_pip_installs_it_and_its_name_is_a_model(package, tmp_path):
    assert package()[0] == 0
    site = tmp_path / "site"
    install = ["-m", "pip", "install", "--no-deps", "--no-index", "--target", site]
    subprocess.run([sys.executable, *install, tmp_path / WHEEL], check=True, capture_output=True)
    program = (
        "import dyparse, json, sys\n"
        "parser = dyparse.load('dyparse-en-tiny')\n"
        "tree = parser([('a', 'X'), ('b', 'X')])\n"
        "print(json.dumps([len(tree), 'dyparse_en_tiny' in sys.modules]))"
    )
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    assert python(program, tmp_path, PYTHONPATH=path) == [2, False]


def test_it_holds_the_model_its_card_and_the_licence_and_no_code(
    package, model_directory, tmp_path
):
    (tmp_path / "LICENSE.txt").write_text("free")
    options = ("--license", "cc-by-sa-4.0", "--license-file", tmp_path / "LICENSE.txt")
    assert package(*options)[0] == 0
    with zipfile.ZipFile(tmp_path / WHEEL) as wheel:
        assert wheel.testzip() is None
        names = set(wheel.namelist())
        metadata = HeaderParser().parsestr(wheel.read(f"{INFORMATION}/METADATA").decode())
        record = wheel.read(f"{INFORMATION}/RECORD").decode()
        for name in (*FILES, MANIFEST):
            assert wheel.read(f"dyparse_en_tiny/{name}") == (model_directory / name).read_bytes()
    described = ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE.txt")
    assert names == {
        *(f"dyparse_en_tiny/{name}" for name in (*FILES, MANIFEST)),
        *(f"{INFORMATION}/{name}" for name in described),
    }
    assert {line.split(",")[0] for line in record.splitlines()} == names
    assert metadata["Requires-Dist"].startswith("dyparse>=")
    assert metadata["License-Expression"] == "CC-BY-SA-4.0"
    assert 'dyparse.load("dyparse-en-tiny")' in metadata.get_payload()


def test_a_model_with_a_transformer_requires_its_extra_and_the_card_says_so(
    tiny_pretrained, dyparse_command, tmp_path
):
    parser = tiny_parser(tiny_options(tiny_pretrained()), sample("train")[:5])
    parser.save(tmp_path / "model", {})
    given = ("--name", "dyparse-en-tiny", "--version", "1.0", "-o", tmp_path)
    assert dyparse_command("package", tmp_path / "model", *given)[0] == 0
    with zipfile.ZipFile(tmp_path / WHEEL) as wheel:
        metadata = HeaderParser().parsestr(wheel.read(f"{INFORMATION}/METADATA").decode())
    assert metadata["Requires-Dist"].startswith("dyparse[transformers]>=")
    card = dyparse_command("push", tmp_path / "model", "me/model", "--dry-run")[1]
    assert "pip install 'dyparse[hub,transformers]'" in card


def test_in_half_precision_it_is_half_as_large_and_parses_alike(
    package, parser, model_directory, tmp_path
):
    assert package("--half")[0] == 0
    with zipfile.ZipFile(tmp_path / WHEEL) as wheel:
        wheel.extractall(tmp_path / "site")
    model = tmp_path / "site" / "dyparse_en_tiny"
    sizes = [(path / "model.safetensors").stat().st_size for path in (model, model_directory)]
    assert sizes[0] < 0.6 * sizes[1]
    loaded = Parser.load(model)
    assert {p.dtype for p in loaded.model.parameters()} == {torch.float32}
    dev = sample("dev")[:50]
    pairs = zip(loaded.parse(dev), parser.parse(dev), strict=True)
    same = [a == b for one, other in pairs for a, b in zip(one.head, other.head, strict=True)]
    assert sum(same) >= 0.99 * len(same)


def test_weights_beyond_half_precision_are_one_message(saved, dyparse_command, tmp_path):
    huge = Parser.load(saved)
    with torch.no_grad():
        huge.model.hidden_bias.fill_(1e6)
    huge.save(saved, {})
    result = dyparse_command("package", saved, "--name", "x", "-o", tmp_path, "--half")
    assert_one_message(result, "hidden_bias", "beyond float16", "--half")
    assert not list(tmp_path.glob("*.whl"))


def test_the_same_model_gives_the_same_bytes(package, tmp_path):
    package()
    first = (tmp_path / WHEEL).read_bytes()
    (tmp_path / WHEEL).unlink()
    package()
    assert (tmp_path / WHEEL).read_bytes() == first


def test_a_wheel_that_cannot_be_written_leaves_the_old_one(package, tmp_path, monkeypatch):
    (tmp_path / WHEEL).write_text("old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    assert_one_message(package(), "No space left")
    assert [path.name for path in tmp_path.iterdir()] == [WHEEL]
    assert (tmp_path / WHEEL).read_text() == "old"


@pytest.mark.parametrize(
    ("option", "value", "finding"),
    [
        ("--name", "dyparse", "--name is 'dyparse'"),
        ("--name", "-x", "--name is '-x'"),
        ("--name", "a/../b", "--name is 'a/../b'"),
        ("--name", "a\nb", "--name is"),
        ("--version", "one", "--version is 'one'"),
        ("--license", "free", "--license is 'free'"),
        ("--output", "no/such", "--output is no/such"),
        ("--license-file", "no/such", "no/such"),
    ],
)
def test_names_versions_and_places_are_checked_first(package, tmp_path, option, value, finding):
    result = package(f"{option}={value}")
    assert_one_message(result, finding)
    assert list(tmp_path.iterdir()) == []
