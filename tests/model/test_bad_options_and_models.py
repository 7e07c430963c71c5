"""Options and models that look right and are not; and small promises kept."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.tiny import PROJECT, fresh_parser, lesson, sample
from test_checkpoint import assert_refused, forge, rewrite_config
from test_config import configured, named
from test_train_and_evaluate import trained_here
from test_trainer import Course, weights_of

from dyparse import system
from dyparse.config.build import build
from dyparse.data.tokenizer import tokenize
from dyparse.errors import ConfigError, TreebankError
from dyparse.logger.wandb import WandbLogger
from dyparse.runtime.atomic_files import write
from dyparse.training.loop import Trainer
from dyparse.training.run import train

CHOICES = {"system": "arc_eager", "exploration": "explore", "loss": "set_nll"}


@pytest.mark.parametrize("override", ["seed=-1", "seed=99999999999999999999999"])
def test_a_seed_that_cannot_be_used_is_one_message(override, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="seed"):
        train(configured("trainer=debug", override), CHOICES)
    assert list(tmp_path.iterdir()) == []


def test_every_probability_that_is_allowed_can_be_dropped(tmp_path):
    trained_here(tmp_path / "run", "network.dropout=0.999", "trainer.max_sentences=4")


def test_without_a_place_for_the_cache_a_changed_kernel_is_compiled_anew(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "sample_data")
    package = shutil.copytree(PROJECT / "dyparse", tmp_path / "dyparse", ignore=ignored)
    program = (
        "from dyparse import system; s = system.load('arc_eager'); print(s.legal(s.start([3])))"
    )

    def legal():
        env = os.environ | {"DYPARSE_CACHE": "/dev/null/x"}
        return subprocess.check_output([sys.executable, "-c", program], cwd=tmp_path, env=env)

    before = legal()
    source = package / "system" / "arc_eager.py"
    source.write_text(source.read_text().replace("out[SHIFT] = b > 0\n", "out[SHIFT] = b > 1\n"))
    assert legal() != before


def test_runs_that_differ_in_their_seed_only_share_a_group(fake_wandb):
    groups = []
    for seed in (1, 2):
        fake = fake_wandb()
        WandbLogger().open(named(f"seed={seed}"), {})
        groups.append(fake.options["group"])
    assert groups[0] == groups[1]


def test_without_decay_the_average_is_the_weights_after_any_number_of_updates():
    train_sentences = sample("train")[:2]
    parser = fresh_parser(train_sentences)
    task = lesson(train_sentences, train_sentences)
    course = Course(Trainer(average_decay=0.0), parser, task)
    for _ in range(106):
        course.learn(course.share(range(len(train_sentences)), 1, 0), 0.2)
    assert torch.equal(weights_of(course.averaged_parser().model), weights_of(parser.model))


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config["network"].update(hidden=1.5),
        lambda config: config["network"].update(hidden=True),
        lambda config: config["network"].update(hidden=10**14),
        lambda config: config["encoder"].update(hidden=10**14),
    ],
)
def test_sizes_that_cannot_be_built_are_refused(saved, change):
    rewrite_config(saved, change)
    assert_refused(saved, saved)


@pytest.mark.parametrize("content", [b"x: 2001-99-99", b"[" * 5000])
def test_yaml_that_cannot_be_read_is_refused(saved, content):
    (saved / "config.yaml").write_bytes(content)
    forge(saved)
    assert_refused(saved, saved / "config.yaml", "damaged")


def test_weights_of_an_unknown_type_are_refused(saved):
    header = b'{"a":{"dtype":"F8_E8M0","shape":[1],"data_offsets":[0,1]}}'
    content = len(header).to_bytes(8, "little") + header + b"\0"
    (saved / "model.safetensors").write_bytes(content)
    forge(saved)
    assert_refused(saved, saved / "model.safetensors", "damaged")


@pytest.mark.parametrize("word", ["3rd", "1990s", "4x4", "5km", "2nd-hand"])
def test_a_word_that_begins_with_a_digit_is_one_word(word):
    assert tokenize(f"a {word} b")[0] == ["a", word, "b"]


def test_max_sentences_can_be_set_with_every_trainer():
    trainer = build(dict(configured("trainer.max_sentences=5").trainer), "trainer")
    assert trainer.max_sentences == 5


def test_the_command_that_is_printed_evaluates_on_the_same_treebank(tmp_path, capsys):
    path = tmp_path / "mine.conllu"
    path.write_text("".join(s.to_conllu() for s in sample("train")[:20]))
    trained_here(tmp_path / "run", "treebank=files", f"treebank.train={path}")
    command = re.search(r"python evaluate\.py (.*)", capsys.readouterr().out)[1]
    assert "treebank=files" in command


def test_gold_heads_outside_the_sentence_are_refused():
    found = system.load("arc_eager")
    with pytest.raises(ValueError, match="outside the sentence"):
        found.cost(found.start([2]), [[0, 0, 2_000_000_000]])
    with pytest.raises(ValueError, match="outside the sentence"):
        found.cost(found.start([1, 2]), [[0, 2, 0], [0, 0, 1]])


def test_gold_prepared_for_other_options_is_refused():
    one, other = (system.load("arc_eager", single_root=single) for single in (True, False))
    with pytest.raises(ValueError, match="other options"):
        other.cost(other.start([2]), one.prepare([[0, 0, 1]]))


def test_prepared_gold_does_not_change_with_the_array_it_was_made_of():
    found = system.load("arc_eager")
    heads = np.array([[0, 0, 1, 2]], dtype=np.int32)
    prepared = found.prepare(heads)
    before = found.cost(found.start([3]), prepared)
    heads[:] = [[0, 2, 3, 0]]
    assert (found.cost(found.start([3]), prepared) == before).all()


def test_an_illegal_move_changes_no_state():
    found = system.load("arc_eager")
    states = found.start([2, 2])
    before = states.copy()
    with pytest.raises(ValueError, match="row 1"):
        found.step(states, [0, 3])
    assert all((a == b).all() for a, b in zip(states, before, strict=True))


def test_a_pipe_is_written_to_and_a_link_keeps_pointing_to_its_file(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write(link, b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    write(Path(os.devnull), b"gone")
    assert not Path(os.devnull).is_file()


def test_one_output_for_a_whole_sweep_is_refused(tmp_path):
    command = [sys.executable, str(PROJECT / "train.py"), "-m", "trainer=debug", "seed=1,2"]
    done = subprocess.run(
        [*command, f"output={tmp_path / 'x'}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "each would overwrite the last" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


def test_a_malformed_test_file_stops_a_training_before_it_begins(tmp_path):
    good, bad = tmp_path / "good.conllu", tmp_path / "bad.conllu"
    good.write_text("".join(s.to_conllu() for s in sample("train")[:20]))
    bad.write_text("1\tone\n\n")
    files = [f"treebank.train={good}", f"treebank.dev={good}", f"treebank.test={bad}"]
    with pytest.raises(TreebankError, match=r"bad\.conllu:1"):
        trained_here(tmp_path / "run", "treebank=files", *files)
    assert not (tmp_path / "run").exists()
