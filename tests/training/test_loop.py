"""The training loop: it learns, stops, repeats itself from a seed, and saves the best."""

import math
from collections import Counter

import pytest
import torch
from helpers.tiny import fresh_parser, plan, sample, trained, yamls
from omegaconf import OmegaConf
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from dyparse.config.build import build
from dyparse.errors import DyparseError
from dyparse.evaluation.attachment_scores import attachment_scores
from dyparse.exploration.explore import Explore
from dyparse.exploration.static import Static
from dyparse.loss import Loss
from dyparse.training import loop
from dyparse.training.session import Session
from dyparse.training.settings import TrainingSettings

TRAIN, DEV = sample("train")[:40], sample("dev")[:15]
SHORT = TrainingSettings(epochs=3, max_tokens_per_batch=80, learning_rate=1e-2, average_decay=0.9)
FIGURES = {
    "epoch",
    "loss",
    "cost_per_state",
    "learning_rate",
    "tokens_per_second",
    "seconds",
    "dev_uas",
    "dev_las",
}
TIMES = {"tokens_per_second", "seconds"}


def without_times(figures):
    return [{k: v for k, v in epoch.items() if k not in TIMES} for epoch in figures]


def test_training_lowers_the_loss_and_raises_the_scores():
    settings = TrainingSettings(
        epochs=12, max_tokens_per_batch=50, learning_rate=1e-2, average_decay=0.9
    )
    parser, figures = trained(fresh_parser(TRAIN), plan(TRAIN, TRAIN), settings)
    assert figures[-1]["loss"] < figures[0]["loss"] / 3
    before = attachment_scores(TRAIN, fresh_parser(TRAIN).parse(TRAIN))
    after = attachment_scores(TRAIN, parser.parse(TRAIN))
    assert after.uas > 75
    assert after.las > max(65, before.las + 50)


def test_every_epoch_has_the_promised_figures():
    _, figures = trained(fresh_parser(TRAIN), plan(TRAIN, DEV), SHORT)
    assert [epoch["epoch"] for epoch in figures] == [1, 2, 3]
    for epoch in figures:
        assert set(epoch) == FIGURES
        assert all(math.isfinite(value) for value in epoch.values())
        assert 0 <= epoch["dev_las"] <= epoch["dev_uas"] <= 100
        words = sum(map(len, TRAIN))
        assert epoch["tokens_per_second"] == pytest.approx(words / epoch["seconds"], rel=0.01)
    rates = [epoch["learning_rate"] for epoch in figures]
    assert rates[-1] < rates[0] <= SHORT.learning_rate


def test_the_same_seed_gives_the_same_weights_and_figures_and_another_seed_others():
    runs = []
    for seed in (3, 3, 4):
        torch.manual_seed(99)
        kept, figures = trained(fresh_parser(TRAIN), plan(TRAIN, DEV, seed=seed), SHORT)
        runs.append((kept.model.state_dict(), without_times(figures)))
    (first, figures), (again, figures_again), (other, _) = runs
    assert figures == figures_again
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first)


def test_saved_parsers_are_those_that_are_better_on_dev_than_all_before():
    kept = []

    def save(parser, figures):
        scores = attachment_scores(DEV, parser.parse(DEV))
        assert (scores.uas, scores.las) == (figures["dev_uas"], figures["dev_las"])
        kept.append(figures["dev_las"])

    session = Session(SHORT, fresh_parser(TRAIN), plan(TRAIN, DEV))
    figures = list(loop.train(session, save))
    best, expected = -1.0, []
    for epoch in figures:
        if epoch["dev_las"] > best:
            best = epoch["dev_las"]
            expected.append(best)
    assert kept == expected
    assert kept


def test_training_stops_when_dev_has_not_improved_for_so_many_epochs():
    settings = TrainingSettings(epochs=9, patience=2, learning_rate=1e-12, weight_decay=0.0)
    session = Session(settings, fresh_parser(TRAIN[:5]), plan(TRAIN[:5], DEV[:3]))
    kept = []
    figures = list(loop.train(session, lambda _, epoch: kept.append(epoch["epoch"])))
    assert len(figures) == 3  # the first is the best, two more bring nothing
    assert kept == [1]


