"""Routes of the explorer: systems, sentences, states, and play."""

from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import Response

from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.tokenizer import tokenize
from dyparse.tokenizer.plain import Plain
from dyparse.web import catalog
from dyparse.web.exploring import describe_derivation
from dyparse.web.models import LoadedModel, Models, MoveProbabilities
from dyparse.web.playing import MODEL_POLICIES, Derivation, Player
from dyparse.web.sentences import Treebank, described, pasted
from dyparse.web.server import bodies
from dyparse.web.server.answers import answer


def sentence_routes(models: Models, treebanks: dict[str, Treebank]) -> APIRouter:
    """Routes to the sentences of treebanks, and to those that someone types or pastes."""
    routes = APIRouter()

    @routes.get("/api/treebanks", response_model=list[bodies.TreebankAnswer])
    def list_treebanks() -> Response:
        """The treebanks that the server was started with."""
        return answer(
            [{"name": name, "sentences": len(t.sentences)} for name, t in treebanks.items()]
        )

    @routes.get("/api/treebanks/{name}/sentences", response_model=bodies.SentencesAnswer)
    def sentences(
        name: str,
        offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        search: Annotated[str, Query(max_length=200)] = "",
    ) -> Response:
        """Sentences of a treebank whose text or sent_id contains `search`."""
        if name not in treebanks:
            raise ConfigError(f"no treebank {name[:100]!r}; there is {', '.join(treebanks)}")
        return answer(treebanks[name].page(offset, limit, search))

    @routes.post("/api/sentences", response_model=bodies.SentencesAnswer)
    def read_sentences(body: bodies.SentencesBody) -> Response:
        """Pasted CoNLL-U, or a text, as sentences."""
        if (body.conllu is None) == (body.text is None):
            raise ConfigError("expected one of conllu, text")
        found = pasted(body.conllu) if body.conllu is not None else split(body)
        shown = [described(number, sentence) for number, sentence in enumerate(found)]
        return answer({"total": len(shown), "sentences": shown})

    def split(body: bodies.SentencesBody) -> list[Sentence]:
        tokenizer = models.find(body.model).parser.tokenizer if models.by_name else Plain()
        return list(tokenize(tokenizer, body.text or ""))

    return routes


def state_routes(models: Models) -> APIRouter:
    """Routes to systems and their states."""
    routes = APIRouter()

    @routes.get("/api/systems", response_model=list[bodies.SystemAnswer])
    def systems() -> Response:
        """The transition systems with their moves and options."""
        return answer([catalog.describe(name) for name in catalog.names()])

    @routes.post("/api/state", response_model=bodies.StateAnswer)
    def state(body: bodies.StateBody) -> Response:
        """A state: what is where, legal moves with costs and lost arcs, the moves so far."""
        derivation = derived(body)
        wanted = [models.find(name) for name in body.models]
        same = [m for m in wanted if m.parser.system == derivation.system]
        scores = {m.name: move_probabilities(m, body) for m in same}
        return answer(describe_derivation(derivation, body.gold, scores))

    @routes.post("/api/play", response_model=bodies.PlayAnswer)
    def play(body: bodies.PlayBody) -> Response:
        """The moves that a policy takes from a state on."""
        derivation = derived(body)
        probabilities = None
        if body.policy in MODEL_POLICIES:
            model = models.of_system(derivation.system, body.model)
            probabilities = move_probabilities(model, body) if model else None
        player = Player(body.policy, probabilities, body.probability, body.seed)
        taken = player.play(derivation, body.steps)
        return answer({"moves": [t.move for t in taken], "costs": [t.cost for t in taken]})

    return routes


def derived(body: bodies.Situation) -> Derivation:
    """The derivation that a request has come to; ConfigError says what does not fit."""
    system, n_words = catalog.load(body.system, body.options), len(body.words)
    if body.gold is not None:
        if len(body.gold) != n_words:
            raise ConfigError(f"gold has {len(body.gold)} heads, expected {n_words}, one per word")
        require_tree(body.gold)
    derivation = Derivation(system, n_words, body.gold)
    derivation.replay(body.moves)
    return derivation


def require_tree(heads: list[int]) -> None:
    """ConfigError if these are not the heads of a tree."""
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= len(heads):
            raise ConfigError(f"gold: head {head} of word {word}, expected 0..{len(heads)}")
    for word in range(1, len(heads) + 1):
        above = word
        for _ in heads:
            above = heads[above - 1] if above else 0
        if above:
            raise ConfigError(f"gold: word {word} is in a cycle; every word must lead to the root")


def move_probabilities(model: LoadedModel, body: bodies.Situation) -> MoveProbabilities:
    """How probable a model finds moves in the sentence of a request."""
    if body.tags is not None and len(body.tags) != len(body.words):
        raise ConfigError(f"{len(body.tags)} tags for {len(body.words)} words")
    try:
        sentence = Sentence.from_words(body.words, upos=body.tags)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    return MoveProbabilities(model.parser, sentence)
