"""Pretrained directories and saved models that somebody damaged or made up: one message, and
neither code is run nor the network asked.
"""

import json
import re
import shutil
import time

import pytest
import torch
from helpers.saved_models import Mischief, forge
from helpers.tiny import model_config, sample
from helpers.tiny_transformers import tiny_options, tiny_parser
from safetensors.torch import load_file, save_file

import dyparse
from dyparse.errors import CheckpointError, ConfigError
from dyparse.training.run import untrained_parser

TRAIN = sample("train")[:5]
FAR = 10**6


pytestmark = pytest.mark.usefixtures("no_network")


@pytest.fixture
def copied(tiny_pretrained, tmp_path):
    """copied(family): a pretrained directory that may be damaged."""

    def copy(family="bert"):
        return shutil.copytree(tiny_pretrained(family), tmp_path / "pretrained")

    return copy


def made(directory):
    """The parser that a training would begin with."""
    config = model_config()
    torch.manual_seed(1)
    return untrained_parser(
        type(config)(config.system, tiny_options(directory), config.heads, config.sizes), TRAIN
    )


def assert_refused(directory, finding, path=None):
    """One printable message, at once."""
    start = time.perf_counter()
    with pytest.raises(ConfigError, match=finding) as caught:
        made(directory)
    assert time.perf_counter() - start < 15
    assert str(path or directory) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def rewrite(path, change):
    """Change a JSON file in place; `change` may give its whole text."""
    content = json.loads(path.read_text())
    text = change(content)
    if isinstance(text, bytes):
        path.write_bytes(text)
    else:
        path.write_text(text if isinstance(text, str) else json.dumps(content))


def with_end(content, text):
    """The JSON text with one more member that json.dumps would not write."""
    return json.dumps(content)[:-1] + f", {text}}}"