@pytest.mark.parametrize(
    ("loss", "exploration"),
    [
        pytest.param(
            loss,
            exploration,
            id=f"{loss.stem}-{exploration.stem}",
            marks=()
            if loss.stem == "set_nll" or exploration.stem == "explore"
            else [pytest.mark.slow],
        )
        for loss in yamls("loss")
        for exploration in yamls("exploration")
    ],
)
def test_every_exploration_trains_with_every_loss(exploration, loss):
    parts = {
        path.parent.name: build(OmegaConf.to_container(OmegaConf.load(path)), path.parent.name)
        for path in (exploration, loss)
    }
    settings = TrainingSettings(
        epochs=2, max_tokens_per_batch=80, learning_rate=1e-2, average_decay=0.5
    )
    _, figures = trained(fresh_parser(TRAIN[:12]), plan(TRAIN[:12], DEV[:3], **parts), settings)
    assert figures[1]["loss"] < figures[0]["loss"]


def test_only_exploring_pays_costs_and_only_after_its_first_epochs():
    costs = {}
    for exploration in (Static(), Explore(first_epochs=1, probability=1.0)):
        task = plan(TRAIN, DEV, exploration=exploration)
        _, figures = trained(fresh_parser(TRAIN), task, SHORT)
        costs[type(exploration)] = [epoch["cost_per_state"] for epoch in figures]
    assert costs[Static] == [0, 0, 0]
    assert costs[Explore][0] == 0
    assert min(costs[Explore][1:]) > 0


def test_the_rate_rises_stays_and_falls():
    settings = TrainingSettings(learning_rate=2.0, warmup=0.1, constant=0.4, final_rate=0.25)
    assert settings.rate_at(0) == pytest.approx(0.5)  # never below the final rate
    assert settings.rate_at(0.05) == pytest.approx(1.0)
    assert settings.rate_at(0.1) == settings.rate_at(0.39) == 2.0
    assert settings.rate_at(0.7) == pytest.approx(1.25)
    assert settings.rate_at(1) == pytest.approx(0.5)
    for edge in (
        TrainingSettings(warmup=0, constant=0),
        TrainingSettings(warmup=1, constant=1),
        TrainingSettings(warmup=0.0, constant=1.0),
    ):
        rates = [edge.rate_at(k / 20) for k in range(21)]
        assert all(0 < rate <= edge.learning_rate for rate in rates)


def weights_of(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()])


def test_one_step_is_enough_to_change_the_parser_that_is_saved():
    parser = fresh_parser(TRAIN[:3])
    before = weights_of(parser.model).clone()
    session = Session(SHORT, parser, plan(TRAIN[:3], DEV))
    session.step(session.batches.make(range(3), 1, 0), 0.5)
    assert not torch.equal(weights_of(session.averaged_parser().model), before)


def test_the_average_lies_behind_the_weights_and_without_decay_is_the_weights():
    for decay, is_same in ((0.99, False), (0.0, True)):
        settings = TrainingSettings(average_decay=decay, learning_rate=1e-2)
        parser = fresh_parser(TRAIN)
        start = weights_of(parser.model).clone()
        session = Session(settings, parser, plan(TRAIN, DEV))
        for step in range(6):
            session.step(session.batches.make(range(step, step + 5), 1, step), 0.2)
        end, average = weights_of(parser.model), weights_of(session.averaged_parser().model)
        assert torch.equal(average, end) == is_same
        assert (average - end).norm() < (start - end).norm()


def test_gradients_are_clipped():
    parser = fresh_parser(TRAIN)
    settings = TrainingSettings(max_gradient_norm=0.01)
    session = Session(settings, parser, plan(TRAIN, DEV))
    session.step(session.batches.make(range(10), 1, 0), 0.5)
    gradients = [parameter.grad for parameter in parser.model.parameters()]
    assert all(gradient is not None for gradient in gradients)
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm()
    assert norm == pytest.approx(0.01, rel=0.01)


