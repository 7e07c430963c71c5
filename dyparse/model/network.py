"""The network: batch → vectors → table → scores of moves; prediction heads over the vectors."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, linear
from torch.overrides import TorchFunctionMode

from dyparse.data.batch import Batch, Collator, Feature
from dyparse.data.sentence import Sentence
from dyparse.encoder import Encoder, ParameterGroup
from dyparse.head import LABELS, Head
from dyparse.head._analyses import Analyses
from dyparse.head._tag_head import TagHead, settled
from dyparse.model.sizes import ScorerSizes
from dyparse.rollout.scorer import Scorer
from dyparse.tensors.dropout import Dropout, signed
from dyparse.tensors.precision import encoder_precision, scorer_precision
from dyparse.tensors.transfer import fetch, to_device

NOTHING: Mapping[str, Tensor] = {}


class Encoded(NamedTuple):
    """A batch after the encoder."""

    vectors: Tensor  # [B, N, width]
    tags: dict[str, Tensor]  # scores of the tag heads, by name  [B, N, entries]


class Model(nn.Module):
    """An encoder, a scorer of moves with one hidden layer over feature slots, and heads.

    The hidden layer of a state is a sum over its slots, so what each token contributes is computed
    once per slot, in the *table*; rollout and scoring only add up rows of it.
    """

    def __init__(
        self,
        encoder: Encoder,
        sizes: ScorerSizes,
        build_heads: Callable[[int, int], Mapping[str, Head]],
        *,
        slots: int,
        moves: int,
    ) -> None:
        super().__init__()
        hidden, width = sizes.hidden, sizes.reduced or encoder.width
        self.encoder = encoder
        self.reduce = _reduction(encoder.width, sizes.reduced)
        self.slot_projection = nn.Linear(width, slots * hidden, bias=False)
        self.empty_slot = nn.Parameter(torch.zeros(1, slots, hidden))
        self.hidden_bias = nn.Parameter(torch.zeros(hidden))
        self.output = nn.Linear(hidden, moves)
        tag_width = width if encoder.tag_width is None else encoder.tag_width
        self.heads = nn.ModuleDict(build_heads(width, tag_width))
        self.corrections = nn.ParameterDict(
            {
                name: nn.Parameter(torch.zeros(len(head.entries), width))
                for name, head in self.tag_heads()
                if head.is_corrected and encoder.tag_width is not None
            }
        )
        self.dropout = Dropout(sizes.dropout)
        with torch.no_grad():  # as if one layer had all slots as its input
            bound = (6 / (slots * width + hidden)) ** 0.5
            self.slot_projection.weight.uniform_(-bound, bound)

    @property
    def device(self) -> torch.device:
        """The device that the network is on."""
        return self.hidden_bias.device

    @property
    def device_type(self) -> str:
        return self.device.type

    @property
    def n_weights(self) -> int:
        return sum(weights.numel() for weights in self.parameters())

    def own_features(self) -> Sequence[Feature]:
        return self.encoder.own_features()

    def encode(self, batch: Batch, given: Mapping[str, Tensor] = NOTHING) -> Encoded:
        """The encoder's vectors, reduced to `network.reduced` numbers, and the scores of tags.

        Tags that are given, numbers [B, N] by the name of their head or NONE, are read instead of
        predicted ones.
        """
        tags: dict[str, Tensor] = {}
        heads = self.tag_heads()

        def tag(vectors: Tensor) -> Tensor | None:
            tags.update({name: head(vectors) for name, head in heads})
            tags.update({name: settled(tags[name], numbers) for name, numbers in given.items()})
            fed = [head.fed(tags[name]) for name, head in heads]
            found = [numbers for numbers in fed if numbers is not None]
            return torch.cat(found, dim=-1) if found else None

        takes_tags = heads and self.encoder.tag_width is not None
        vectors = self.encoder(batch, tag) if takes_tags else self.encoder(batch)
        # Contiguous, for products in half precision take three times as long over other layouts.
        reduced = self.reduce(vectors.contiguous())
        if heads and not takes_tags:
            tag(reduced)
        return Encoded(reduced, tags)

    def head_scores(
        self, name: str, encoded: Encoded, tree: Tensor, keys: Tensor | None = None
    ) -> Tensor:
        """Scores of the entries of a head for every token; see `Head.forward`."""
        return self.learned_scores(name, encoded, tree, keys)[-1]

    def learned_scores(
        self, name: str, encoded: Encoded, tree: Tensor, keys: Tensor | None = None
    ) -> list[Tensor]:
        """All scores of a head that training learns from; the last ones predict.

        Tags are scored below the encoder's last layer, which reads them. Corrected ones are these
        scores and a linear function of the last vectors. Its loss changes nothing else: the
        encoder's last layer is left to the parser.
        """
        if name not in encoded.tags:
            return [self.heads[name](encoded.vectors, tree, keys)]
        return self._learned_tags(name, encoded)

    def _learned_tags(self, name: str, encoded: Encoded) -> list[Tensor]:
        scores = encoded.tags[name]
        if name not in self.corrections:
            return [scores]
        return [scores, scores.detach() + linear(encoded.vectors.detach(), self.corrections[name])]

    def table(self, encoded: Tensor) -> Tensor:
        """Every token's contribution in every slot, and last that of an empty slot.

        [B, N, width] → [B·N + 1, F, D]
        """
        _, slots, hidden = self.empty_slot.shape
        tokens = self.slot_projection(encoded.reshape(-1, encoded.shape[-1]))
        return torch.cat([tokens.view(-1, slots, hidden), self.empty_slot])

    def scorer(self, table: Tensor, key: int | None = None) -> Callable[[], Scorer]:
        """The arrays that a rollout needs on the host; the function returned waits for them.

        It is the one synchronisation of a batch. In training, hidden units are dropped here too,
        the same ones in all states of the batch, decided by its key: an exploring rollout then errs
        about as often on known sentences as it will on new ones.
        """
        weight = self.output.weight
        if self.dropout.is_active:
            assert key is not None, "training needs a key for the dropout of the rollout"
            keys = torch.full((1,), signed(key), dtype=torch.int64, device=weight.device)
            weight = self.dropout(weight, keys)
        arrive = fetch([table, self.hidden_bias, weight, self.output.bias])
        return lambda: Scorer(*arrive())

    def score(self, table: Tensor, features: Tensor, keys: Tensor | None = None) -> Tensor:
        """Scores of every move in T states; keys decide what each drops in training.

        [tokens, F, D], [T, F], [T] → [T, M]
        """
        tokens, slots, hidden = table.shape
        rows = features * slots + torch.arange(slots, device=features.device)  # [T, F]
        sums = embedding_bag(rows, table.view(tokens * slots, hidden), mode="sum")  # [T, D]
        return self.output(self.dropout(torch.relu(sums + self.hidden_bias), keys))  # type: ignore[no-any-return]  # as torch modules are called untyped

    def parameter_groups(self) -> list[ParameterGroup]:
        """The encoder's groups, and one with everything else; ValueError if those do not fit."""
        of_encoder, groups = set(self.encoder.parameters()), self.encoder.parameter_groups()
        listed = [p for group in groups for p in group.parameters]
        if len(set(listed)) < len(listed) or not of_encoder.issuperset(listed):
            raise ValueError(
                "parameter groups of an encoder: expected its own parameters, each once"
            )
        if not all(0 <= group.rate < math.inf for group in groups):
            raise ValueError(
                f"rates of an encoder are {[g.rate for g in groups]}, expected 0 or more"
            )
        others = [p for p in self.parameters() if p not in of_encoder and p.requires_grad]
        return [ParameterGroup(others), *groups]

    def head_items(self) -> list[tuple[str, Head]]:
        """The heads with their names."""
        return cast("list[tuple[str, Head]]", list(self.heads.items()))

    def tag_heads(self) -> list[tuple[str, TagHead]]:
        """Those of them that predict tags inside the encoder."""
        return [(name, head) for name, head in self.head_items() if isinstance(head, TagHead)]

    def given_tags(
        self, columns: Collection[str], sentences: Sequence[Sentence]
    ) -> dict[str, Tensor]:
        """Tags of these columns as `encode` takes them, on the network's device."""
        heads = {name: head for name, head in self.tag_heads() if head.column in columns}
        numbers = [torch.from_numpy(head.given(sentences)) for head in heads.values()]
        return dict(zip(heads, to_device(numbers, self.device), strict=True)) if heads else {}

    @torch.inference_mode()
    def encode_sentences(
        self,
        sentences: Sequence[Sentence],
        collator: Collator,
        precision: str,
        keep: Collection[str] = (),
    ) -> tuple[Encoded, Scorer, NDArray[np.int32]]:
        """The vectors of all tokens, the scorer of moves over them, and the numbers of words."""
        self.eval()
        batch, gains = collator.batch(sentences), self.encoder.gains_from_bfloat16
        given = self.given_tags(keep, sentences)
        with encoder_precision(precision, self.device, gains=gains):
            encoded = self.encode(batch.to(self.device), given)
        with scorer_precision(precision, self.device):
            scorer = self.scorer(self.table(encoded.vectors))()
        return encoded, scorer, batch.words

    @torch.inference_mode()
    def predict(
        self,
        encoded: Encoded,
        heads: NDArray[np.int32],
        words: NDArray[np.int32],
        analyses: Analyses,
        precision: str,
    ) -> dict[str, list[list[int]]]:
        """The numbers [B, N] of the entries that every head predicts; see `parts.Network`."""
        (tree,) = to_device([torch.from_numpy(heads.astype(np.int64))], self.device)
        with scorer_precision(precision, self.device):
            scores = {name: self.head_scores(name, encoded, tree) for name, _ in self.head_items()}
        found = {name: head.predict(scores[name], heads) for name, head in self.head_items()}
        if not analyses.columns:
            return found

        token = np.arange(heads.shape[1])
        places = np.flatnonzero((token > 0) & (token <= words[:, None]))  # neither root nor padding

        def scores_of(chosen: NDArray[np.int64]) -> list[NDArray[np.float32]]:
            (rows,) = to_device([torch.from_numpy(places[chosen])], self.device)
            return [scores[c].flatten(0, 1)[rows].float().cpu().numpy() for c in analyses.columns]

        tags = np.array([found[column] for column in analyses.columns])  # [C, B, N]
        flat = tags.reshape(len(tags), -1)
        flat[:, places] = analyses.choose(flat[:, places].T, scores_of).T
        return found | dict(zip(analyses.columns, tags.tolist(), strict=True))

    @torch.inference_mode()
    def tag_scores(
        self, name: str, encoded: Encoded, tokens: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """Scores of the entries of a tag head for some tokens of the grid.  [R] → [R, entries]"""
        (rows,) = to_device([torch.from_numpy(tokens)], self.device)
        scores = self._learned_tags(name, encoded)[-1].flatten(0, 1)
        return scores[rows].float().cpu().numpy()

    @torch.inference_mode()
    def label_scores(
        self, encoded: Encoded, heads: NDArray[np.int32], precision: str
    ) -> NDArray[np.float32]:
        """Scores of the labels of all arcs of the trees.  [B, N] → [B, N, labels]"""
        (tree,) = to_device([torch.from_numpy(heads.astype(np.int64))], self.device)
        with scorer_precision(precision, self.device):
            return self.head_scores(LABELS, encoded, tree).float().cpu().numpy()


def _reduction(width: int, reduced: int | None) -> nn.Module:
    if reduced is None:
        return nn.Identity()
    layer = nn.Linear(width, reduced)
    nn.init.xavier_uniform_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class WithoutDrawing(TorchFunctionMode):
    """Leaves out random draws, for models whose weights are loaded afterwards.

    On the meta device there is nothing to fill, and torch would load its compiler to find that out.
    """

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in ("normal_", "uniform_", "trunc_normal_"):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)