CONFIGS = {
    "auto_map": (lambda c: c.update(auto_map={"AutoModel": "m.M"}), "auto_map names code"),
    "trust": (lambda c: c.update(trust_remote_code=True), "trust_remote_code names code"),
    "attention": (lambda c: c.update(attn_implementation="o/k"), "kernels are not fetched"),
    "_attention": (lambda c: c.update(_attn_implementation="o/k"), "kernels are not fetched"),
    "attention in a list": (lambda c: c.update(attn_implementation=["o/k"]), "not fetched"),
    "quantized": (lambda c: c.update(quantization_config={"a": 1}), "quantization_config names"),
    "gpt2": (lambda c: c.update(model_type="gpt2"), "model_type is 'gpt2', expected an encoder"),
    "t5": (lambda c: c.update(model_type="t5"), "model_type is 't5'"),
    "no kind": (lambda c: c.pop("model_type") and None, "model_type is 'None'"),
    "kind in a list": (lambda c: c.update(model_type=["bert"]), "model_type is"),
    "kind in a dict": (lambda c: c.update(model_type={"bert": 1}), "model_type is"),
    "activation": (lambda c: c.update(hidden_act="os.system"), "hidden_act is 'os.system'"),
    "activation in a list": (lambda c: c.update(hidden_act=["gelu"]), "hidden_act is"),
    "absurd width": (lambda c: c.update(hidden_size=10**12), "hidden_size is 1000000000000"),
    "huge width": (lambda c: c.update(hidden_size=16384), "describes [0-9,]+ weights"),
    "huge vocabulary": (lambda c: c.update(vocab_size=4 * FAR), "describes [0-9,]+ weights"),
    "many layers": (lambda c: c.update(num_hidden_layers=256), "describes [0-9,]+ weights"),
    "absurd layers": (lambda c: c.update(num_hidden_layers=10**9), "num_hidden_layers is"),
    "a layer more": (lambda c: c.update(num_hidden_layers=4), "16 weights are missing"),
    "a piece more": (lambda c: c.update(vocab_size=c["vocab_size"] + 1), "1 weights are missing"),
    "a piece less": (lambda c: c.update(vocab_size=c["vocab_size"] - 1), "1 weights are missing"),
    "negative": (lambda c: c.update(hidden_size=-16), "hidden_size is -16"),
    "text": (lambda c: c.update(hidden_size="16"), "hidden_size is 16, expected"),
    "fraction": (lambda c: c.update(hidden_size=16.0), "hidden_size is 16.0"),
    "truth": (lambda c: c.update(num_hidden_layers=True), "num_hidden_layers is True"),
    "list": (lambda c: c.update(hidden_size=[16]), r"hidden_size is \[16\]"),
    "NaN": (lambda c: c.update(layer_norm_eps=float("nan")), "layer_norm_eps is nan"),
    "infinite": (lambda c: c.update(hidden_dropout_prob=float("inf")), "prob is inf"),
    "heads": (lambda c: c.update(num_attention_heads=3), "not a multiple of the number of"),
    "padding": (lambda c: c.update(pad_token_id=FAR), "Padding_idx must be within"),
    "types": (lambda c: c.update(type_vocab_size=0), "type_vocab_size is 0"),
    "no positions": (lambda c: c.update(max_position_embeddings=2), "leaves 2 places"),
    "digits": (lambda c: with_end(c, f'"hidden_size": {"9" * 9999}'), "digits"),
    "nested": (lambda _: "[" * 100_000, "too many"),
    "nested inside": (lambda c: with_end(c, f'"x": {"[" * 10**5}{"]" * 10**5}'), "too many"),
    "no JSON": (lambda _: "hello", "Expecting value"),
    "no text": (lambda _: b"\xff\xfe\x00\x01", "config.json"),
    "empty": (lambda _: "", "Expecting value"),
    "no object": (lambda _: "[]", "model_type is"),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_hostile_config_is_refused(case, copied):
    directory, (change, finding) = copied(), CONFIGS[case]
    rewrite(directory / "config.json", change)
    assert_refused(directory, finding)


def test_modernbert_with_layers_of_other_kinds_is_refused(copied):
    directory = copied("modernbert")
    rewrite(directory / "config.json", lambda c: c.update(layer_types=["full_attention"] * 9))
    assert_refused(directory, "layer_types")
    rewrite(directory / "config.json", lambda c: c.update(layer_types=["o/k"]))
    assert_refused(directory, "layer_types is 'o/k'")
    rope = {"full_attention": {"rope_type": "o/k"}}
    rewrite(directory / "config.json", lambda c: c.update(layer_types=None, rope_parameters=rope))
    assert_refused(directory, "rope_type")


def test_what_is_not_taken_from_a_config_does_nothing(copied):
    directory = copied()
    before = made(directory).parse(TRAIN)
    rewrite(
        directory / "config.json",
        lambda c: c.update(
            architectures=["os.system"],
            is_decoder=True,
            torch_dtype="float16",
            output_attentions=True,
            return_dict=False,
            _attn_implementation_internal="o/k",
            id2label={"a": 1},
        ),
    )
    assert made(directory).parse(TRAIN) == before


def rewrite_weights(directory, change):
    path = directory / "model.safetensors"
    weights = load_file(path)
    change(weights)
    save_file(weights, path, metadata={"format": "pt"})


WEIGHTS = {
    "missing": (lambda w: [w.pop("encoder.layer.1.output.dense.weight")], "are missing"),
    "another shape": (
        lambda w: w.update({"encoder.layer.1.output.dense.bias": torch.zeros(17)}),
        "1 weights are missing or of another shape, such as encoder.layer.1.output.dense.bias",
    ),
    "another name": (
        lambda w: w.update(x=w.pop("embeddings.LayerNorm.weight")),
        r"such as embeddings\.LayerNorm\.weight",
    ),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_do_not_fit_are_refused(case, copied):
    directory, (change, finding) = copied(), WEIGHTS[case]
    rewrite_weights(directory, change)
    assert_refused(directory, finding)


def test_weights_of_a_pooler_may_be_missing(copied):
    directory = copied()
    before = made(directory).parse(TRAIN)
    rewrite_weights(directory, lambda w: [w.pop(n) for n in list(w) if n.startswith("pooler")])
    assert made(directory).parse(TRAIN) == before


@pytest.mark.parametrize("content", [b"", b"garbage" * 10**4, b"\xff" * 10**5])
def test_weights_that_are_none_are_refused(content, copied):
    directory = copied()
    (directory / "model.safetensors").write_bytes(content)
    assert_refused(directory, "cannot be loaded|describes [0-9,]+ weights")


def test_pickled_weights_run_no_code(copied, tmp_path):
    directory = copied()
    (directory / "model.safetensors").unlink()
    evil = {"x": Mischief(tmp_path / "was run"), "room": torch.zeros(10**5)}
    torch.save(evil, directory / "pytorch_model.bin")
    assert_refused(directory, "cannot be loaded")
    assert not (tmp_path / "was run").exists()


def test_pickled_weights_that_are_tensors_are_read(copied):
    directory = copied()
    before = made(directory).parse(TRAIN)
    torch.save(load_file(directory / "model.safetensors"), directory / "pytorch_model.bin")
    (directory / "model.safetensors").unlink()
    assert made(directory).parse(TRAIN) == before


def special(number, times):
    """A change that puts a special piece of this number so often before every sentence."""
    token = {"SpecialToken": {"id": "[CLS]", "type_id": 0}}
    whole = {"Sequence": {"id": "A", "type_id": 0}}
    return lambda t: t.update(
        post_processor={
            "type": "TemplateProcessing",
            "single": [token] * times + [whole],
            "pair": [whole, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [number], "tokens": ["[CLS]"]}},
        }
    )


def split_by(regex):
    pattern = {"type": "Split", "behavior": "Isolated", "invert": False}
    return lambda t: t.update(pre_tokenizer=pattern | {"pattern": {"Regex": regex}})


def doubled(times):
    """A change that doubles words so often."""
    replace = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}
    both = {"type": "Sequence", "normalizers": [replace] * times}
    return lambda t: t.update(normalizer=both)


