"""UDPipe's REST interface: `/process` and `/models`, for the clients that speak it.

Parameters, answers and messages are those of UDPipe 2's server (udpipe2_server.py of ufal/udpipe):
an error is a line of plain text with status 400. `dyparse` in place of its generator.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email import policy
from email.parser import BytesParser
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from dyparse.data.sentence import Sentence
from dyparse.errors import DyparseError, EmptyFileError, TreebankError
from dyparse.head import LABELS
from dyparse.model.parser import Parser
from dyparse.tokenizer import restored_text, tokenize, tokenize_lines
from dyparse.version import __version__
from dyparse.web.models import Models
from dyparse.web.sentences import pasted
from dyparse.web.server.answers import JSON
from dyparse.web.server.batching import Batcher, Work
from dyparse.web.server.parsing import as_conllu

FORM, MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
PARAMETERS = ("data", "model", "input", "output", "tokenizer", "tagger", "parser")
TAGS = ("upos", "xpos", "feats", "lemma")
LONGEST_HEADERS = 2000  # of a part of a multipart body, in bytes
NO_BREAK_SPACE = "\xa0"  # a space within a word, where words have spaces between them
TOKEN_RANGE = re.compile(r"(?:\|TokenRange=\d+:\d+|(?<=\t)TokenRange=\d+:\d+)(?=[|\r\n]|$)")
FORM_SCHEMA = {
    "type": "object",
    "required": ["data"],
    "properties": {name: {"type": "string"} for name in PARAMETERS},
}
QUERY = [
    {"name": name, "in": "query", "required": name == "data", "schema": {"type": "string"}}
    for name in PARAMETERS
]
BODY = {"required": True, "content": {kind: {"schema": FORM_SCHEMA} for kind in (FORM, MULTIPART)}}


class UDPipeError(DyparseError):
    """A request that UDPipe's server would refuse with this message."""


def udpipe_routes(models: Models, batchers: Mapping[str, Batcher]) -> list[Route]:
    """Routes that answer as UDPipe's server does."""
    named = with_prefixes(models)

    async def list_models(_: Request) -> Response:
        listed = {name: abilities(model.parser) for name, model in models.by_name.items()}
        content = {"models": listed, "default_model": next(iter(listed), "")}
        return Response(indented(content), media_type=JSON)

    async def process(request: Request) -> Response:
        parameters = await parameters_of(request)
        if "data" not in parameters:
            raise UDPipeError("The parameter 'data' is required.")
        name = parameters.get("model") or next(iter(models.by_name), "")
        if name not in named:
            raise UDPipeError(f"The requested model '{name}' does not exist.")
        asked = Asked(named[name], parameters)
        asked.require_possible(models.by_name[named[name]].parser)
        work = Work(asked.read, asked.write, len(parameters["data"]), is_parsed=asked.is_parsed)
        return Response(await batchers[named[name]].parse(work), media_type=JSON)

    return [
        Route("/models", list_models, methods=["GET", "POST"]),
        Route("/process", process, methods=["GET", "POST"]),
    ]


def described() -> dict[str, Any]:
    """The paths of these routes in OpenAPI."""
    text = {"text/plain": {"schema": {"type": "string"}}}
    responses = {
        "200": {"description": "As UDPipe answers", "content": {JSON: {}}},
        "400": {"description": "What is wrong", "content": text},
        "413": {"description": "The request is too large", "content": {JSON: {}}},
        "503": {"description": "Too much to do", "content": {JSON: {}}},
    }
    models = {"summary": "The loaded models, as UDPipe lists them", "responses": responses}
    process = {"summary": "Tokenize, tag and parse, as UDPipe does", "responses": responses}
    return {
        "/models": {"get": models},
        "/process": {
            "get": {**process, "parameters": QUERY},
            "post": {**process, "requestBody": BODY},
        },
    }


def refuse(_: Request, error: Exception) -> Response:
    """The answer to a request with an error."""
    return Response(f"{error}\n", 400, media_type="text/plain")


async def parameters_of(request: Request) -> dict[str, str]:
    """The parameters of a request, in its address and in its body."""
    found = dict(request.query_params)
    if request.method != "POST":
        return found
    kind, body = request.headers.get("content-type", ""), await request.body()
    if kind.startswith(MULTIPART):
        return found | _multipart(kind, body)
    if kind.startswith(FORM):
        try:
            pairs = parse_qsl(body.decode(), keep_blank_values=True, errors="strict")
        except ValueError as error:
            raise UDPipeError(f"Cannot parse the {FORM} payload.") from error
        return found | dict(pairs)
    if not kind and not body:
        return found
    raise UDPipeError(f"Unsupported payload Content-Type '{kind or '<none>'}'.")


def _multipart(kind: str, body: bytes) -> dict[str, str]:
    try:
        parts: list[Any] = [
            BytesParser(policy=policy.HTTP).parsebytes(part, headersonly=True)
            for part in _parts(kind, body)
        ]
        names = [part.get_param("name", header="content-disposition") for part in parts]
        texts = [part.get_payload(decode=True).decode() for part in parts]
    except Exception as error:  # the package email raises many for what is no message
        raise UDPipeError(f"Cannot parse the {MULTIPART} payload.") from error
    return {str(name): text for name, text in zip(names, texts, strict=True) if name}


