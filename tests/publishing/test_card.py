"""The card of a model says what its run tells, in metadata that the Hub reads, and no path."""

import getpass
import json
import re
import shutil
import socket

import pytest
import yaml
from helpers.documents import blocks, commands_starting, require_valid
from helpers.tiny import fresh_parser, sample
from helpers.tiny_transformers import tiny_options, tiny_parser
from omegaconf import OmegaConf

import dyparse
from dyparse.config.application import compose_options
from dyparse.config.training_command import training_command
from dyparse.data.columns.pseudo_projective import encoded
from dyparse.publishing.card import Described, model_card
from dyparse.publishing.languages import CODES, language_code
from dyparse.training.run_directory import differences
from dyparse.treebank._names import files_of, with_named_treebanks

OPTIONS = (
    "trainer=debug",
    "system.root=first",
    "encoder.hidden=6",
    "encoder.features=[word,upos,'subword:buckets=300']",
    "exploration=explore",
)
NAME = "hf://me/model"


@pytest.fixture(scope="module")
def trained(once):
    """The directory of a small run, on a treebank in a directory of the user's."""

    def make(path):
        treebank = path / "secret place" / "UD_English-Tiny"
        treebank.mkdir(parents=True)
        for file in files_of("sample")[1]:
            split = file.rsplit("/", 1)[1].removesuffix(".conllu")
            shutil.copy(file, treebank / f"en_tiny-ud-{split}.conllu")
        dyparse.train(*OPTIONS, treebank=treebank, output=path / "run", seed=7)

    return once("carded", make) / "run"


@pytest.fixture(scope="module")
def card(trained):
    return model_card(Described.read(trained / "model"), NAME, "dyparse[hub]", "CC-BY-SA-4.0")


def test_its_metadata_is_yaml_that_the_hub_knows(card):
    _, front, page = str(card).split("---\n", 2)
    assert yaml.safe_load(front) == {
        "language": ["en"],
        "license": "cc-by-sa-4.0",
        "library_name": "dyparse",
        "pipeline_tag": "token-classification",
        "tags": ["dyparse", "dependency-parsing", "universal-dependencies"],
    }
    assert page.startswith("\n# me/model\n")


def test_it_has_the_scores_of_the_run_with_intervals(card, trained):
    result = json.loads((trained / "result.json").read_text())
    scores = [result["test"][metric] for metric in ("uas", "las", "clas")]
    (row,) = (line for line in card.page.splitlines() if line.startswith("| test |"))
    found = re.findall(r"([\d.]+) \[([\d.]+), ([\d.]+)\]", row)
    assert [score for score, _, _ in found] == [f"{score:.2f}" for score in scores]
    assert all(float(low) <= float(score) <= float(high) for score, low, high in found)
    assert found[0][1] < found[0][2]