TOKENIZERS = {
    "garbage": (lambda _: b"\xff\xfe garbage", "not a tokenizer"),
    "empty": (lambda _: "", "not a tokenizer"),
    "null": (lambda _: "null", "not a tokenizer"),
    "list": (lambda _: "[]", "not a tokenizer"),
    "no model": (lambda _: "{}", "Model missing"),
    "nested": (lambda _: "[" * 10**5, "not a tokenizer"),
    "nested inside": (lambda t: with_end(t, f'"x": {"[" * 300}{"]" * 300}'), "not a tokenizer"),
    "steps that are none": (
        lambda t: t.update(pre_tokenizer={"type": "Sequence", "pretokenizers": 3}),
        "not a tokenizer",
    ),
    "no pieces": (lambda t: t["model"].update(vocab={}), "not a tokenizer"),
    "more pieces": (lambda t: t["model"]["vocab"].update(zz=5000), "pieces up to number 5000"),
    "special pieces": (special(FAR, 1), "pieces up to number 1000000"),
    "no room": (special(2, 96), "leaves 0 beside the tokenizer's special ones"),
    "far too many": (special(2, 5000), "leaves -4904 beside"),
    "regex": (split_by("("), "not a tokenizer"),
    "growing": (doubled(40), "makes words too long"),
    "map": (
        lambda t: t.update(normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}),
        "not a tokenizer",
    ),
}
IN_PIECES = ("more pieces", "special pieces", "no room", "far too many")  # not of the file alone


@pytest.mark.parametrize("case", TOKENIZERS)
def test_a_hostile_tokenizer_is_refused(case, copied):
    directory, (change, finding) = copied(), TOKENIZERS[case]
    rewrite(directory / "tokenizer.json", change)
    place = "pieces" if case in IN_PIECES else directory / "tokenizer.json"
    assert_refused(directory, re.escape(finding), place)


def test_without_a_tokenizer_there_is_one_message(copied):
    directory = copied()
    (directory / "tokenizer.json").unlink()
    assert_refused(directory, r"has no tokenizer\.json; save one with")
    config = {"tokenizer_class": "MyTokenizer", "auto_map": {"AutoTokenizer": ["m.T", None]}}
    (directory / "tokenizer_config.json").write_text(json.dumps(config))
    (directory / "m.py").write_text("raise SystemError")
    (directory / "vocab.txt").write_text("[UNK]")
    assert_refused(directory, r"has no tokenizer\.json, and none can be made.*save one with")


