"""What requests and answers hold, as the OpenAPI description shows it."""

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

MOST_EXPLORED = 100  # words of a sentence whose states are asked for
MOST_MOVES = 6000  # of such a sentence, in any system

Word = Annotated[str, Field(min_length=1, max_length=1000)]
Name = Annotated[str, Field(max_length=200)]
ListedWords: TypeAlias = list[Word] | list[list[Word]]  # of one sentence, or of several


class Body(BaseModel):
    """A request: nothing is turned into another type, and what is unknown is an error."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Situation(Body):
    """A sentence, a system, and the moves taken so far."""

    system: Name = "arc_eager"
    options: dict[Name, bool | int | Name] = {}
    words: Annotated[list[Word], Field(min_length=1, max_length=MOST_EXPLORED)]
    tags: Annotated[list[Name], Field(max_length=MOST_EXPLORED)] | None = None
    gold: Annotated[list[int], Field(max_length=MOST_EXPLORED)] | None = None
    moves: Annotated[list[Name], Field(max_length=MOST_MOVES)] = []


class StateBody(Situation):
    """A state that is asked for, with the models whose probabilities it is to have."""

    models: Annotated[list[Name], Field(max_length=10)] = []


class PlayBody(Situation):
    """A state to play on from, and by which policy."""

    policy: Literal["static", "best", "model", "mistakes"] = "static"
    model: Name | None = None
    models: list[Name] = []  # as in StateBody; not used
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    probability: Annotated[float, Field(ge=0, le=1)] = 0.1
    steps: Annotated[int, Field(ge=0, le=MOST_MOVES)] | None = None


class SentencesBody(Body):
    """Sentences for the explorer: CoNLL-U, or a text to be split."""

    conllu: str | None = None
    text: str | None = None
    model: Name | None = None


class ParseBody(Body):
    """What is to be parsed: one of `text`, `words`, `conllu`."""

    text: str | None = None
    words: ListedWords | None = None
    conllu: str | None = None
    model: Name | None = None
    format: Literal["json", "conllu"] = "json"
    confidence: bool = False


class PageQuery(BaseModel):
    """Which sentences of a treebank are wanted."""

    offset: Annotated[int, Field(ge=0, le=2**31)] = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 50
    search: Annotated[str, Field(max_length=200)] = ""  # in text or sent_id


class OptionAnswer(TypedDict):
    """An option of a system."""

    name: str
    type: str
    default: bool | int | str
    choices: list[str] | None
    doc: str


class SystemAnswer(TypedDict):
    """A transition system."""

    name: str
    doc: str
    moves: list[str]
    needs: dict[str, str]
    slots: list[str]
    exact: bool
    trees: str
    projective: bool
    options: list[OptionAnswer]


class TreebankAnswer(TypedDict):
    """A treebank and its number of sentences."""

    name: str
    sentences: int


class SentenceAnswer(TypedDict):
    """A sentence; without a tree, heads, labels and projective are null."""

    index: int
    sent_id: str | None
    text: str
    words: list[str]
    tags: list[str]
    heads: list[int] | None
    labels: list[str] | None
    projective: bool | None


class SentencesAnswer(TypedDict):
    """Some of `total` sentences."""

    total: int
    sentences: list[SentenceAnswer]


class LegalMove(TypedDict):
    """A legal move: its cost, the gold arcs that it loses and gains, the arcs that it adds."""

    move: str
    cost: int | None
    lost: list[list[int]]
    gained: list[list[int]]
    adds: list[list[int]]
    best: bool


class IllegalMove(TypedDict):
    """A move that is not legal, and what it would need."""

    move: str
    why: str


class TakenMove(TypedDict):
    """A move that was taken, and its cost."""

    move: str
    cost: int | None


class StateAnswer(TypedDict):
    """A state: arcs are pairs of head and dependent."""

    stack: list[int]
    buffer: list[int]
    lists: dict[str, list[int]]
    arcs: list[list[int]]
    final: bool
    heads: list[int]
    lost: list[list[int]]
    best_heads: list[int] | None
    legal: list[LegalMove]
    illegal: list[IllegalMove]
    history: list[TakenMove]
    cost_so_far: int | None
    static: str | None
    scores: dict[str, dict[str, float]]


class PlayAnswer(TypedDict):
    """The moves that were played, and their costs."""

    moves: list[str]
    costs: list[int | None]


class ModelAnswer(TypedDict):
    """A loaded model."""

    name: str
    system: str
    options: dict[str, bool | int | str]
    exploration: str | None
    heads: list[str]
    default: bool


class ParsedAnswer(TypedDict):
    """Parsed sentences, as `dyparse parse --format json` has them."""

    model: str
    sentences: list[dict[str, Any]]
