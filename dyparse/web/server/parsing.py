"""Routes of the parser: models, and trees for text, words or CoNLL-U."""

import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi.responses import Response

from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError
from dyparse.tokenizer import Tokenizer, tokenize
from dyparse.web.models import Models
from dyparse.web.sentences import pasted
from dyparse.web.server import bodies
from dyparse.web.server.answers import answer


def parsing_routes(models: Models) -> APIRouter:
    """Routes to the models."""
    routes = APIRouter()

    @routes.get("/api/models", response_model=list[bodies.ModelAnswer])
    def list_models() -> Response:
        """The loaded models."""
        return answer(models.describe())

    @routes.post("/api/parse", response_model=bodies.ParsedAnswer)
    def parse(body: bodies.ParseBody) -> Response:
        """Trees for a text, words or CoNLL-U; as JSON, or as CoNLL-U."""
        model = models.find(body.model)
        parser = replace(model.parser, confidence=body.confidence)
        parsed = list(parser.parse_sentences(sentences_of(body, parser.tokenizer)))
        if body.format == "conllu":
            return Response("".join(s.to_conllu() for s in parsed), media_type="text/plain")
        return answer({"model": model.name, "sentences": [json.loads(s.to_json()) for s in parsed]})

    return routes


def sentences_of(body: bodies.ParseBody, tokenizer: Tokenizer) -> list[Sentence]:
    """The sentences that a request holds; DyparseError if it holds none or is malformed."""
    given = [name for name in ("text", "words", "conllu") if getattr(body, name) is not None]
    if len(given) != 1:
        raise ConfigError("expected one of text, words, conllu")
    if body.text is not None:
        return list(tokenize(tokenizer, body.text))
    if body.conllu is not None:
        return pasted(body.conllu)
    assert body.words is not None
    several: Any = body.words if body.words and isinstance(body.words[0], list) else [body.words]
    return [Sentence.from_words(words) for words in several]
