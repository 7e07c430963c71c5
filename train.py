"""Train a parser:  python train.py treebank=sample exploration=explore   (--help lists all)"""

import hydra
from omegaconf import DictConfig

from dyparse.config.hydra_errors import clear_option_errors
from dyparse.runtime.entry import clear_errors


@hydra.main(version_base="1.3", config_path="conf", config_name="train")
def main(config: DictConfig) -> None:
    """Train as configured."""
    with clear_errors():
        from dyparse.training.run import train  # it imports torch, which is slow

        train(config)


if __name__ == "__main__":
    with clear_option_errors():
        main()