def test_its_commands_are_valid_and_train_with_the_options_of_the_run(
    card, trained, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    commands = commands_starting("dyparse", text=card.page)
    assert [words[0] for words in commands] == ["parse", "download", "train", "evaluate"]
    for words in commands:
        require_valid(words)
    before = r"^pip install .*\n(?=dyparse (?:parse|download))"
    installs = re.findall(before, card.page, re.MULTILINE)
    assert installs == ["pip install 'dyparse[hub]'\n", "pip install 'dyparse[train]'\n"]
    again = compose_options("train", with_named_treebanks(commands[2][1:]))
    assert differences(OmegaConf.load(trained / "config.yaml"), again) == []


def test_it_names_no_place_of_the_machine(card, trained):
    for secret in (str(trained), "secret place", socket.gethostname(), f"/{getpass.getuser()}"):
        assert secret not in str(card)


def test_it_says_what_the_model_cannot_do(card):
    assert "It reads UPOS: the input needs these tags" in card.page
    assert "On texts unlike those of its treebank" in card.page


def test_a_model_that_needs_no_tags_is_used_with_text_and_its_tagger_is_scored(tmp_path):
    heads = ("labels", "upos", "lemma")
    parser = fresh_parser(sample("train")[:20], heads=heads, features=["word"], layers=2)
    parser.save(tmp_path / "model", {"dev": {"las": 80.0, "upos_accuracy": 95.678}})
    page = model_card(Described.read(tmp_path / "model"), NAME, "dyparse[hub]").page
    assert [c[:3] for c in commands_starting("dyparse", text=page)] == [["parse", NAME, "book.txt"]]
    assert 'parser("' in blocks("python", page)[0]
    assert "conllu.parse" not in page
    assert "| UPOS | LEMMA |" in page
    assert "| 95.68 | – |" in page
    assert "- predicts: trees, UPOS, LEMMA\n" in page
    assert "- tokenizer: `plain`\n" in page


def test_a_model_that_puts_lifted_words_back_says_so(tmp_path):
    train = encoded(sample("train")[:20], "head+path")
    fresh_parser(train, projectivity="head+path").save(tmp_path / "model", {})
    page = model_card(Described.read(tmp_path / "model"), NAME, "dyparse[hub]").page
    assert (
        "- transition system: `arc_eager`, pseudo-projective (Nivre & Nilsson 2005) with the "
        "encoding `head+path`\n"
    ) in page


def test_a_pretrained_model_is_named_with_its_hash_and_its_licence_is_mentioned(
    tiny_pretrained, tmp_path
):
    encoder = tiny_options(tiny_pretrained())
    tiny_parser(encoder, sample("train")[:5]).save(tmp_path / "model", {})
    page = model_card(Described.read(tmp_path / "model"), NAME, "dyparse[hub]").page
    _, digest = encoder.without_places().pretrained.split("@")
    assert f"- `encoder.pretrained`: bert, hash {digest}, which has a licence of its own\n" in page


@pytest.mark.parametrize(
    ("encoder", "option", "name", "given"),
    [
        ("transformer", "encoder.pretrained", "mybert", "DIR"),
        ("transformer", "encoder.pretrained", "FacebookAI/xlm-roberta-base", None),
        ("bilstm", "encoder.vectors", "glove.6B.100d.txt", "FILE"),
    ],
)
def test_files_of_a_training_are_placeholders_in_its_command(
    encoder, option, name, given, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    chosen = [f"encoder={encoder}", "treebank=sample", "seed=3"]
    overrides = with_named_treebanks([*chosen, f"{option}='{name}@14bb0123456789ab'"])
    comment, command = training_command(compose_options("train", overrides)).splitlines()
    assert comment == f"# {given or name}: {name}, hash 14bb0123456789ab"
    assert f"{option}={given or name}" in command.split()
    if given:
        require_valid(command.split()[1:])


def test_a_model_alone_has_a_card_without_scores_and_training(model_directory):
    card = model_card(Described.read(model_directory), "my-model", "my-model")
    assert "No scores were saved" in card.page
    assert "Reproduce" not in card.page
    assert 'dyparse.load("my-model")' in blocks("python", card.page)[0]
    assert "language" not in card.metadata


def test_a_result_of_another_model_is_not_its_result(trained, model_directory, tmp_path):
    shutil.copytree(model_directory, tmp_path / "model")
    shutil.copy(trained / "result.json", tmp_path)
    assert Described.read(tmp_path / "model").result is None


@pytest.mark.parametrize(
    ("treebank", "code"),
    [
        ("UD_English-LinES", "en"),
        ("UD_Old_French-SRCMF", "fro"),
        ("UD_Klingon-X", None),
        ("de_gsd-ud-train", "de"),
        ("sample", None),
    ],
)
def test_the_name_of_a_treebank_tells_its_language(treebank, code):
    assert language_code(treebank) == code
    assert all(2 <= len(known) <= 3 and known.islower() for known in CODES.values())