def _parts(kind: str, body: bytes) -> Iterator[bytes]:
    """The parts of a multipart body; ValueError for long headers, which email reads slowly."""
    (boundary,) = re.findall(r'boundary="?([^";\s]{1,200})', kind, re.IGNORECASE)
    for part in (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"))[1:]:
        if part.startswith(b"--"):
            return
        if len(part.partition(b"\r\n\r\n")[0]) > LONGEST_HEADERS:
            raise ValueError("long headers of a part")
        yield part.removeprefix(b"\r\n")


def with_prefixes(models: Models) -> dict[str, str]:
    """The names that a model can be asked for by: its own, and all before one of its hyphens."""
    named = {name: name for name in models.by_name}
    for name in models.by_name:
        parts = name.split("-")
        for end in range(len(parts) - 1, 0, -1):
            named.setdefault("-".join(parts[:end]), name)
    return named


def abilities(parser: Parser) -> list[str]:
    """What a model can do, in UDPipe's words."""
    heads = {name for name, _ in parser.network.head_items()} - {LABELS}
    return ["tokenizer", *(["tagger"] if heads else []), "parser"]


@dataclass
class Asked:
    """One request: how its data is read, what is predicted, and how it is written."""

    model: str
    parameters: Mapping[str, str]
    given: list[Sentence] = field(default_factory=list)

    @property
    def is_parsed(self) -> bool:
        """Whether the model has to predict anything."""
        return "tagger" in self.parameters or "parser" in self.parameters

    @property
    def output(self) -> str:
        """The format of the result."""
        return self.parameters.get("output", "conllu")

    def require_possible(self, parser: Parser) -> None:
        """UDPipeError if a format is unknown or the model cannot do what is asked."""
        source = self.parameters.get("input", "conllu")
        if "tokenizer" not in self.parameters and source not in READERS:
            raise UDPipeError(f"Cannot parse the input in '{source}' format.")
        if self.output not in WRITERS:
            raise UDPipeError(f"Unknown output format '{self.output}'.")
        if "tagger" in self.parameters and "tagger" not in abilities(parser):
            raise UDPipeError("The required model does not contain a tagger!")

    def read(self, parser: Parser) -> list[Sentence]:
        """The sentences of the data; UDPipeError if they cannot be read."""
        source = self.parameters.get("input", "conllu")
        data = self.parameters["data"].replace("\r\n", "\n")  # which its own client sends
        try:
            if "tokenizer" not in self.parameters:
                self.given = READERS[source](data)
            elif "presegmented" in self.parameters["tokenizer"]:
                lines = data.splitlines(keepends=True)
                self.given = list(tokenize_lines(parser.tokenizer, lines))
            else:
                self.given = list(tokenize(parser.tokenizer, data))
        except EmptyFileError:
            self.given = []
        except TreebankError as error:
            message = f"Cannot parse the input in '{source}' format.\n{error}"
            raise UDPipeError(message) from error
        return self.given

    def write(self, parsed: Sequence[Sentence]) -> bytes:
        """The answer."""
        found = [self._asked_for(*pair) for pair in zip(self.given, parsed, strict=True)]
        result = WRITERS[self.output](found)
        if self.output == "conllu":
            if "ranges" not in self.parameters.get("tokenizer", "ranges"):
                result = TOKEN_RANGE.sub("", result).replace("\t\n", "\t_\n")
            result = f"# generator = dyparse {__version__}\n# udpipe_model = {self.model}\n{result}"
        content = {"model": self.model, "acknowledgements": [], "result": result}
        return indented(content)

    def _asked_for(self, given: Sentence, parsed: Sentence) -> Sentence:
        """The sentence with those of its predicted columns that were asked for."""
        names = ("head", "label") if "parser" in self.parameters else ()
        tags = TAGS if "tagger" in self.parameters else ()
        chosen = [name for name in (*tags, *names) if name in parsed.changed]
        return given.with_columns({name: getattr(parsed, name) for name in chosen})


def _horizontal(data: str) -> list[Sentence]:
    lines = (re.split(r"[ \t]+", line.strip(" \t\r")) for line in data.split("\n"))
    return [_of_words(words) for words in lines if words != [""]]


def _vertical(data: str) -> list[Sentence]:
    blocks = re.split(r"\n[ \t\r]*\n", data)
    words = ([line.strip() for line in block.splitlines() if line.strip()] for block in blocks)
    return [_of_words(of_one) for of_one in words if of_one]


def _of_words(words: Sequence[str]) -> Sentence:
    return Sentence.from_words([word.replace(NO_BREAK_SPACE, " ") for word in words])


def _as_text(sentences: Sequence[Sentence]) -> str:
    return as_conllu(sentences).decode()


def _as_horizontal(sentences: Sequence[Sentence]) -> str:
    rows = ([word.replace(" ", NO_BREAK_SPACE) for word in s.form] for s in sentences)
    return "".join(" ".join(row) + "\n" for row in rows)


def _as_vertical(sentences: Sequence[Sentence]) -> str:
    return "".join("".join(f"{word}\n" for word in s.form) + "\n" for s in sentences)


def indented(content: object) -> bytes:
    """JSON as UDPipe lays it out."""
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    return text.encode("utf-8", "replace")


READERS: Mapping[str, Callable[[str], list[Sentence]]] = {
    "conllu": partial(pasted, trees=False),
    "horizontal": _horizontal,
    "vertical": _vertical,
}
WRITERS: Mapping[str, Callable[[Sequence[Sentence]], str]] = {
    "conllu": _as_text,
    "horizontal": _as_horizontal,
    "vertical": _as_vertical,
    "plaintext": restored_text,
}
