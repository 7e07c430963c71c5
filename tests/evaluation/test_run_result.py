"""`result.json`: written and read, checked, without torch or numba."""

import dataclasses
import json
import subprocess
import sys

import pytest
from helpers.made_results import made_analysis
from helpers.tiny import CONF
from hydra import compose, initialize_config_dir

from dyparse.config.build import checked
from dyparse.config.options import TrainOptions
from dyparse.errors import DyparseError
from dyparse.evaluation.run_result import (
    FORMAT_VERSION,
    RESULT,
    Cell,
    RunResult,
    read_result,
    setting_name,
    shared_setting,
)

CELL = Cell("buffer:left_buffer=false", "explore", "set_nll", "UD_Žluť-Test", 7)
CURVE = [
    {"epoch": 1, "dev_las": 20.0, "loss": 2.5, "seconds": 1.0},
    {"epoch": 2, "dev_las": 40.0, "loss": 1.0, "seconds": 1.0},
    {"epoch": 3, "dev_las": 40.0, "loss": 0.5, "seconds": 1.0},
]
RESULT_MADE = RunResult(
    cell=CELL,
    setting={"encoder": {"hidden": 80}, "network": {"dropout": 1 / 3}},
    curve=CURVE,
    best_epoch=2,
    dev={"uas": 100 / 3, "las": 1.0, "clas": 0.0},
    test={"uas": 0.1 + 0.2, "las": 0.1, "clas": 0.0},
    sentences={
        "words": [3, 1],
        "heads": [2, 0],
        "labelled": [1, 0],
        "content": [1, 1],
        "predicted_content": [2, 0],
        "content_right": [0, 0],
    },
    analysis=made_analysis(1, 4, 2),
    train_words=1000,
    versions={"python": "3.12"},
)


