"""One yes-or-no question for every legal move: is it one of the best?"""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from dyparse.loss import Loss, best_moves


@dataclass(frozen=True)
class Binary(Loss):
    """loss = Σ_{m best} log(1 + exp −score(m)) + Σ_{m legal, not best} log(1 + exp score(m)).

    Logistic regression, one against all: every best move should score above 0, every other below.
    So a constant added to all scores matters here, and a state with a single legal move teaches.

    A sum over the moves of a state, not a mean: each answer weighs the same however many moves are
    legal beside it. The loss is larger for it: log 2 for each legal move while all scores are 0.
    """

    def __call__(self, scores: Tensor, legal: Tensor, cost: Tensor) -> Tensor:
        answers = best_moves(legal, cost).to(scores.dtype)
        asked = legal.to(scores.dtype)
        loss = binary_cross_entropy_with_logits(scores, answers, asked, reduction="none")  # [T, M]
        return loss.sum(-1)
