"""The explorer: systems, sentences, states, and play."""

from starlette.exceptions import HTTPException
from starlette.responses import Response

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
from dyparse.web.server.answers import JSON, answer
from dyparse.web.server.limits import Workers
from dyparse.web.server.routing import Operation


def sentence_operations(
    models: Models, treebanks: dict[str, Treebank], workers: Workers
) -> list[Operation]:
    """The sentences of treebanks, and those that someone types or pastes."""

    async def list_treebanks() -> Response:
        """The treebanks that the server was started with."""
        return Response(await workers.run(listed, treebanks), media_type=JSON)

    async def page(name: str, query: bodies.PageQuery) -> Response:
        """Sentences of a treebank whose text or sent_id contains `search`."""
        if name not in treebanks:
            raise HTTPException(404, f"no treebank {name[:100]!r}; there is {', '.join(treebanks)}")
        return Response(await workers.run(page_of, treebanks[name], query), media_type=JSON)

    async def read_sentences(body: bodies.SentencesBody) -> Response:
        """Pasted CoNLL-U, or a text, as sentences."""
        workers.limits.require_size(len(body.conllu or body.text or ""))
        return Response(await workers.run(given_sentences, models, body), media_type=JSON)

    sentences, place = bodies.SentencesAnswer, "/api/treebanks/{name}/sentences"
    return [
        Operation("GET", "/api/treebanks", list_treebanks, list[bodies.TreebankAnswer]),
        Operation("GET", place, page, sentences, query=bodies.PageQuery),
        Operation("POST", "/api/sentences", read_sentences, sentences, bodies.SentencesBody),
    ]


def page_of(treebank: Treebank, query: bodies.PageQuery) -> bytes:
    """Some sentences of a treebank."""
    return answer(treebank.page(query.offset, query.limit, query.search))


def listed(treebanks: dict[str, Treebank]) -> bytes:
    """All treebanks with their sizes."""
    return answer([{"name": name, "sentences": len(t.sentences)} for name, t in treebanks.items()])


def given_sentences(models: Models, body: bodies.SentencesBody) -> bytes:
    """The sentences of a request."""
    if (body.conllu is None) == (body.text is None):
        raise ConfigError("expected one of conllu, text")
    if body.conllu is not None:
        found = pasted(body.conllu)
    else:
        tokenizer = models.find(body.model).parser.tokenizer if models.by_name else Plain()
        found = list(tokenize(tokenizer, body.text or ""))
    shown = [described(number, sentence) for number, sentence in enumerate(found)]
    return answer({"total": len(shown), "sentences": shown})


def state_operations(models: Models, workers: Workers) -> list[Operation]:
    """Systems and their states."""

    async def systems() -> Response:
        """The transition systems with their moves and options."""
        return Response(await workers.run(all_systems), media_type=JSON)

    async def state(body: bodies.StateBody) -> Response:
        """A state: what is where, legal moves with costs and lost arcs, the moves so far."""
        return Response(await workers.run(state_of, models, body), media_type=JSON)

    async def play(body: bodies.PlayBody) -> Response:
        """The moves that a policy takes from a state on."""
        return Response(await workers.run(played, models, body), media_type=JSON)

    return [
        Operation("GET", "/api/systems", systems, list[bodies.SystemAnswer]),
        Operation("POST", "/api/state", state, bodies.StateAnswer, bodies.StateBody),
        Operation("POST", "/api/play", play, bodies.PlayAnswer, bodies.PlayBody),
    ]


def all_systems() -> bytes:
    """The systems on offer."""
    return answer([catalog.describe(name) for name in catalog.names()])


def state_of(models: Models, body: bodies.StateBody) -> bytes:
    """The state that a request has come to."""
    derivation = derived(body)
    wanted = [models.find(name) for name in body.models]
    same = [model for model in wanted if model.parser.system == derivation.system]
    scores = {model.name: move_probabilities(model, body) for model in same}
    return answer(describe_derivation(derivation, body.gold, scores))


def played(models: Models, body: bodies.PlayBody) -> bytes:
    """The moves that a request asks for, and their costs."""
    derivation = derived(body)
    probabilities = None
    if body.policy in MODEL_POLICIES:
        model = models.of_system(derivation.system, body.model)
        probabilities = move_probabilities(model, body) if model else None
    player = Player(body.policy, probabilities, body.probability, body.seed)
    taken = player.play(derivation, body.steps)
    return answer({"moves": [t.move for t in taken], "costs": [t.cost for t in taken]})


def derived(body: bodies.Situation) -> Derivation:
    """The derivation that a request has come to; ConfigError says what does not fit."""
    system, n_words = catalog.load(body.system, body.options), len(body.words)
    if body.gold is not None:
        if len(body.gold) != n_words:
            raise ConfigError(f"gold has {len(body.gold)} heads, expected {n_words}, one per word")
        require_tree(body.gold)
        catalog.require_near(system, body.gold)
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
