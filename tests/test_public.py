"""The public functions of `dyparse`: train, evaluate, compare, load."""

import os
import pkgutil
import random
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from helpers.made_results import quick_figures

import dyparse
from dyparse.errors import ConfigError, DyparseWarning, TreebankError

SMALL = ("trainer=debug", "trainer.max_sentences=12", "encoder.hidden=8", "network.hidden=8")


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """An empty directory, the current one for all tests of this module."""
    directory = tmp_path_factory.mktemp("here")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(directory)
        yield directory


@pytest.fixture(scope="module")
def run(here):  # noqa: ARG001 - it trains there
    return dyparse.train(*SMALL, treebank="sample", seed=3)


def test_a_run_has_scores_a_curve_and_a_parser(run, here):
    assert (here / run.directory / "result.json").exists()
    assert "seed3" in run.directory.name
    assert [figures["epoch"] for figures in run.curve] == [1]
    assert run.curve[0]["dev_las"] == pytest.approx(run.scores["dev"]["las"])
    assert 0 <= run.scores["test"]["las"] <= run.scores["test"]["uas"] <= 100
    assert 0 <= run.scores["test"]["clas"] <= 100
    assert len(run.parser([("The", "DET"), ("dog", "NOUN"), ("barks", "VERB")])) == 3
    assert repr(run) == (
        f"<TrainedRun {run.directory}: dev LAS {run.scores['dev']['las']:.2f}, "
        f"test LAS {run.scores['test']['las']:.2f}>"
    )


def test_the_same_options_give_the_same_run_again(run, capsys):
    assert dyparse.train(*SMALL, seed=3, treebank="sample") == run
    assert "finished  already" in capsys.readouterr().out


def test_a_model_or_its_run_is_evaluated_on_a_treebank_or_file(run, here, capsys):
    path = here / "a file.conllu"
    path.write_text("".join(s.to_conllu() for s in run.parser.parse(gold(12))))
    report = dyparse.evaluate(run, path)
    assert report.all_words.las == 100
    assert repr(report) == "<ScoreReport: UAS 100.00, LAS 100.00; print it for all figures>"
    assert report._repr_html_().startswith("<pre>")
    assert dyparse.evaluate(run.model, path, split="dev").all_words.words == 148
    assert capsys.readouterr().out == ""


def test_a_run_is_loaded_like_its_model_and_a_parser_is_no_directory(run):
    assert (
        dyparse.load(run, precision="float32").model.state_dict().keys()
        == run.parser.model.state_dict().keys()
    )
    assert type(run).read(str(run.directory)) == run
    for function in (dyparse.load, dyparse.evaluate):
        with pytest.raises(TypeError, match=r"<Parser.*, expected the directory .* parser\.save"):
            function(run.parser)


def test_evaluation_leaves_threads_and_random_generators_alone_and_training_the_threads(run):
    def state():
        return random.getstate(), str(np.random.get_state()), torch.get_rng_state().tolist()

    before, threads = state(), torch.get_num_threads()
    dyparse.evaluate(run, split="dev", threads=threads + 1)
    assert state() == before
    assert torch.get_num_threads() == threads
    dyparse.train(*SMALL, treebank="sample", seed=3, threads=threads + 1)
    assert torch.get_num_threads() == threads


def test_a_model_of_another_treebank_is_not_scored_on_the_sample_in_silence(run, here):
    other = shutil.copytree(here / run.directory, here / "other")
    text = (other / "result.json").read_text()
    (other / "result.json").write_text(text.replace('"treebank": "sample"', '"treebank": "UD_A"'))
    for model in (other, other / "model"):
        with pytest.warns(DyparseWarning, match="trained on UD_A, and is scored on the sample"):
            dyparse.evaluate(model, split="dev")


def gold(number):
    from dyparse.treebank.sample import Sample

    return Sample().read("train")[:number]


def test_wrong_options_are_errors_that_name_them(here):
    with pytest.raises(ConfigError, match=r"did you mean .*trainer\.epochs"):
        dyparse.train(epochs=3)
    with pytest.raises(TreebankError, match="dyparse download UD_English-LinES"):
        dyparse.train(treebank="UD_English-LinES")
    with pytest.raises(ConfigError, match=r"no axis 'seeds'; .* did you mean 'seed'"):
        dyparse.compare(axes={"seeds": [1]})
    for axes in ({"system": "arc_eager"}, {"seed": ["1"]}, {"seed": "12"}, {"seed": 3}):
        with pytest.raises(ConfigError, match="expected a list of"):
            dyparse.compare(axes=axes)
    for call, message in (
        (lambda: dyparse.compare("seed=1"), r"^seed=1: .* use axes=\{'seed': \[…\]\} instead$"),
        (lambda: dyparse.compare("experiment=fast"), "use experiment='fast' instead$"),
        (lambda: dyparse.compare(axes={"system": ["foo"]}), "^system foo: no system 'foo'"),
        (lambda: dyparse.compare(axes={"treebank": ["foo"]}), "^treebank foo: no such file"),
    ):
        with pytest.raises(ConfigError, match=message):
            call()
    with pytest.raises(ConfigError, match="jobs is 0"):
        dyparse.compare(jobs=0)
    assert not (here / "compare").exists()


@pytest.mark.usefixtures("here")
def test_a_comparison_gives_tables_and_paths():
    axes = {"exploration": ["static", "explore"], "seed": [1]}
    with quick_figures():
        summary = dyparse.compare(*SMALL, axes=axes, experiment="none", jobs=1)
    assert "explore" in str(summary)
    assert repr(summary).startswith("<Summary: report compare/report.html")
    assert summary.paths["report"].exists()


def test_torch_finds_its_settings_when_training_imports_it():
    """OpenMP reads how long threads spin when torch is imported."""
    program = (
        "import os, sys, dyparse\n"
        "class Look:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch':\n"
        "            print(os.environ.get('GOMP_SPINCOUNT'))\n"
        "            sys.stdout.flush()\n"
        "            os._exit(0)\n"
        "sys.meta_path.insert(0, Look())\n"
        "dyparse.train()\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "GOMP_SPINCOUNT"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().isdigit()


def test_no_package_takes_the_name_of_a_function():
    """Importing `dyparse.compare` as a package would put it in the place of the function."""
    packages = {module.name for module in pkgutil.iter_modules(dyparse.__path__)}
    assert not packages & set(dyparse.__all__)


def test_names_are_found_when_they_are_used():
    assert dyparse.Sentence.from_words(["a", "b"]).form == ["a", "b"]
    for name in dyparse.__all__:
        assert getattr(dyparse, name)
    with pytest.raises(AttributeError, match="no attribute 'nosuch'"):
        dyparse.nosuch  # noqa: B018 - looking is the test
