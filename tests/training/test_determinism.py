"""The same seed, machine and number of threads give the same bytes: alone, in a sweep, in turn."""

import pytest
from helpers.tiny import run

SMALL = [
    *(
        "trainer=debug",
        "tokenizer=plain",
        "trainer.epochs=2",
        "trainer.max_sentences=60",
        "encoder.hidden=40",
    ),
    *("network.hidden=40", "trainer.max_tokens_per_batch=200"),
]
DATA = ("model.safetensors", "config.yaml", "vocabulary.json")


def trained(directory, *overrides, threads=2):
    """Train in a process of its own; the bytes of each run's model, by the run's name."""
    directory.mkdir()
    done = run("train.py", *overrides, *SMALL, f"threads={threads}", cwd=directory)
    assert done.returncode == 0, done.stderr
    runs = sorted(path for path in (directory / "outputs").iterdir() if path.is_dir())
    return {path.name: [(path / "model" / name).read_bytes() for name in DATA] for path in runs}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return trained(tmp_path_factory.mktemp("drift") / "alone", "seed=2")


def test_two_trainings_with_the_same_seed_give_the_same_bytes(alone, tmp_path):
    assert trained(tmp_path / "again", "seed=2") == alone


def test_a_training_in_a_sweep_gives_the_bytes_of_one_alone(alone, tmp_path):
    swept = trained(tmp_path / "swept", "-m", "seed=1,2")
    assert len(swept) == 2
    ((name, files),) = alone.items()
    assert swept[name] == files
    assert len({model[0] for model in swept.values()}) == 2


@pytest.mark.slow
def test_a_training_side_by_side_with_others_gives_the_bytes_of_one_alone(tmp_path):
    alone = trained(tmp_path / "alone", "seed=2", threads=1)
    launcher = ["hydra/launcher=joblib", "hydra.launcher.n_jobs=2"]
    together = trained(tmp_path / "together", "-m", "seed=1,2", *launcher, threads=1)
    ((name, files),) = alone.items()
    assert together[name] == files


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float32", "auto"])
def test_the_default_model_trained_twice_does_not_drift(precision, tmp_path):
    options = ["trainer.epochs=2", f"trainer.precision={precision}", "threads=2"]
    models = []
    for name in ("one", "two"):
        done = run("train.py", *options, f"output={name}", cwd=tmp_path, timeout=900)
        assert done.returncode == 0, done.stderr
        models.append([(tmp_path / name / "model" / file).read_bytes() for file in DATA])
    assert models[0] == models[1]
