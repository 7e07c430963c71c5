"""Parsing as a Gymnasium environment: a sentence is an episode, a move an action, the oracle the
expert.

`parsing_env.py` is the environment, `observations.py` what an agent sees of a state. It needs the
extra `env`: pip install "dyparse[env]".

    env = ParsingEnv("arc_eager", sentences)
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(info["expert"])
"""

from dyparse.config.extras import require_libraries

require_libraries("dyparse.env", "env", "gymnasium")

from dyparse.env.observations import Observations  # noqa: E402 - gymnasium must be there
from dyparse.env.parsing_env import ParsingEnv  # noqa: E402 - as above

__all__ = ["Observations", "ParsingEnv"]