def test_reading_results_imports_neither_torch_nor_numba():
    program = (
        "import sys, dyparse.evaluation.run_result; "
        "assert not {'torch', 'numba'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# --- file ----------------------------------------------------------------------------------------


def test_a_saved_result_is_read_again_unchanged(tmp_path):
    RESULT_MADE.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [RESULT]
    again = read_result(tmp_path / RESULT)
    assert again == RESULT_MADE
    assert isinstance(again.cell, Cell)
    again.save(tmp_path)
    assert read_result(tmp_path / RESULT) == RESULT_MADE


def test_the_file_has_a_line_for_each_field(tmp_path):
    RESULT_MADE.save(tmp_path)
    lines = (tmp_path / RESULT).read_text().splitlines()
    fields = [field.name for field in dataclasses.fields(RunResult)]
    assert [json.loads(line.partition(":")[0]) for line in lines[1:-1]] == fields
    assert set(json.loads("\n".join(lines))) == set(fields)


def content_with(**changed):
    """The content of a file with some fields changed; None leaves a field out."""
    content = dataclasses.asdict(RESULT_MADE) | changed
    kept = {name: value for name, value in content.items() if value is not None}
    return json.dumps(kept).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"17",
        b'"format_version"',
        b"{}",
        b"\xff\xfe{}",
        b"[" * 100_000,
        b'{"format_version": []',
        content_with()[:-30],
        content_with(format_version=None),
        content_with(cell=None),
        content_with(curve=None),
        content_with(surplus=1),
        content_with(cell={"system": "swap"}),
        content_with(test={"uas": 1.0}),
        content_with(dev={}),
        content_with(sentences={"words": [3, 1]}),
        content_with(sentences={**RESULT_MADE.sentences, "heads": [1]}),
    ],
    ids=lambda content: content[:16].decode("latin-1") + f"…{len(content)}",
)
def test_a_file_that_holds_no_result_is_a_message(content, tmp_path):
    path = tmp_path / RESULT
    path.write_bytes(content)
    with pytest.raises(DyparseError, match=r"not a valid run result .* remove it") as raised:
        read_result(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("version", [0, FORMAT_VERSION + 1, "1", [], None])
def test_a_file_of_another_format_says_so(tmp_path, version):
    path = tmp_path / RESULT
    path.write_text(json.dumps(dataclasses.asdict(RESULT_MADE) | {"format_version": version}))
    with pytest.raises(DyparseError) as raised:
        read_result(path)
    assert str(raised.value).startswith(f"{path}: format {version}, this version")
    assert f"reads {FORMAT_VERSION}; remove" in str(raised.value)


HUGE = 10**400


@pytest.mark.parametrize(
    ("place", "value"),
    [
        *((("analysis",), value) for value in ({}, None, [])),
        *((("analysis", "moves", "SHIFT", "taken"), value) for value in ("1", None, HUGE, -1)),
        *((("analysis", "by_arc_length", "1"), value) for value in ({}, None, 3)),
        *((("analysis", "propagation"), value) for value in ({}, None)),
        *((("curve",), value) for value in ("x", [{}], [], None, [None])),
        *((("test", "las"), value) for value in ("12", HUGE, float("nan"), float("inf"), None)),
        *((("cell", "system"), value) for value in (None, 3)),
        *((("cell", "seed"), value) for value in (None, "1", True)),
        *(((name,), None) for name in ("setting", "versions", "sentences", "dev", "cell")),
        (("sentences", "words"), ["x"]),
        (("sentences", "heads"), [HUGE]),
    ],
    ids=lambda part: str(part)[:30],
)
def test_a_result_that_cannot_be_one_is_a_message(place, value, tmp_path, dyparse_command):
    RESULT_MADE.save(tmp_path)
    content = json.loads((tmp_path / RESULT).read_bytes())
    part = content
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = value
    (tmp_path / RESULT).write_text(json.dumps(content))
    status, _, err = dyparse_command("report", tmp_path)
    assert status == 2
    assert err.startswith(f"error: {tmp_path / RESULT}: not a valid run result (")
    assert "remove it and run the cell again" in err
    assert [path.name for path in tmp_path.iterdir()] == [RESULT]


# --- setting -------------------------------------------------------------------------------------


def setting_of(*overrides):
    """The shared setting of a command line."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        config = compose("train", overrides=list(overrides))
    return shared_setting(checked(config, TrainOptions))


@pytest.mark.parametrize(
    "override",
    [
        "seed=7",
        "treebank=sample",
        "device=cpu",
        "threads=1",
        "output=here",
        "system=swap",
        "system.single_root=false",
        "exploration=dagger",
        "loss=hinge",
    ],
)
def test_the_axes_of_the_grid_and_the_machine_do_not_change_the_name_of_the_setting(override):
    assert setting_name(setting_of(override)) == setting_name(setting_of())


@pytest.mark.parametrize(
    "override",
    [
        "encoder.hidden=33",
        "encoder.layers=1",
        "network.dropout=0.1",
        "network.hidden=5",
        "trainer.epochs=2",
        "trainer.learning_rate=0.1",
        "trainer.max_sentences=9",
        "trainer=debug",
        "heads=[labels,tags]",
        "projectivity=head+path",
        "encoder._target_=outside.Encoder",
    ],
)
def test_every_other_option_changes_the_name_of_the_setting(override):
    assert setting_name(setting_of(override)) != setting_name(setting_of())


def test_the_name_of_a_setting_does_not_depend_on_the_order_of_options_nor_on_saving(tmp_path):
    setting = setting_of("heads=[labels]")
    turned = {name: dict(reversed(part.items())) for name, part in reversed(setting.items())}
    assert setting_name(turned) == setting_name(setting)
    result = dataclasses.replace(RESULT_MADE, setting=setting)
    result.save(tmp_path)
    assert (
        read_result(tmp_path / RESULT).setting_name == result.setting_name == setting_name(setting)
    )
    assert "_target_" not in json.dumps(setting)
