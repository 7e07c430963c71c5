"""`--help` of train and evaluate: what explains the options."""

import pytest

from dyparse.config.help_text import comments_in


@pytest.fixture
def help_of(dyparse_command):
    """help_of(*arguments) → the help as one line of words, and its lines."""

    def lines(*arguments):
        status, out, err = dyparse_command(*arguments, "--help")
        assert (status, err) == (0, "")
        return " ".join(out.split()), out.splitlines()

    return lines


@pytest.mark.parametrize("name", ["train", "evaluate"])
def test_help_has_examples_and_flags_and_fits_a_terminal(name, help_of):
    words, lines = help_of(name)
    assert f"examples: dyparse {name} " in words
    assert {"--multirun", "--config-dir", "--cfg", "--hydra-help"} <= set(words.split())
    assert [line for line in lines if len(line) > 84] == []


def test_options_are_explained_by_the_comments_of_their_files(help_of):
    words, lines = help_of("train", "system=buffer", "trainer=debug", "seed=7")
    assert "system=buffer transition system: the moves of the parser; or arc_eager, " in words
    assert "system.gap=2 longest gap after the front" in words
    assert "trainer.patience=10 stop after so many epochs" in words  # of trainer/default.yaml
    assert "  seed=7                          of everything random" in lines
    assert "_target_" not in words


def test_help_of_evaluate_has_no_choices_of_training(help_of):
    words, _ = help_of("evaluate")
    assert "model=??? required: directory of a model" in words
    assert "exploration" not in words


def test_alternatives_of_ones_own_are_explained_too(tmp_path, help_of):
    (tmp_path / "loss").mkdir()
    (tmp_path / "loss/mine.yaml").write_text("_target_: my.Loss\nslope: 2  # costs $5\n")
    words, _ = help_of("train", "--config-dir", tmp_path, "loss=mine")
    assert "set_nll, softmax_margin loss.slope=2 costs $5" in words


def test_comments_are_found_by_the_full_names_of_options():
    text = "# top\na: 1  # one\nb:\n  c: 2  # two: 2\n  d: 3\ndefaults:\n  - e: f  # three\n"
    assert comments_in(text) == {"a": "one", "b.c": "two: 2", "defaults.e": "three"}
