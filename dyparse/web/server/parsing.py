"""Models, and trees for text, words or CoNLL-U."""

import io
import json
from collections.abc import Mapping, Sequence
from itertools import chain

from starlette.responses import Response

from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.model.parser import Parser
from dyparse.parsing.stream import CONLLU, write_sentences
from dyparse.tokenizer import tokenize
from dyparse.web.models import Models
from dyparse.web.sentences import pasted
from dyparse.web.server import bodies
from dyparse.web.server.answers import JSON, answer
from dyparse.web.server.batching import Batcher, Work
from dyparse.web.server.routing import Operation

TEXT = "text/plain; charset=utf-8"


def parsing_operations(models: Models, batchers: Mapping[str, Batcher]) -> list[Operation]:
    """Models and trees."""

    async def list_models() -> Response:
        """The loaded models."""
        return Response(answer(models.describe()), media_type=JSON)

    async def parse(body: bodies.ParseBody) -> Response:
        """Trees for a text, words or CoNLL-U; as JSON, or as CoNLL-U."""
        model = models.find(body.model)
        content = await batchers[model.name].parse(work_of(body, model.name))
        return Response(content, media_type=TEXT if body.format == CONLLU else JSON)

    return [
        Operation("POST", "/api/parse", parse, bodies.ParsedAnswer, bodies.ParseBody),
        Operation("GET", "/api/models", list_models, list[bodies.ModelAnswer]),
    ]


def work_of(body: bodies.ParseBody, model: str) -> Work:
    """What a request wants of the parser; ConfigError if that is not clear."""
    given = [name for name in ("text", "words", "conllu") if getattr(body, name) is not None]
    if len(given) != 1:
        raise ConfigError(
            f"got {' and '.join(given) or 'none'}, expected one of text, words, conllu"
        )

    def read(parser: Parser) -> list[Sentence]:
        if body.text is not None:
            return list(tokenize(parser.tokenizer, body.text))
        if body.conllu is not None:
            return pasted(body.conllu, trees=False)
        return sentences_of_words(body.words or [])

    def write(parsed: Sequence[Sentence]) -> bytes:
        return as_conllu(parsed) if body.format == CONLLU else as_json(parsed, model)

    words = chain.from_iterable([w] if isinstance(w, str) else w for w in body.words or [])
    size = len(body.text or body.conllu or "") + sum(len(word) + 1 for word in words)
    return Work(read, write, size, body.confidence)


def sentences_of_words(words: bodies.ListedWords) -> list[Sentence]:
    """Sentences of the words of one sentence, or of those of several."""
    several = [item for item in words if isinstance(item, list)]
    if not several:
        several = [[word for word in words if isinstance(word, str)]]
    return [Sentence.from_words(of_one) for of_one in several]


def as_json(parsed: Sequence[Sentence], model: str) -> bytes:
    """Sentences as `dyparse parse --format json` has them, in one object."""
    sentences = ",".join(sentence.to_json() for sentence in parsed)
    return f'{{"model":{json.dumps(model)},"sentences":[{sentences}]}}'.encode("utf-8", "replace")


def as_conllu(parsed: Sequence[Sentence]) -> bytes:
    """Sentences in CoNLL-U."""
    out = io.BytesIO()
    write_sentences((s.to_conllu().encode("utf-8", "replace") for s in parsed), out)
    return out.getvalue()
