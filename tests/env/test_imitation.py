"""DAgger of the library `imitation` on the environment, beside our own training by DAgger.

Imitation asks for older versions of gymnasium and other libraries than this project is tested with,
so it is in no extra.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from helpers.tiny import plan, sample, trained
from helpers.toy_parts import Sums

from dyparse.exploration.dagger import Dagger
from dyparse.head import load_heads
from dyparse.model.parser import Parser
from dyparse.model.parts import ModelConfig
from dyparse.model.sizes import ScorerSizes
from dyparse.system import load
from dyparse.training.settings import TrainingSettings
from dyparse.trajectories import Model, collect

pytest.importorskip("gymnasium", reason="the extra `env` is not installed")
pytest.importorskip(
    "imitation", reason="imitation is not installed; it asks for older libraries than these tests"
)

from imitation.algorithms.bc import BC
from imitation.algorithms.dagger import SimpleDAggerTrainer
from imitation.policies.base import NonTrainablePolicy
from imitation.util.logger import configure
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.torch_layers import FlattenExtractor
from stable_baselines3.common.vec_env import DummyVecEnv

from dyparse.env import Observations, ParsingEnv

SYSTEM = load("arc_eager")
M = len(SYSTEM.moves)
TRAIN, DEV = sample("train")[:200], sample("dev")[:60]
OBSERVATIONS = Observations.of(TRAIN, min_count=1)
STEPS = 12_000  # states of the environment, three times those of the training sentences


class Expert(NonTrainablePolicy):
    """The oracle, which looks at the environment itself."""

    def __init__(self, env: ParsingEnv) -> None:
        super().__init__(env.observation_space, env.action_space)
        self.env = env

    def _choose_action(self, obs):  # noqa: ARG002 - it knows the whole state
        return self.env.expert()


class OneHot(FlattenExtractor):
    """Stable-baselines' own one-hot vectors; it remembers the last M, of the legal moves."""

    def forward(self, observations):
        self.is_legal = observations[:, -2 * M :].reshape(-1, M, 2)[..., 1].bool()
        return super().forward(observations)


class LegalPolicy(ActorCriticPolicy):
    """A network that takes legal moves only."""

    def _get_action_dist_from_latent(self, latent):
        is_legal = self.features_extractor.is_legal
        scores = self.action_net(latent).masked_fill(~is_legal, -1e9)
        return self.action_dist.proba_distribution(scores)


def cost_per_sentence(policy) -> float:
    """Gold arcs lost by the moves of a policy, greedily, on sentences that it has not seen."""
    env, paid = ParsingEnv(SYSTEM, DEV, observations=OBSERVATIONS), 0.0
    for row in range(len(DEV)):
        observation, _ = env.reset(options={"sentence": row})
        is_finished = False
        while not is_finished:
            move, _ = policy.predict(observation, deterministic=True)
            observation, reward, is_finished, _, _ = env.step(move)
            paid -= reward
    return paid / len(DEV)


@pytest.fixture
def ours(tmp_path) -> float:
    """Cost per sentence of our own DAgger, which sees no more: no word but those of the slots."""
    (tmp_path / "no letters").write_text("\1\2")  # which no word has
    encoder = Sums(["word", "upos"], 48, str(tmp_path / "no letters"))
    heads, sizes = load_heads(["labels"]), ScorerSizes(hidden=48, dropout=0.1)
    torch.manual_seed(1)
    parser = Parser.untrained(ModelConfig(SYSTEM, encoder, heads, sizes), TRAIN)
    settings = TrainingSettings(epochs=8, max_tokens_per_batch=100, learning_rate=1e-2)
    parser, _ = trained(parser, plan(TRAIN, DEV, exploration=Dagger()), settings)
    return float(collect(Model(parser), DEV).paid.sum()) / len(DEV)


@pytest.mark.slow
def test_dagger_of_imitation_learns_about_as_much_as_ours(tmp_path, record_property, ours):
    torch.manual_seed(1)
    env = ParsingEnv(SYSTEM, TRAIN, observations=OBSERVATIONS)
    spaces = {"observation_space": env.observation_space, "action_space": env.action_space}
    network = {"net_arch": [48], "features_extractor_class": OneHot}
    policy = LegalPolicy(**spaces, lr_schedule=lambda _: 1e-3, **network)
    before = cost_per_sentence(policy)
    rng, log = np.random.default_rng(1), configure(tmp_path / "log", ["log"])
    learner = BC(**spaces, rng=rng, policy=policy, batch_size=64, custom_logger=log)
    venv = DummyVecEnv([lambda: env])
    venv.seed(1)
    dagger = SimpleDAggerTrainer(
        venv=venv,
        scratch_dir=tmp_path,
        expert_policy=Expert(env),
        rng=rng,
        bc_trainer=learner,
        custom_logger=log,
    )
    dagger.train(
        STEPS,
        rollout_round_min_episodes=50,
        rollout_round_min_timesteps=2000,
        bc_train_kwargs={"n_epochs": 2, "progress_bar": False},
    )
    theirs = cost_per_sentence(policy)
    record_property("cost per sentence", f"{before:.2f} at first, {theirs:.2f}, {ours:.2f} ours")
    assert theirs < before / 2
    assert 0.7 < theirs / ours < 1.4