def test_a_tokenizer_is_made_from_a_vocabulary_alone(copied):
    directory = copied()
    before = made(directory).parse(TRAIN)
    vocabulary = json.loads((directory / "tokenizer.json").read_text())["model"]["vocab"]
    (directory / "tokenizer.json").unlink()
    (directory / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary))
    assert made(directory).parse(TRAIN) == before


@pytest.mark.parametrize("regex", ["(a+)+$", "(a{1,9999}){1,9999}", "a?" * 20_000], ids=len)
def test_a_regex_that_takes_long_still_gives_trees(regex, copied):
    directory = copied()
    rewrite(directory / "tokenizer.json", split_by(regex))
    parser, start = made(directory), time.perf_counter()
    words = [("a" * 60 + "!", "X"), ("aa", "X")]
    assert len(parser(words)) == 2
    assert time.perf_counter() - start < 20


@pytest.fixture
def forged(once, tiny_pretrained, tmp_path):
    """A copy of a saved model, and a function that writes its manifest again."""

    def make(path):
        tiny_parser(tiny_options(tiny_pretrained()), TRAIN).save(path / "model", {})

    saved = shutil.copytree(once("saved-transformer", make) / "model", tmp_path / "model")

    def seal(*names):
        forge(saved)
        own = [f"encoder/{name}" for name in names or ("architecture.json", "tokenizer.json")]
        listed = (saved / "manifest.sha256").read_text().splitlines(keepends=True)
        from hashlib import sha256

        lines = (f"{sha256((saved / n).read_bytes()).hexdigest()}  {n}\n" for n in own)
        (saved / "manifest.sha256").write_text("".join([*listed, *lines]))

    seal()
    assert dyparse.load(saved)
    return saved, seal


def assert_no_model(directory, finding="damaged"):
    start = time.perf_counter()
    with pytest.raises(CheckpointError, match=finding) as caught:
        dyparse.load(directory)
    assert time.perf_counter() - start < 15
    assert str(directory) in str(caught.value)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 1000


SAVED = [case for case in CONFIGS if case not in ("a piece more", "a piece less", "a layer more")]


@pytest.mark.parametrize("case", SAVED)
def test_a_forged_architecture_is_refused(case, forged):
    directory, seal = forged
    rewrite(directory / "encoder" / "architecture.json", CONFIGS[case][0])
    seal()
    assert_no_model(directory)


@pytest.mark.parametrize("case", TOKENIZERS)
def test_a_forged_tokenizer_is_refused(case, forged):
    directory, seal = forged
    rewrite(directory / "encoder" / "tokenizer.json", TOKENIZERS[case][0])
    seal()
    assert_no_model(directory)


@pytest.mark.parametrize("name", ["architecture.json", "tokenizer.json"])
def test_a_model_without_a_file_of_its_encoder_is_refused(name, forged):
    directory, seal = forged
    (directory / "encoder" / name).unlink()
    seal(*({"architecture.json", "tokenizer.json"} - {name}))
    assert_no_model(directory, f"no {name} among the files")


def test_a_model_with_one_more_file_is_refused(forged):
    directory, seal = forged
    (directory / "encoder" / "modeling.py").write_text("import nothing")
    seal("architecture.json", "tokenizer.json", "modeling.py")
    assert_no_model(directory, "other files than the encoder has")


@pytest.mark.parametrize("place", ["hub", "directory", "same"])
def test_a_model_without_files_looks_for_nothing_that_its_config_names(
    place, forged, tiny_pretrained
):
    directory, _ = forged
    path = directory / "config.yaml"
    named = {"hub": "some/model", "directory": tiny_pretrained()}.get(place)
    if named:
        text = re.sub(r"pretrained: \S+", f"pretrained: {named}", path.read_text())
        path.write_text(text)
    shutil.rmtree(directory / "encoder")
    forge(directory)
    assert_no_model(directory, "files of the encoder are missing")


def test_damage_of_a_tokenizer_is_noticed(forged):
    directory, _ = forged
    path = directory / "encoder" / "tokenizer.json"
    path.write_bytes(path.read_bytes() + b" ")
    assert_no_model(directory, r"tokenizer\.json.*sha256")
