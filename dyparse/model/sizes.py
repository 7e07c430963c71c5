"""Sizes of the network beside the encoder."""

from dataclasses import dataclass


@dataclass(frozen=True)
class ScorerSizes:
    """Sizes of the scorer of moves and of the prediction heads."""

    hidden: int = 128
    reduced: int | None = None
    dropout: float = 0.33

    def __post_init__(self) -> None:
        for name in ("hidden", "reduced"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"network.{name} is {value}, expected 1 or more")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"network.dropout is {self.dropout}, expected 0 <= x < 1")