def test_a_loss_that_is_not_finite_stops_the_training_with_a_remedy():
    class Broken(Loss):
        def __call__(self, scores, legal, cost):  # noqa: ARG002 - as all losses are called
            return scores.sum(-1) * math.nan

    with pytest.raises(DyparseError, match=r"epoch 1.*trainer\.learning_rate"):
        trained(fresh_parser(TRAIN[:5]), plan(TRAIN[:5], DEV, loss=Broken()), SHORT)


def test_a_label_that_only_dev_has_counts_as_an_error():
    renamed = [s.with_tree(s.head, [f"new:{r}" for r in s.label]) for s in DEV]
    _, figures = trained(fresh_parser(TRAIN), plan(TRAIN, renamed), SHORT)
    assert figures[-1]["dev_uas"] > 0
    assert figures[-1]["dev_las"] == 0


def test_a_sentence_longer_than_a_batch_is_trained_on():
    settings = TrainingSettings(epochs=1, max_tokens_per_batch=1)
    _, figures = trained(fresh_parser(TRAIN[:4]), plan(TRAIN[:4], DEV[:2]), settings)
    assert math.isfinite(figures[0]["loss"])


def test_training_without_any_tags_works():
    _, figures = trained(fresh_parser(TRAIN, features=["word", "subword"]), plan(TRAIN, DEV), SHORT)
    assert figures[-1]["loss"] < figures[0]["loss"]


class Reads(TorchDispatchMode):
    """Counts values of tensors that are read on the host, each of which waits for the device."""

    def __init__(self):
        super().__init__()
        self.count = Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        self.count[name] += name in ("_local_scalar_dense", "nonzero", "masked_select", "unique")
        return func(*args, **(kwargs or {}))


class Arrays(TorchFunctionMode):
    """Counts tensors that are turned into arrays or lists."""

    def __init__(self):
        super().__init__()
        self.count = Counter()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        self.count[name] += name in ("numpy", "tolist", "item", "cpu", "__array__")
        return func(*args, **(kwargs or {}))


def test_a_step_reads_from_the_device_in_the_scorer_only():
    """The scorer's four arrays; every further number here would stop a GPU once per batch.

    One number is read on a CPU only, where nothing waits: whether gradients have to be clipped.
    """
    session = Session(SHORT, fresh_parser(TRAIN), plan(TRAIN, DEV))
    session.step(session.batches.make(range(8), 1, 0), 0.1)
    batch = session.batches.make(range(8, 16), 1, 1)
    with Arrays() as arrays, Reads() as reads:
        session.step(batch, 0.2)
    assert +arrays.count == {"numpy": 4}
    assert sum(reads.count.values()) == 1


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"epochs": 0}, "trainer.epochs is 0"),
        ({"patience": 0}, "trainer.patience is 0"),
        ({"max_tokens_per_batch": 0}, "trainer.max_tokens_per_batch is 0"),
        ({"learning_rate": 0.0}, "trainer.learning_rate is 0"),
        ({"learning_rate": math.nan}, "trainer.learning_rate is nan"),
        ({"max_gradient_norm": -1.0}, "trainer.max_gradient_norm is -1"),
        ({"warmup": 0.5, "constant": 0.2}, "trainer.warmup is 0.5"),
        ({"constant": 1.1}, "trainer.constant 1.1"),
        ({"beta1": 1.0}, "trainer.beta1 is 1"),
        ({"beta2": -0.1}, "trainer.beta2 is -0.1"),
        ({"average_decay": 1.0}, "trainer.average_decay is 1"),
        ({"max_sentences": 0}, "trainer.max_sentences is 0"),
    ],
)
def test_an_option_out_of_range_is_refused_by_name(options, name):
    with pytest.raises(ValueError, match=name):
        TrainingSettings(**options)


def test_without_decay_the_average_is_the_weights_after_any_number_of_steps():
    parser = fresh_parser(TRAIN[:2])
    settings = TrainingSettings(average_decay=0.0)
    session = Session(settings, parser, plan(TRAIN[:2], TRAIN[:2]))
    for _ in range(106):
        session.step(session.batches.make(range(2), 1, 0), 0.2)
    assert torch.equal(weights_of(session.averaged_parser().model), weights_of(parser.model))
