"""The grid through Hydra: the same runs, in parallel here, and as jobs of a cluster's scheduler."""

import pytest
from helpers.tiny import run

from dyparse.evaluation.run_result import finished_results

OPTIONS = (
    *("-m", "experiment=static_vs_dynamic", "system=arc_eager", "exploration=static,explore"),
    *("seed=1", "threads=1", "trainer.epochs=1", "trainer.max_sentences=12"),
)
LAUNCHERS = {
    "basic": (),
    "joblib": ("hydra/launcher=joblib", "hydra.launcher.n_jobs=2"),
    "submitit": ("hydra/launcher=submitit_local", "hydra.launcher.timeout_min=5"),
}


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    """scores(launcher): test scores of each exploration, as the runs of that launcher left them."""

    def of(launcher):
        directory = tmp_path_factory.mktemp(launcher)
        done = run("train.py", *OPTIONS, *LAUNCHERS[launcher], cwd=directory)
        assert done.returncode == 0, done.stderr
        assert "LAS on dev" in done.stdout  # the table at the end of a sweep
        results = finished_results([directory / "outputs"])
        return {result.cell.exploration: result.test for _, result in results}

    return of


@pytest.mark.slow
def test_every_launcher_gives_the_same_results(scores):
    basic = scores("basic")
    assert set(basic) == {"static", "explore"}
    assert scores("joblib") == basic
    assert scores("submitit") == basic
