"""Evaluate a saved parser:  python evaluate.py model=DIR split=test   (--help lists all)"""

import hydra
from omegaconf import DictConfig

from dyparse.config.hydra_errors import clear_option_errors
from dyparse.runtime.entry import clear_errors


@hydra.main(version_base="1.3", config_path="conf", config_name="evaluate")
def main(config: DictConfig) -> None:
    """Evaluate as configured."""
    with clear_errors():
        from dyparse.evaluation.evaluate import evaluate  # it imports torch, which is slow

        evaluate(config)


if __name__ == "__main__":
    with clear_option_errors():
        main()
