"""Kernels: the functions that every transition system implements, each about one state, row i.

A declaration here is called like a function; the call reaches the function of the same name in the
module of the system's options. A system implements all of them but the optional ones. The functions
that end in `_all` call a kernel for every row of a batch.
"""

from dyparse.data.sentence import NONE
from dyparse.runtime.kernels import cached_njit, kernel, njit, optional_kernel
from dyparse.system._states import attach


@kernel
def begin(options, states, i):
    """Fill stack and buffer of the initial state; everything else is empty already."""


@kernel
def is_finished(options, states, i):
    """True if no move is left to take."""


@kernel
def legal(options, states, i, out):
    """out[m] = 1 if move m may be taken, else 0."""


@kernel
def arc(options, states, i, move):
    """(head, dependent) of the arc that the move adds, or (NONE, NONE)."""


@kernel
def step(options, states, i, move):
    """Change stack and buffer as the move does; its arc has been added already."""


@kernel
def cost(options, states, i, gold, out):
    """out[m] = gold arcs that legal move m makes unreachable.

    Gold is what the system's `prepare` returned.
    """


@kernel
def static(options, states, i, gold, is_legal, costs):
    """The canonical move: legal and of least cost; the costs are those that `prefer` left."""


@optional_kernel
def prefer(options, states, i, gold, is_legal, costs):
    """Raise the cost of best moves that training should not aim at; most systems have none."""


@kernel
def features(options, states, i, out):
    """out[f] = token in feature slot f, or NONE."""


@optional_kernel
def forget(options, gold, i):
    """Forget what gold's tables hold of row i, for a head in `gold.head[i]` has changed.

    Only for systems with moves that replace an arc: if moves carry labels, a word that has its gold
    head with a wrong label becomes its own gold head, and asks for no arc.
    """


@optional_kernel
def give_label(options, states, i, move, dependent):
    """Give the dependent's arc, which the move has added, the label that the move carries."""


@optional_kernel
def wrong_words(options, states, i, gold):
    """Number of words that are wrong at the end; one without a head hangs from the root."""
    count = 0
    for word in range(1, states.length[i]):
        head = states.head[i, word]
        count += gold.head[i, word] != (0 if head == NONE else head)
    return count


@optional_kernel
def without_label(options, move):
    """The move of the system without labels that this is, with a label or without."""
    return move


@njit
def take_move(options, states, i, move):
    """Add the arc of a move, and its label if it carries one, then change stack and buffer."""
    head, dependent = arc(options, states, i, move)
    if dependent != NONE:
        attach(states, i, head, dependent)
        give_label(options, states, i, move, dependent)
    step(options, states, i, move)


@njit
def first_best(order, is_legal, costs):
    """Of the moves in this order, the first that is legal and of least cost."""
    best = NONE
    for move in order:
        if is_legal[move] and (best == NONE or costs[move] < costs[best]):
            best = move
    return best


@cached_njit
def begin_all(options, states):
    for i in range(states.length.shape[0]):
        begin(options, states, i)


@cached_njit
def legal_all(options, states, out):
    for i in range(states.length.shape[0]):
        legal(options, states, i, out[i])


@cached_njit
def finished_all(options, states, out):
    for i in range(states.length.shape[0]):
        out[i] = is_finished(options, states, i)


@cached_njit
def cost_all(options, states, gold, out):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            cost(options, states, i, gold, out[i])


@cached_njit
def static_all(options, states, gold, is_legal, costs, out):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            out[i] = static(options, states, i, gold, is_legal[i], costs[i])


@cached_njit
def prefer_all(options, states, gold, is_legal, costs):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            prefer(options, states, i, gold, is_legal[i], costs[i])


@cached_njit
def arcs_all(options, states, is_legal, out):
    for i in range(states.length.shape[0]):
        for move in range(is_legal.shape[1]):
            if is_legal[i, move]:
                out[i, move, 0], out[i, move, 1] = arc(options, states, i, move)


@cached_njit
def step_all(options, states, moves):
    for i in range(states.length.shape[0]):
        if not is_finished(options, states, i):
            take_move(options, states, i, moves[i])


@cached_njit
def finish_all(options, states, gold, is_legal, costs):
    """Take canonical moves to the end of every sentence; is_legal and costs are scratch arrays."""
    for i in range(states.length.shape[0]):
        while not is_finished(options, states, i):
            legal(options, states, i, is_legal)
            cost(options, states, i, gold, costs)
            prefer(options, states, i, gold, is_legal, costs)
            take_move(options, states, i, static(options, states, i, gold, is_legal, costs))
