"""Loggers: every one takes a run and a report; wandb with and without an account."""

from pathlib import Path

import pytest
from helpers.fake_wandb import FakeCommError, FakeError
from helpers.tiny import yamls
from omegaconf import OmegaConf

from dyparse.config.build import build
from dyparse.errors import ConfigError, DyparseWarning
from dyparse.logger.wandb import WandbLogger

FIGURES = {"epoch": 1, "loss": 2.0, "dev_las": 50.0}
RESULTS = {"dev": {"uas": 60.0, "las": 50.0}, "test": {"uas": 61.0, "las": 51.0}}
NAME = "arc_eager-explore-sample-seed7-0a1b2c3d"


@pytest.mark.parametrize("path", yamls("logger"), ids=lambda path: path.stem)
def test_every_logger_takes_a_run_and_a_report_and_writes_nothing_itself(
    path, tmp_path, fake_wandb
):
    fake_wandb()
    logger = build(OmegaConf.to_container(OmegaConf.load(path)), "logger")
    log = logger.open(tmp_path, {"seed": 1})
    log.epoch(FIGURES)
    log.finish(RESULTS, tmp_path)
    log.close(failed=False)
    logger.publish(tmp_path / "report.html", [{"system": "arc_eager"}], [])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("mode", "key", "variable", "expected"),
    [
        ("auto", None, None, "offline"),
        ("auto", "secret", None, "online"),
        ("offline", "secret", None, "offline"),
        ("online", "secret", None, "online"),
        ("auto", "secret", "offline", "offline"),
    ],
)
def test_without_an_account_wandb_runs_offline(
    fake_wandb, monkeypatch, mode, key, variable, expected
):
    fake = fake_wandb(key)
    if variable:
        monkeypatch.setenv("WANDB_MODE", variable)
    WandbLogger(mode=mode).open(Path("runs", NAME), {})
    assert fake.options["mode"] == expected


def test_a_wandb_run_has_group_job_type_tags_config_and_directory(fake_wandb):
    fake = fake_wandb()
    logger = WandbLogger(project="p", entity="e", tags=["a", "b"])
    logger.open(Path("runs", NAME), {"seed": 7})
    assert fake.options["project"] == "p"
    assert fake.options["entity"] == "e"
    assert fake.options["tags"] == ["a", "b"]
    assert fake.options["job_type"] == "train"
    assert fake.options["config"] == {"seed": 7}
    assert fake.options["name"] == NAME
    assert fake.options["dir"] == Path("runs", NAME)
    assert "seed7" not in fake.options["group"]
    WandbLogger(group="mine").open(Path("runs", NAME), {})
    assert fake.options["group"] == "mine"


@pytest.mark.parametrize("artifact", [True, False])
def test_wandb_receives_curves_a_table_of_results_and_the_model(fake_wandb, tmp_path, artifact):
    fake = fake_wandb()
    log = WandbLogger(artifact=artifact).open(tmp_path, {})
    log.epoch(FIGURES)
    log.finish(RESULTS, tmp_path / "model")
    log.close(failed=False)
    run = fake.run
    assert run.logged[0] == FIGURES
    columns, rows = run.logged[1]["results"]
    assert columns[0] == "split"
    assert [dict(zip(columns, row, strict=True)) for row in rows] == [
        {"split": split, **figures} for split, figures in RESULTS.items()
    ]
    assert run.summary["test_las"] == 51.0
    assert [a.files for a in run.artifacts] == [[str(tmp_path / "model")]] * artifact
    assert run.exit_code == 0


def test_a_run_that_fails_is_closed_as_failed(fake_wandb, tmp_path):
    fake = fake_wandb()
    WandbLogger().open(tmp_path, {}).close(failed=True)
    assert fake.run.exit_code == 1


def test_a_server_that_cannot_be_reached_leaves_the_run_offline(fake_wandb, tmp_path):
    fake = fake_wandb("key")
    fake.unreachable = FakeCommError("timed out\nand more")
    with pytest.warns(
        DyparseWarning, match=r"wandb: cannot be reached \(timed out\); .*is stored in"
    ):
        log = WandbLogger().open(tmp_path, {})
    assert fake.options["mode"] == "offline"
    log.epoch(FIGURES)
    assert fake.run.logged == [FIGURES]


