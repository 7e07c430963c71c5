"""Tag heads as parts of the network."""

import torch
from torch import Tensor, nn

from dyparse.data.sentence import NONE
from dyparse.data.vocabulary import RULED_OUT, Entries
from dyparse.head._edits import LemmaColumn, remembered_lemmas
from dyparse.head._head import Head


class TagHead(Head):
    """One layer over the vectors that the encoder has below its last layer.

    The encoder reads the mean of the entries' embeddings, weighted by their probabilities: soft
    tags, through which gradients of the parser reach the tagger.
    """

    is_corrected: bool = False  # set from the options

    def __init__(self, column: str, width: int, entries: Entries, fed: int) -> None:
        super().__init__(entries)
        self.column = column
        self.output = nn.Linear(width, len(entries))
        self.embeddings = nn.Parameter(torch.empty(len(entries), fed).normal_()) if fed else None

    def forward(
        self,
        encoded: Tensor,
        tree: Tensor | None = None,  # noqa: ARG002 - tags come before trees
        keys: Tensor | None = None,  # noqa: ARG002 - the vectors have lost components already
    ) -> Tensor:
        """[B, N, tag_width] → [B, N, entries]"""
        return self.output(encoded)  # type: ignore[no-any-return]  # as torch modules are called untyped

    def fed(self, scores: Tensor) -> Tensor | None:
        """What the encoder reads.  [B, N, entries] → [B, N, fed]"""
        if self.embeddings is None:
            return None
        return torch.softmax(scores.float(), -1).to(scores.dtype) @ self.embeddings


def settled(scores: Tensor, given: Tensor) -> Tensor:
    """Scores that leave a word only the entry that is given, where one is.

    [B, N, entries], [B, N] → [B, N, entries]
    """
    entry, number = torch.arange(scores.shape[-1], device=scores.device), given.unsqueeze(-1)
    return scores.masked_fill((number != NONE) & (number != entry), RULED_OUT)


class LemmaHead(TagHead, LemmaColumn):
    """Classes are edits."""

    def __init__(self, width: int, entries: Entries, fed: int) -> None:
        TagHead.__init__(self, "lemma", width, entries, fed)
        self.lemmas = remembered_lemmas(entries)
