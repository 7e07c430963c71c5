"""The network: batch → token table → move scores; labels of arcs."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, embedding_bag
from torch.overrides import TorchFunctionMode

from dyparse.data.batch import Batch
from dyparse.data.sentence import NONE
from dyparse.data.vocabulary import Vocabulary
from dyparse.encoder import Encoder, EncoderChoice
from dyparse.model.sizes import ScorerSizes
from dyparse.rollout.scorer import Scorer
from dyparse.system import System
from dyparse.tensors.dropout import LABELS, Dropout, keys_below, signed
from dyparse.tensors.transfer import fetch


class Model(nn.Module):
    """An encoder, a scorer of moves with a hidden layer over feature slots, a labeller of arcs.

    The hidden layer of a state is a sum over its slots, so each token's share is computed once per
    slot, in the *table*; the walk and the update only add up rows of it.
    """

    def __init__(
        self, encoder: Encoder, network: ScorerSizes, *, slots: int, moves: int, labels: int
    ) -> None:
        super().__init__()
        hidden, width = network.hidden, network.reduced or encoder.width
        self.encoder = encoder
        self.reduce = _reduction(encoder.width, network.reduced)
        self.shares = nn.Linear(width, slots * hidden, bias=False)
        self.empty_shares = nn.Parameter(torch.zeros(1, slots, hidden))
        self.hidden_bias = nn.Parameter(torch.zeros(hidden))
        self.output = nn.Linear(hidden, moves)
        self.labeller = Labeller(width, hidden, labels, network.dropout)
        self.dropout = Dropout(network.dropout)
        with torch.no_grad():  # as if one layer had all slots as its input
            bound = (6 / (slots * width + hidden)) ** 0.5
            self.shares.weight.uniform_(-bound, bound)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self.hidden_bias.device

    def encode(self, batch: Batch) -> Tensor:
        """The encoder's vectors, reduced: the table and the labels are made of fewer numbers.

        batch → [B, N, width]
        """
        # Contiguous, for products in half precision take three times as long over other layouts.
        return self.reduce(self.encoder(batch).contiguous())  # type: ignore[no-any-return]  # as torch modules are called untyped

    def table(self, encoded: Tensor) -> Tensor:
        """Every token's share in every slot, and last the shares of an empty slot.

        [B, N, width] → [B·N + 1, F, D]
        """
        _, slots, hidden = self.empty_shares.shape
        shares = self.shares(encoded.reshape(-1, encoded.shape[-1])).view(-1, slots, hidden)
        return torch.cat([shares, self.empty_shares])

    def scorer(self, table: Tensor, key: int | None = None) -> Callable[[], Scorer]:
        """What the walk needs, on the host; the function returned waits for it.

        It is the one synchronisation of a batch. While training, hidden units are dropped here too,
        the same ones in all states of the batch, as its key has it: an exploring walk then errs
        about as often on known sentences as it will on new ones.
        """
        weight = self.output.weight
        if self.dropout.is_active:
            assert key is not None, "training needs a key for what the walk drops"
            keys = torch.full((1,), signed(key), dtype=torch.int64, device=weight.device)
            weight = self.dropout(weight, keys)
        arrive = fetch([table, self.hidden_bias, weight, self.output.bias])
        return lambda: Scorer(*arrive())

    def score(self, table: Tensor, features: Tensor, keys: Tensor | None = None) -> Tensor:
        """Scores of every move in T states; keys say what each drops while training.

        [tokens, F, D], [T, F], [T] → [T, M]
        """
        tokens, slots, hidden = table.shape
        rows = features * slots + torch.arange(slots, device=features.device)  # [T, F]
        sums = embedding_bag(rows, table.view(tokens * slots, hidden), mode="sum")  # [T, D]
        return self.output(self.dropout(torch.relu(sums + self.hidden_bias), keys))  # type: ignore[no-any-return]  # as torch modules are called untyped


def _reduction(width: int, reduced: int | None) -> nn.Module:
    if reduced is None:
        return nn.Identity()
    layer = nn.Linear(width, reduced)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Labeller(nn.Module):
    """Scores of labels for arcs: one hidden layer over head and dependent."""

    def __init__(self, width: int, hidden: int, labels: int, dropout: float) -> None:
        super().__init__()
        self.head = nn.Linear(width, hidden)
        self.dependent = nn.Linear(width, hidden, bias=False)
        self.output = nn.Linear(hidden, labels)
        self.dropout = Dropout(dropout)

    def forward(self, encoded: Tensor, head: Tensor, keys: Tensor | None = None) -> Tensor:
        """Of every token with its head; keys say what a sentence drops while training.

        [B, N, width], [B, N], [B] → [B, N, labels]
        """
        B, N, _ = encoded.shape
        rows = (head + torch.arange(B, device=head.device).unsqueeze(1) * N).flatten()
        of_head = self.head(encoded).flatten(0, 1).index_select(0, rows).view(B, N, -1)
        hidden = torch.relu(of_head + self.dependent(encoded))  # [B, N, hidden]
        if keys is not None:
            tokens = torch.arange(N, device=keys.device)
            keys = keys_below(keys_below(keys, LABELS).unsqueeze(1), tokens)  # [B, N]
        return self.output(self.dropout(hidden, keys))  # type: ignore[no-any-return]  # as torch modules are called untyped


def label_loss(scores: Tensor, label: Tensor) -> Tensor:
    """Cross-entropy, summed over tokens whose label is not NONE.  [B, N, labels], [B, N] → []"""
    return cross_entropy(scores.flatten(0, 1), label.flatten(), ignore_index=NONE, reduction="sum")


def fresh_model(
    system: System, encoder: EncoderChoice, network: ScorerSizes, vocabulary: Vocabulary
) -> Model:
    """A model that knows nothing yet; its weights come from torch's random generator."""
    return Model(
        encoder.build(vocabulary),
        network,
        slots=len(system.slots),
        moves=len(system.moves),
        labels=len(vocabulary.labels),
    )


class _Undrawn(TorchFunctionMode):
    """Nothing is drawn from a normal distribution.

    Without memory there is nothing to fill; torch would load its compiler to find that out.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") == "normal_":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


def unfilled_model(
    system: System, encoder: EncoderChoice, network: ScorerSizes, vocabulary: Vocabulary
) -> Model:
    """A model that has shapes and no memory, however large they are, until weights are assigned."""
    with torch.device("meta"), _Undrawn():
        return fresh_model(system, encoder, network, vocabulary)
