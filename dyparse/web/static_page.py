"""The explorer as one self-contained page, for one sentence in one system: no server is needed."""

import json
import re
from html import escape
from importlib.resources import files
from typing import Any

from dyparse.config.choices import text_of
from dyparse.data.sentence import Sentence
from dyparse.errors import TreebankError
from dyparse.system import System
from dyparse.web.exploring import why_not
from dyparse.web.reachable import MOST_STATES, table

ENTRY, STYLE = "static.js", "style.css"
IMPORT = re.compile(r'^import \{([^}]+)\} from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const) (\w+))", re.MULTILINE)
COMMENT = re.compile(r"^\s*(?://.*|/\*.*\*/)\n|^/\*\*\n(?:^ \*.*\n)+", re.MULTILINE)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<header class="top">
<h1>{heading}</h1>
<button type="button" id="open-help" aria-haspopup="dialog"><kbd>?</kbd> Keys</button>
</header>
<p id="error" role="alert"></p>
<p id="status" role="status" class="hidden"></p>
<main id="explore">
<div id="tools"></div>
<div id="panels" class="panels"></div>
</main>
<dialog id="help" aria-label="keys"></dialog>
<script type="application/json" id="data">{data}</script>
<script type="module">
{script}</script>
</body>
</html>
"""


def static_page(system: System, sentence: Sentence, most_states: int = MOST_STATES) -> str:
    """The page; ConfigError if the sentence has more states than this."""
    if any(head < 0 for head in sentence.head):
        raise TreebankError(f"{sentence.place} has no tree; choose a sentence with one")
    heading = " ".join(sentence.form)
    return PAGE.format(
        title=escape(f"{heading}: {text_of(system)}"),
        heading=escape(heading),
        style=short_style(_source(STYLE)),
        data=_inline(_data(system, sentence, most_states)),
        script=bundle(ENTRY),
    )


def _data(system: System, sentence: Sentence, most_states: int) -> dict[str, Any]:
    tags, labels = sentence.upos, sentence.label
    return {
        "system": {
            "name": text_of(system),
            "moves": system.moves,
            "options": [],
            "doc": (type(system).__doc__ or "").split("\n")[0],
            "exact": system.exact,
            "why": {move: why_not(system, move) for move in system.moves},
        },
        "sentence": {
            "words": sentence.form,
            "tags": None if set(tags) == {"_"} else tags,
            "heads": sentence.head,
            "labels": None if set(labels) == {"_"} else labels,
        },
        "states": table(system, sentence, most_states),
    }


def _inline(data: Any) -> str:
    """JSON that no HTML parser takes for the end of a script."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def bundle(entry: str) -> str:
    """A module and all that it imports as one script, each module in a function of its own."""
    return "".join(_wrapped(name) for name in _in_order(entry))


def _in_order(entry: str) -> list[str]:
    """Modules after those that they import, each once."""
    done: list[str] = []

    def visit(name: str) -> None:
        if name not in done:
            for _, other in IMPORT.findall(_source(name)):
                visit(other)
            done.append(name)

    visit(entry)
    return done


def _wrapped(name: str) -> str:
    """A module as a constant that holds what it exports."""
    text = _source(name)
    exported = ", ".join(EXPORT.findall(text))
    body = EXPORT.sub("", COMMENT.sub("", IMPORT.sub(_from_constant, text)))
    lines = "\n".join(line.strip() for line in body.splitlines() if line.strip())
    return f"const {_constant(name)} = (() => {{\n{lines}\nreturn {{ {exported} }};\n}})();\n"


def _from_constant(found: re.Match[str]) -> str:
    return f"const {{{found[1]}}} = {_constant(found[2])};\n"


def _constant(name: str) -> str:
    return "from_" + name.removesuffix(".js")


def short_style(text: str) -> str:
    """A stylesheet without comments and indentation."""
    lines = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).splitlines()
    return "".join(f"{line.strip()}\n" for line in lines if line.strip())


def _source(name: str) -> str:
    return (files("dyparse.web") / "static" / name).read_text(encoding="utf-8")
