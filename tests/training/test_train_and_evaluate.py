"""train.py and evaluate.py from options to files: as processes, and what they call in this one."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml
from helpers.tiny import CONF, UD, run, sample, yamls
from hydra import compose, initialize_config_dir

import dyparse
from dyparse.cli.main import main
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence
from dyparse.errors import CheckpointError, ConfigError, TreebankError
from dyparse.evaluation.conll18.scores import conll18_scores
from dyparse.evaluation.evaluate import evaluate
from dyparse.evaluation.measure import calibrate
from dyparse.evaluation.score_report import CORE
from dyparse.logger.none import NoLogger
from dyparse.model.confidence import UNCALIBRATED
from dyparse.model.parser import Parser
from dyparse.tokenizer import restored_text
from dyparse.tokenizer.plain import Plain
from dyparse.training.messages import next_commands
from dyparse.training.run import train
from dyparse.treebank import ud
from dyparse.treebank.sample import Sample

CHOICES = {"system": "arc_eager", "exploration": "explore", "loss": "set_nll"}
FIGURES = ("epoch", "loss", "cost_per_state", "dev_uas", "dev_las", "tokens_per_second")
TIMES = ("seconds", "tokens_per_second", "sentences_per_second")
SMALL = [
    *(
        "trainer=debug",
        "tokenizer=plain",
        "threads=1",
        "network.hidden=16",
        "encoder.hidden=16",
        "encoder.layers=1",
    ),
    *("trainer.max_tokens_per_batch=60", "trainer.learning_rate=1e-2", "trainer.epochs=2"),
]


def configured(name, *overrides):
    """The configuration of a command line."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose(name, overrides=[str(override) for override in overrides])


def trained_here(directory, *overrides):
    """The results of a small training in this process."""
    config = configured("train", *SMALL, f"output={directory}", *overrides)
    return train(config)


def write(path, sentences):
    path.write_text("".join(s.to_conllu() for s in sentences), encoding="utf-8")
    return path


