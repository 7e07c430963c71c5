"""Configurations as train.py and evaluate.py compose them."""

from __future__ import annotations

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig

from helpers.tiny import CONF


def configured(*overrides: str, name: str = "train") -> DictConfig:
    """The configuration of a command line."""
    with initialize_config_dir(str(CONF), version_base="1.3"):
        return compose(name, overrides=list(overrides))