def test_an_error_of_wandb_is_an_option_to_fix(fake_wandb, tmp_path):
    fake = fake_wandb("key")
    fake.unreachable = FakeError("no such entity")
    with pytest.raises(ConfigError, match=r"logger=wandb: no such entity; .*logger\.mode=offline"):
        WandbLogger().open(tmp_path, {})


@pytest.mark.parametrize(
    "error", [FakeCommError("gone"), TimeoutError(), RuntimeError("abandoned")]
)
def test_a_lost_connection_costs_warnings_and_nothing_else(fake_wandb, tmp_path, error):
    fake = fake_wandb("key")
    log = WandbLogger().open(tmp_path, {})

    def lost(*_, **__):
        raise error

    fake.run.log = fake.run.finish = lost
    with pytest.warns(DyparseWarning, match="this does not affect the training"):
        log.epoch(FIGURES)
    with pytest.warns(DyparseWarning, match="send it later with wandb sync"):
        log.finish(RESULTS, tmp_path)
    with pytest.warns(DyparseWarning):
        log.close(failed=False)


def test_a_resumed_training_continues_its_wandb_run(fake_wandb, tmp_path):
    fake = fake_wandb("key")
    fake.run.resumed, fake.run.summary["epoch"] = True, 1
    log = WandbLogger().open(tmp_path, {})
    assert fake.options["resume"] == "auto"
    later = FIGURES | {"epoch": 2}
    for figures in (FIGURES, later):
        log.epoch(figures)
    assert fake.run.logged == [later]


def test_wandb_records_nothing_about_the_machine(fake_wandb, tmp_path):
    fake = fake_wandb()
    WandbLogger(timeout_seconds=7).open(tmp_path, {})
    settings = fake.options["settings"]
    assert settings.x_disable_meta
    assert settings.disable_git
    assert settings.disable_code
    assert settings.console == "off"
    assert (settings.init_timeout, settings.finish_timeout) == (7, 7)


def test_wrong_options_are_refused_by_name():
    with pytest.raises(ValueError, match=r"logger\.mode is 'sometimes'"):
        WandbLogger(mode="sometimes")
    for seconds in (0, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=rf"logger\.timeout_seconds is {seconds}"):
            WandbLogger(timeout_seconds=seconds)
    for tag in ("", "x" * 65):
        with pytest.raises(ValueError, match=rf"logger\.tags has '{tag}'"):
            WandbLogger(tags=["good", tag])


def test_a_wrong_mode_in_the_environment_is_one_message(fake_wandb, monkeypatch, tmp_path):
    fake_wandb()
    monkeypatch.setenv("WANDB_MODE", "bogus")
    with pytest.raises(ConfigError, match="WANDB_MODE is 'bogus', expected one of auto"):
        WandbLogger().open(tmp_path, {})


def test_a_report_is_a_wandb_run_of_its_own_with_table_page_and_figures(fake_wandb):
    fake = fake_wandb()
    rows = [{"system": "arc_eager", "las": "85.1"}, {"system": "attardi", "las": "85.3"}]
    page, figure = Path("outputs", "compare", "report.html"), Path("figures", "curves.png")
    WandbLogger(project="p").publish(page, rows, [figure])
    assert fake.options["job_type"] == "report"
    assert fake.options["group"] == "compare"
    assert fake.options["dir"] == page.parent
    (logged,) = fake.run.logged
    assert logged["results"] == (["system", "las"], [["arc_eager", "85.1"], ["attardi", "85.3"]])
    assert logged["report"] == page
    assert logged["curves"] == figure
    assert fake.run.exit_code == 0


def test_runs_that_differ_in_their_seed_only_share_a_group(fake_wandb):
    groups = []
    for seed in (1, 2):
        fake = fake_wandb()
        WandbLogger().open(Path(f"outputs/arc_eager-explore-sample-seed{seed}-0a1b2c3d"), {})
        groups.append(fake.options["group"])
    assert groups[0] == groups[1]