def epochs_of(directory):
    lines = (directory / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def without_times(figures):
    return {key: value for key, value in figures.items() if key not in TIMES}


@pytest.fixture(scope="module")
def debug_run(once):
    """(what train.py printed, its run directory) of `train.py trainer=debug treebank=sample`."""

    def make(path):
        overrides = ["trainer=debug", "treebank=sample", "trainer.epochs=2", "threads=1"]
        done = run("train.py", *overrides, cwd=path)
        assert done.returncode == 0, done.stderr
        (path / "stdout").write_text(done.stdout, encoding="utf-8")

    path = once("debug_run", make)
    (directory,) = (path / "outputs").iterdir()
    return (path / "stdout").read_text(encoding="utf-8"), directory


def test_train_py_writes_metrics_and_a_complete_model_and_says_where(debug_run):
    printed, directory = debug_run
    assert re.fullmatch(r"arc_eager-dagger_replay-sample-seed1-[0-9a-f]{8}", directory.name)
    assert {path.name for path in directory.iterdir()} == {
        *("config.yaml", "metrics.jsonl", "model", "result.json", "parsed.conllu", "gold.conllu"),
        *(".lock", "training.done"),
    }
    assert {path.name for path in (directory / "model").iterdir()} == {
        *("config.yaml", "metrics.json", "model.safetensors", "vocabulary.json"),
        *("manifest.sha256", "tokenizer"),
    }
    assert f"dyparse parse outputs/{directory.name}/model" in printed
    assert f"dyparse evaluate model=outputs/{directory.name}/model" in printed
    config = yaml.safe_load((directory / "config.yaml").read_text())
    assert config["trainer"]["epochs"] == 2
    assert config["seed"] == 1


def test_every_epoch_is_one_line_on_the_terminal_and_one_object_in_metrics_jsonl(debug_run):
    printed, directory = debug_run
    epochs = epochs_of(directory)
    assert [figures["epoch"] for figures in epochs] == [1, 2]
    for figures in epochs:
        assert set(FIGURES) <= set(figures)
        line = next(s for s in printed.splitlines() if s.startswith(f"epoch   {figures['epoch']}"))
        for shown in (
            f"loss {figures['loss']:.4f}",
            f"cost/state {figures['cost_per_state']:.4f}",
            f"UAS {figures['dev_uas']:.2f}",
            f"LAS {figures['dev_las']:.2f}",
            "tokens/s",
        ):
            assert shown in line


def test_the_table_of_results_is_that_of_the_model_that_was_kept(debug_run):
    printed, directory = debug_run
    metrics = json.loads((directory / "model" / "metrics.json").read_text())
    for split in ("dev", "test"):
        found = next(line for line in printed.splitlines() if line.startswith(f"{split}  "))
        _, *scores, speed = found.split()
        names = ("uas", "las", *(f"{tag}_accuracy" for tag in ("upos", "xpos", "feats", "lemma")))
        assert scores == [f"{metrics[split][name]:.2f}" for name in names]
        assert metrics[split]["sentences"] == 40
        assert ("sentences_per_second" in metrics[split]) == (speed != "-") == (split == "dev")
    best = max(epochs_of(directory), key=lambda figures: figures["dev_las"])
    assert metrics["best_epoch"] == best
    assert metrics["dev"]["las"] == best["dev_las"]


def test_confidences_are_calibrated_on_dev(debug_run):
    _, directory = debug_run
    metrics = json.loads((directory / "model" / "metrics.json").read_text())
    parser = Parser.load(directory / "model")
    calibration, figures = calibrate(parser, sample("dev")[:40])
    assert parser.parts.calibration == calibration != UNCALIBRATED
    assert metrics["confidence"] == figures


def test_the_same_seed_gives_the_same_bytes_in_another_process(debug_run, tmp_path):
    _, directory = debug_run
    overrides = ["trainer=debug", "trainer.epochs=2", "threads=1", f"output={tmp_path / 'again'}"]
    train(configured("train", *overrides))
    for name in ("model.safetensors", "config.yaml", "vocabulary.json"):
        first, again = (path / "model" / name for path in (directory, tmp_path / "again"))
        assert first.read_bytes() == again.read_bytes(), name
    assert [without_times(figures) for figures in epochs_of(directory)] == [
        without_times(figures) for figures in epochs_of(tmp_path / "again")
    ]


def test_evaluate_py_writes_what_it_prints_and_only_heads_and_relations_differ(
    debug_run, tmp_path, capsys
):
    _, directory = debug_run
    done = run(
        "evaluate.py",
        *(f"model={directory / 'model'}", "threads=1", "split=dev"),
        *("json=figures.json", "conllu=parsed.conllu"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"figures.json", "parsed.conllu"}
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert (figures["treebank"], figures["split"]) == ("sample", "dev")
    for name, field in CORE.items():
        shown = next(line for line in done.stdout.splitlines() if line.startswith(f"{name}  "))
        assert shown.split()[-2:] == [
            f"{figures[part][field]:.2f}" for part in ("all_words", "without_punctuation")
        ]
    assert list(figures["tags"]) == [f"{t}_accuracy" for t in ("upos", "xpos", "feats", "lemma")]
    for name, accuracy in figures["tags"].items():
        assert re.search(rf"^{name.replace('_', ' ')} +{accuracy:.2f}$", done.stdout, re.MULTILINE)
    assert main(["check", str(tmp_path / "parsed.conllu")]) == 0
    assert "300 sentences" in capsys.readouterr().out
    gold = "".join(s.to_conllu() for s in sample("dev")).splitlines(keepends=True)
    parsed = (tmp_path / "parsed.conllu").read_bytes().decode().splitlines(keepends=True)
    changed = set()
    for before, after in zip(gold, parsed, strict=True):
        pairs = zip(before.split("\t"), after.split("\t"), strict=True)
        changed |= {column for column, (a, b) in enumerate(pairs, 1) if a != b}
    assert changed == {3, 4, 5, 6, 7, 8}


def test_raw_text_is_evaluated_as_in_the_shared_task(debug_run, tmp_path):
    _, directory = debug_run
    out = tmp_path / "parsed.conllu"
    report = dyparse.evaluate(directory, split="dev", text=True, conllu=out, threads=1)
    assert 80 < report.tokens.f1 < 100
    assert report == conll18_scores(sample("dev"), list(read_sentences(out, trees=True)))
    assert restored_text(read_sentences(out, trees=True)) == restored_text(sample("dev"))


def test_a_treebank_without_text_gets_the_plain_tokenizer(tmp_path, capsys):
    bare = [Sentence.from_words(s.form).with_tree(s.head, s.label) for s in sample("dev")[:20]]
    path = write(tmp_path / "bare.conllu", bare)
    files = ["treebank=files", f"treebank.train={path}"]
    trained_here(tmp_path / "run", *files, "tokenizer=learned", "trainer.epochs=1")
    assert "tokenizer plain, for none can be learned: " in capsys.readouterr().out
    parser = dyparse.load(tmp_path / "run")
    assert isinstance(parser.tokenizer, Plain)
    assert parser("A dog. It sleeps.")[1].upos == ["_"] * 3


def test_evaluation_of_files_agrees_with_the_results_of_the_training(tmp_path, capsys):
    files = [
        f"treebank.{split}={write(tmp_path / f'{split}.conllu', sample(split)[:30])}"
        for split in ("train", "dev", "test")
    ]
    results = trained_here(tmp_path / "run", "treebank=files", *files, "trainer.epochs=8")
    for split in ("dev", "test"):
        report = evaluate(
            configured(
                "evaluate",
                f"model={tmp_path / 'run' / 'model'}",
                "treebank=files",
                *files[1:],
                f"split={split}",
                "threads=1",
                "max_tokens_per_batch=77",
            )
        )
        assert report.all_words.las == results[split]["las"]
        assert report.all_words.uas == results[split]["uas"]
    assert results["test"]["las"] > 5
    assert "held out" not in capsys.readouterr().out


def test_without_dev_and_test_it_is_said_what_is_held_out_and_what_is_missing(tmp_path, capsys):
    path = write(tmp_path / "mine.conllu", sample("train")[:30])
    results = trained_here(tmp_path / "run", "treebank=files", f"treebank.train={path}")
    printed = capsys.readouterr().out
    assert list(results) == ["dev"]
    assert results["dev"]["sentences"] == 3
    assert "sentences 10, 20, 30, ... of train (1 in 10) are held out as dev" in printed
    assert "27 sentences" in printed
    assert "no test results: no file is named for test" in printed
    assert "dyparse parse" in printed


def test_a_relation_that_was_never_trained_on_counts_as_an_error(tmp_path):
    dev = [s.with_tree(s.head, ["never:seen"] * len(s)) for s in sample("dev")[:10]]
    files = [
        f"treebank.train={write(tmp_path / 'train.conllu', sample('train')[:30])}",
        f"treebank.dev={write(tmp_path / 'dev.conllu', dev)}",
    ]
    results = trained_here(tmp_path / "run", "treebank=files", *files)
    assert results["dev"]["uas"] > 0
    assert results["dev"]["las"] == 0


def test_training_without_tags_parses_without_tags(tmp_path, capsys):
    trained_here(tmp_path / "run", "encoder.features=[word,subword]")
    parser = dyparse.load(tmp_path / "run" / "model")
    assert parser.parse("The dog sleeps.")[0].head
    (tmp_path / "in.txt").write_text("The dog sleeps.\n")
    capsys.readouterr()
    assert (
        main(["parse", str(tmp_path / "run" / "model"), str(tmp_path / "in.txt"), "--input=lines"])
        == 0
    )
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not UD.is_dir(), reason=f"no UD treebanks at {UD}; set DYPARSE_UD")
def test_a_real_treebank_is_evaluated(model_directory, tmp_path):
    tests = sorted(UD.glob("UD_*/*-ud-test.conllu"), key=lambda path: path.stat().st_size)
    name = tests[0].parent.name
    report = evaluate(
        configured(
            "evaluate",
            f"model={model_directory}",
            "threads=1",
            f"conllu={tmp_path / 'out'}",
            "treebank=ud",
            f"treebank.root={UD}",
            f"treebank.name={name}",
        )
    )
    gold = list(read_sentences(tests[0], trees=True))
    assert report.all_words.sentences == len(gold)
    parsed = list(read_sentences(tmp_path / "out", trees=True))
    assert [s.form for s in parsed] == [s.form for s in gold]


def test_an_evaluation_does_not_write_over_what_it_reads(saved, tmp_path):
    gold = write(tmp_path / "gold.conllu", sample("test")[:3])
    overrides = [f"model={saved}", "treebank=files", f"treebank.test={gold}", "threads=1"]
    files = [gold, *saved.iterdir()]
    before = [path.read_bytes() for path in files]
    for path in files:
        for option in ("conllu", "json"):
            with pytest.raises(ConfigError, match=f"{option} is .*, which is read; name another"):
                evaluate(configured("evaluate", *overrides, f"{option}={path}"))
    with pytest.raises(ConfigError, match="conllu is same, as json is"):
        evaluate(configured("evaluate", *overrides, "json=same", "conllu=same"))
    with pytest.raises(ConfigError, match=r"conllu is .*, a directory; expected a file"):
        evaluate(configured("evaluate", *overrides, f"conllu={tmp_path}"))
    assert [path.read_bytes() for path in files] == before
    assert not Path("same").exists()


@pytest.mark.parametrize("name", [5, 20.5, True])
def test_a_directory_may_be_called_like_a_number(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("2024").write_text("".join(s.to_conllu() for s in sample("train")[:20]))
    trained_here(name, "treebank=files", "treebank.train=2024", "trainer.epochs=1")
    assert (tmp_path / str(name) / "model").is_dir()


@pytest.mark.parametrize("name", ["a b", "a,b=c", "it's", "ü$ä", "[x]", "{y: 1}", "back\\slash"])
def test_printed_commands_work_with_any_name_of_a_directory(name, saved, tmp_path):
    model = saved.rename(tmp_path / name)
    lines = dict(line.split(None, 1) for line in next_commands(model, Sample()).splitlines())
    assert shlex.split(lines["parse"]) == ["dyparse", "parse", str(model), "FILE.txt"]
    _, _, *overrides = shlex.split(lines["evaluate"])
    assert configured("evaluate", *overrides).model == str(model)


@pytest.mark.parametrize(
    ("root", "name", "shown"),
    [
        ("ud", "UD_Toy-One", "treebank=ud/UD_Toy-One"),
        ("ud", "a b", "'treebank='\"'\"'ud/a b'\"'\"''"),
        (".", "UD_Toy-One", "treebank=UD_Toy-One"),
        (".", "files", "treebank=ud treebank.root=. treebank.name=files"),
        ("nowhere", "UD_Toy-One", "treebank=ud treebank.root=nowhere treebank.name=UD_Toy-One"),
    ],
)
def test_printed_commands_name_a_treebank_as_one_types_it(root, name, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if root != "nowhere":
        (tmp_path / root / name).mkdir(parents=True)
    printed = next_commands(Path("model"), ud.UD(root, name, on_error="skip"))
    assert printed.endswith(f" {shown} treebank.on_error=skip")


def test_a_treebank_that_is_not_there_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for overrides in (
        ["treebank=ud"],
        ["treebank=ud", "treebank.root=none", "treebank.name=UD_A-B"],
        ["treebank=files"],
        ["treebank=files", "treebank.train=none.conllu"],
    ):
        with pytest.raises(TreebankError):
            train(configured("train", *SMALL, *overrides))
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_closes_its_log_as_failed(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(NoLogger, "close", lambda _, *, failed: closed.append(failed))
    trained_here(tmp_path / "good", "trainer.max_sentences=4", "trainer.epochs=1")
    assert closed == [False]

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(NoLogger, "epoch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        trained_here(tmp_path / "bad", "trainer.max_sentences=4", "trainer.epochs=1")
    assert closed == [False, True]


def test_another_run_in_the_same_directory_replaces_the_first_only_if_that_is_said(tmp_path):
    small = ["trainer.max_sentences=4", "trainer.epochs=1"]
    trained_here(tmp_path / "run", *small, "seed=1")
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with pytest.raises(
        ConfigError, match=r"holds a run with another seed, system\.root; .*output="
    ):
        trained_here(tmp_path / "run", *small, "seed=2", "system.root=first")
    assert before == {path: path.read_bytes() for path in before}
    trained_here(tmp_path / "run", *small, "seed=1")  # the same again is no other
    assert before == {path: path.read_bytes() for path in before}
    trained_here(tmp_path / "run", *small, "seed=2", "resume=false")
    assert len(epochs_of(tmp_path / "run")) == 1
    trained_here(tmp_path / "fresh", *small, "seed=2")
    one, other = (tmp_path / name / "model" / "model.safetensors" for name in ("run", "fresh"))
    assert one.read_bytes() == other.read_bytes()


def test_a_column_that_the_encoder_reads_and_the_treebank_lacks_stops_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bare = [Sentence.from_words(s.form).with_tree(s.head, s.label) for s in sample("dev")[:20]]
    file = f"treebank.train={write(tmp_path / 'bare.conllu', bare)}"
    with pytest.raises(
        ConfigError, match=r"reads UPOS, but that column of bare is empty; .*features"
    ):
        trained_here("run", "treebank=files", "experiment=gold_tags", file)
    assert not Path("run").exists()
    trained_here("tagged", "experiment=gold_tags", "trainer.max_sentences=4", "trainer.epochs=1")
    overrides = ["model=tagged/model", "treebank=files", "treebank.test=bare.conllu"]
    with pytest.raises(ConfigError, match=r"reads UPOS, but that column of bare is .*model"):
        evaluate(configured("evaluate", *overrides))


def test_wandb_without_an_account_runs_offline_and_nothing_fails(tmp_path):
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dyparse"
    done = run(
        "train.py",
        *(*SMALL, "trainer.max_sentences=8", "logger=wandb", "output=here"),
        cwd=tmp_path,
        HOME=str(tmp_path / "home"),
        DYPARSE_CACHE=os.environ.get("DYPARSE_CACHE") or str(default),
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    runs = list((tmp_path / "here" / "wandb").glob("offline-run-*"))
    assert len(runs) == 1
    assert list(runs[0].glob("run-*.wandb"))
    assert (tmp_path / "here" / "model" / "model.safetensors").exists()
    shutil.rmtree(tmp_path / "home", ignore_errors=True)
    assert [path.name for path in tmp_path.iterdir()] == ["here"]


@pytest.mark.parametrize("script", ["train.py", "evaluate.py"])
def test_help_lists_choices_and_options(script, tmp_path):
    done = run(script, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "treebank=sample " in done.stdout
    assert "threads=null " in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("path", yamls("experiment"), ids=lambda path: path.stem)
def test_every_experiment_runs_for_one_epoch(path, tiny_pretrained, tmp_path):
    options = [f"experiment={path.stem}", "trainer.epochs=1"]
    if "encoder: transformer" in path.read_text(encoding="utf-8"):
        options += [f"encoder.pretrained={tiny_pretrained()}", "encoder.mixed_layers=2"]
    if path.stem == "policy_gradient":
        trained_here(tmp_path / "first", "trainer.epochs=1")
        options += [f"start={tmp_path / 'first'}"]
    results = trained_here(tmp_path / "run", *options)
    assert results["dev"]["words"] > 0


def test_fine_tuning_by_policy_gradient_asks_for_a_model(tmp_path):
    with pytest.raises(CheckpointError, match="MODEL: no such model"):
        trained_here(tmp_path / "run", "experiment=policy_gradient")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("override", ["seed=-1", "seed=99999999999999999999999"])
def test_a_seed_that_cannot_be_used_is_one_message(override, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="seed"):
        train(configured("train", "trainer=debug", override))
    assert list(tmp_path.iterdir()) == []


def test_every_probability_that_is_allowed_can_be_dropped(tmp_path):
    trained_here(tmp_path / "run", "network.dropout=0.999", "trainer.max_sentences=4")


def test_the_command_that_is_printed_evaluates_on_the_same_treebank(tmp_path, capsys):
    path = tmp_path / "mine.conllu"
    path.write_text("".join(s.to_conllu() for s in sample("train")[:20]))
    trained_here(tmp_path / "run", "treebank=files", f"treebank.train={path}")
    command = re.search(r"dyparse evaluate (.*)", capsys.readouterr().out)[1]
    assert "treebank=files" in command
    assert command.endswith("split=dev")  # held out of train, for there is no test


def test_one_output_for_a_whole_sweep_is_refused(tmp_path):
    options = ("-m", "trainer=debug", "seed=1,2", f"output={tmp_path / 'x'}")
    done = run("train.py", *options, cwd=tmp_path)
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
