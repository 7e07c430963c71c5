"""Parsing with compiled kernels: torch's trees in float32, the same in every batch in int8."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import torch
from helpers.small_tokenizer import SMALL
from helpers.tiny import PROJECT, fresh_parser, sample
from safetensors.numpy import load_file, save_file
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

import dyparse
from dyparse.compiled import processor
from dyparse.data.columns.pseudo_projective import encoded
from dyparse.data.conllu import read_sentences
from dyparse.errors import CheckpointError, DyparseWarning
from dyparse.model.checkpoint import open_model
from dyparse.model.checkpoint_files import MANIFEST, WEIGHTS, ModelFiles, write_files
from dyparse.model.compiled_model import CompiledModel, expected_shapes, read_features
from dyparse.model.parser import Parser
from dyparse.tokenizer import restored_text, tokenize

needs_int8 = pytest.mark.skipif(
    not processor.has_int8(), reason="the processor has no instructions for int8"
)
SENTENCES = sample("dev")[:60]
TAGS = ["labels", "upos", "xpos", "feats", "lemma"]
TAGGING = {"heads": TAGS, "features": ["word", "subword:buckets=400", "character"]}
MODELS = {
    "gold tags": {"features": ["word", "subword:buckets=400", "upos", "xpos", "feats"]},
    "tagging": {**TAGGING, "layers": 2},
    "tagging by one layer": TAGGING,
    "nothing fed": {**TAGGING, "heads": ["labels", "upos:fed=0", "feats:fed=0"], "layers": 3},
    "corrected feats": {**TAGGING, "heads": ["labels:root=anywhere", "feats:corrected=true"]},
    "labels with the moves": {**TAGGING, "heads": ["joint_labels", *TAGS[1:]], "layers": 2},
    "labels with the moves alone": {"heads": ["joint_labels:root=anywhere"], "hidden": 33},
    "unique labels": {"heads": ["labels:unique=subject+object"], "layers": 2, "hidden": 33},
    "lifted": {"heads": ["labels:unique=subject"], "projectivity": "head+path"},
}


@pytest.fixture(scope="module")
def saved_model(tmp_path_factory):
    """saved_model(name): the directory of a model with random weights."""

    def directory(name):
        place = tmp_path_factory.getbasetemp() / f"compiled {name}"
        if not place.exists():
            train = encoded(sample("train")[:100], MODELS[name].get("projectivity", "none"))
            parser = fresh_parser(train, **MODELS[name])
            with torch.no_grad():  # they begin with 0
                for weights in parser.model.corrections.values():
                    weights.normal_()
            parser.save(place, {})
        return place

    return directory


@pytest.fixture
def without_int8(monkeypatch):
    """A processor without instructions for int8."""
    features = processor.processor_features() - {"avx512vnni", "avx2"}
    monkeypatch.setattr(processor, "processor_features", lambda: features)


def parsed(parser, **options):
    return [s.to_conllu() for s in parser.parse_sentences(SENTENCES, **options)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.usefixtures("without_int8")
def test_kernels_in_float32_give_the_trees_and_tags_of_torch(saved_model, name):
    compiled = Parser.load(saved_model(name), precision="auto")
    assert isinstance(compiled.network, CompiledModel)
    assert parsed(compiled) == parsed(Parser.load(saved_model(name)))


@pytest.mark.parametrize("name", ["tagging", "tagging by one layer", "corrected feats"])
@pytest.mark.usefixtures("without_int8")
def test_tags_that_are_kept_are_read_as_torch_reads_them(saved_model, name):
    mixed = [
        s.with_columns({"upos": ["_", *s.upos[1:]], "feats": ["New=Yes", *s.feats[1:]]})
        for s in SENTENCES
    ]
    keeping, free = {"keep": ("upos", "feats", "lemma")}, {"keep": ()}
    found = [
        [s.to_conllu() for s in Parser.load(saved_model(name), precision=how, **keep).parse(mixed)]
        for how, keep in (("auto", keeping), ("float32", keeping), ("auto", free))
    ]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("name", ["tagging", "unique labels"])
def test_root_is_the_label_of_words_without_a_head_and_of_no_others(saved_model, name):
    for s in Parser.load(saved_model(name), precision="auto").parse_sentences(SENTENCES):
        assert [head == 0 for head in s.head] == [label == "root" for label in s.label]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.usefixtures("without_int8")
def test_weights_in_half_precision_are_those_of_torch(saved_model, tmp_path, dtype):
    contents = dict(ModelFiles.open(saved_model("tagging")).contents())
    half = {name: tensor.to(dtype) for name, tensor in load_tensors(contents[WEIGHTS]).items()}
    del contents[MANIFEST]
    write_files(tmp_path, {**contents, WEIGHTS: save_tensors(half)})
    compiled = Parser.load(tmp_path, precision="auto")
    assert isinstance(compiled.network, CompiledModel)
    assert parsed(compiled) == parsed(Parser.load(tmp_path))


@needs_int8
@pytest.mark.parametrize("name", MODELS)
def test_trees_in_int8_are_the_same_in_every_batch(saved_model, name):
    parser = Parser.load(saved_model(name), precision="int8")
    whole = parsed(parser)
    assert parsed(parser, max_tokens_per_batch=1) == whole
    assert parsed(parser, max_tokens_per_batch=100) == whole
    assert [parser.parse_batch([s])[0].to_conllu() for s in SENTENCES[::-1]] == whole[::-1]


@needs_int8
def test_int8_changes_few_arcs_of_a_trained_model(model_directory):
    pairs = zip(
        Parser.load(model_directory, precision="int8").parse_sentences(SENTENCES),
        Parser.load(model_directory).parse_sentences(SENTENCES),
        strict=True,
    )
    same = [a == b for one, other in pairs for a, b in zip(one.head, other.head, strict=True)]
    assert np.mean(same) > 0.97


def test_the_shapes_of_all_weights_follow_from_the_options(saved_model):
    for name in MODELS:
        opened = open_model(saved_model(name))
        network = opened.config.empty_network(opened.vocabulary, {}).state_dict()
        shapes = expected_shapes(opened, read_features(opened))
        assert shapes == {key: tuple(tensor.shape) for key, tensor in network.items()}


@pytest.mark.usefixtures("without_int8")
def test_a_processor_without_int8_is_a_warning_if_int8_was_asked_for(saved_model):
    with pytest.warns(DyparseWarning, match=r"AVX2; this one computes in float32$"):
        parser = Parser.load(saved_model("tagging"), precision="int8")
    assert parsed(parser) == parsed(Parser.load(saved_model("tagging")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(dyparse.load(saved_model("tagging")).network, CompiledModel)


def test_without_a_compiler_torch_serves(saved_model, monkeypatch):
    monkeypatch.setattr("dyparse.model.compiled_model.is_compiling", lambda: False)
    parser = Parser.load(saved_model("tagging"), precision="auto")
    assert not isinstance(parser.network, CompiledModel)
    with pytest.warns(DyparseWarning, match="is as auto$"):
        Parser.load(saved_model("tagging"), precision="int8")


def test_confidences_are_close_to_those_of_torch(model_directory):
    one, other = (
        Parser.load(model_directory, precision=precision, confidence=True).parse_batch(SENTENCES)
        for precision in ("auto", "float32")
    )
    pairs = [(a, b) for s, t in zip(one, other, strict=True) for a, b in zip(s, t, strict=True)]
    differences = [abs(a.head_confidence - b.head_confidence) for a, b in pairs]
    differences += [abs(a.label_confidence - b.label_confidence) for a, b in pairs]
    assert np.mean(differences) < 0.02


def test_a_compiled_parser_is_saved_with_the_weights_it_was_loaded_from(saved_model, tmp_path):
    compiled = Parser.load(saved_model("tagging"), precision="auto")
    compiled.save(tmp_path / "again", {})
    again = load_file(tmp_path / "again" / WEIGHTS)
    before = load_file(saved_model("tagging") / WEIGHTS)
    assert all((again[name] == before[name]).all() for name in before)


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (lambda w: w.pop("hidden_bias"), "tensor hidden_bias is missing"),
        (lambda w: w.update(more=w["hidden_bias"]), "tensor more is one too many"),
        (lambda w: w.update({"hidden_bias": w["hidden_bias"][1:]}), r"hidden_bias is \[23\]"),
        (lambda w: w.update({"hidden_bias": w["hidden_bias"] * np.nan}), "not finite"),
        (lambda w: w.update({"hidden_bias": w["hidden_bias"].astype(np.float64)}), "is of F64"),
    ],
)
def test_damaged_weights_are_refused(saved_model, tmp_path, change, finding):
    weights = load_file(saved_model("tagging") / WEIGHTS)
    change(weights)
    save_file(weights, tmp_path / WEIGHTS)
    contents = ModelFiles.open(saved_model("tagging")).contents()
    del contents[MANIFEST]
    contents[WEIGHTS] = (tmp_path / WEIGHTS).read_bytes()
    write_files(tmp_path / "model", contents)
    with pytest.raises(CheckpointError, match=finding):
        Parser.load(tmp_path / "model", precision="auto")


PROGRAM = """
import sys
import dyparse
parser = dyparse.load(sys.argv[1])
print(parser([("The", "DET"), ("dog", "NOUN"), ("barks", "VERB")]))
print(parser("The dog barks. It is loud."))
assert "torch" not in sys.modules, "torch"
from dyparse.cli.main import main
for source in sys.argv[2:]:
    assert main(["parse", sys.argv[1], source, "-o", source + ".conllu"]) == 0
    assert "torch" not in sys.modules, f"torch for {source}"
"""


def test_neither_parsing_nor_tokenizing_imports_torch(tmp_path):
    parser = fresh_parser(sample("train")[:100], **MODELS["tagging"])
    tokenizer = SMALL.train(sample("train")[:100], [], seed=1)
    parser.with_tokenizer(SMALL, tokenizer).save(tmp_path / "model", {})
    words, text = tmp_path / "words.conllu", tmp_path / "text.txt"
    words.write_text("".join(s.to_conllu() for s in SENTENCES[:5]), encoding="utf-8")
    text.write_text(restored_text(SENTENCES), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "model", words, text],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    parsed = list(read_sentences(tmp_path / "words.conllu.conllu", trees=True))
    assert len(parsed) == 5
    parsed = list(read_sentences(tmp_path / "text.txt.conllu", trees=True))
    assert restored_text(parsed) == text.read_text(encoding="utf-8")
    with_torch = tokenize(tokenizer, restored_text(SENTENCES))
    assert [s.form for s in parsed] == [s.form for s in with_torch]
