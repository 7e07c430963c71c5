"""Derivations as data: states, moves, costs and scores, for those who study imitation learning.

`sources.py` has those whose derivations are taken, an `Oracle` or a `Model`; `rollouts.py` takes
them, sentence by sentence, with `record.py`, which writes down all of a state; `arrays.py` lays
them out flat, which is the schema; `files.py` writes them as npz or Parquet.

    source = Oracle(dyparse.system.load("arc_eager"))
    data = collect(source, sentences)
    data.slots, data.legal, data.cost, data.move        # a row per state

docs/trajectories.md explains the schema. `dyparse.env` is the same to act in.
"""

from dyparse.trajectories.arrays import Derivation, Trajectories
from dyparse.trajectories.files import write_npz, write_parquet
from dyparse.trajectories.rollouts import collect, derivations
from dyparse.trajectories.sources import Model, Oracle, Source

__all__ = [
    "Derivation",
    "Model",
    "Oracle",
    "Source",
    "Trajectories",
    "collect",
    "derivations",
    "write_npz",
    "write_parquet",
]
