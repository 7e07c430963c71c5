"""What the network of the learned tokenizer scores, and its sizes."""

from typing import NamedTuple

from dyparse.tokenizer._characters import N_RULES

INSIDE, TOKEN_END, SENTENCE_END = range(3)  # exclude each other
MULTIWORD, WORD_END = 3, 4  # at the end of a multiword token; inside one
N_SCORES = 5


class SegmenterSizes(NamedTuple):
    """Widths of the network."""

    characters: int  # how many there are
    words: int
    embedding: int
    hidden: int
    convolution: int  # characters that it sees at once

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the network's weights, by name."""
        D, H = self.embedding, self.hidden
        shapes: dict[str, tuple[int, ...]] = {
            "character.weight": (self.characters, D),
            "word.weight": (self.words, D),
            "rule.weight": (N_RULES, D),
            "convolution.weight": (2 * H, D, self.convolution),
            "convolution.bias": (2 * H,),
            "output.weight": (N_SCORES, 2 * H),
            "output.bias": (N_SCORES,),
        }
        for way in ("", "_reverse"):
            shapes |= {
                f"lstm.weight_ih_l0{way}": (4 * H, D),
                f"lstm.weight_hh_l0{way}": (4 * H, H),
                f"lstm.bias_ih_l0{way}": (4 * H,),
                f"lstm.bias_hh_l0{way}": (4 * H,),
            }
        return shapes
