"""One page with all states of a sentence: what is in it, and the files it is made of."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.tiny import PROJECT, yamls

from dyparse import system as systems
from dyparse.data.sentence import Sentence
from dyparse.errors import ConfigError, TreebankError
from dyparse.web.reachable import reachable_states, table
from dyparse.web.sentences import pasted
from dyparse.web.static_page import bundle, static_page

STATIC = PROJECT / "dyparse" / "web" / "static"
MODULES = sorted(STATIC.glob("*.js"))
MOST_LINES, MOST_BYTES = 400, 200_000
CONLLU = """\
1	Do	_	_	_	_	2	aux	_	_
2	go	_	_	_	_	0	root	_	_
3	</script>	_	_	_	_	2	obj	_	_

"""


def sentence() -> Sentence:
    return pasted(CONLLU)[0]


@pytest.mark.parametrize("name", [path.stem for path in yamls("system")])
def test_every_state_that_moves_lead_to_is_in_the_table_with_its_costs(name: str) -> None:
    system, gold = systems.load(name), sentence().head
    rows = table(system, sentence())
    random = np.random.default_rng(5)
    for _ in range(10):
        states, at, prepared = system.start([3]), 0, [[0, *gold]]
        while not system.finished(states)[0]:
            stack, buffer, head, lost, best, static, moves, *_ = rows[at]
            assert stack == states.stack[0, : states.stack_size[0]].tolist()
            assert buffer == states.buffer[0, states.front[0] : states.end[0]].tolist()
            assert head == states.head[0, 1:].tolist()
            assert best == system.best_heads(states, prepared)[0, 1:].tolist()
            assert lost == [word for word in (1, 2, 3) if best[word - 1] != gold[word - 1]]
            assert static == system.static(states, prepared)[0]
            assert [move[0] for move in moves] == np.flatnonzero(system.legal(states)[0]).tolist()
            costs = system.cost(states, prepared)[0]
            assert [move[2] for move in moves] == [costs[move[0]] for move in moves]
            chosen = moves[random.integers(len(moves))]
            at = chosen[1]
            system.step(states, [chosen[0]])
        assert rows[at][6] == []


def test_too_many_states_are_refused_with_a_remedy() -> None:
    with pytest.raises(ConfigError, match=r"5 words has more than 600 states.*--sentence"):
        reachable_states(systems.load("arc_eager"), 5, 600)
    assert len(reachable_states(systems.load("arc_eager"), 5, 661)[1]) == 661


def test_a_sentence_without_a_tree_is_refused() -> None:
    with pytest.raises(TreebankError, match="no tree"):
        static_page(systems.load("arc_eager"), Sentence.from_words(["no", "tree"]))


class Page(HTMLParser):
    """Tags with their attributes, and the text of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts[-1] += data.strip()


def test_the_page_is_complete_and_what_the_treebank_says_is_not_markup() -> None:
    page = Page(static_page(systems.load("swap"), sentence()))
    assert not [attrs for _, attrs in page.tags if {"src", "href"} & set(attrs)]
    assert len(page.scripts) == 2
    data: Any = json.loads(page.scripts[0])
    assert data["sentence"]["words"] == ["Do", "go", "</script>"]
    assert data["system"]["name"] == "swap"


def test_the_command_writes_the_page(tmp_path: Path, dyparse_command: Any) -> None:
    file, out = tmp_path / "in.conllu", tmp_path / "page.html"
    file.write_text(CONLLU)
    options = ["--static", file, "--system", "arc_eager:root=first"]
    assert dyparse_command("explorer", *options, "-o", out) == (0, "", "")
    text = out.read_text()
    assert "arc_eager:root=first" in text
    assert dyparse_command("explorer", *options)[1] == text
    status, _, said = dyparse_command("explorer", "--static", "sample", "-o", out)
    assert (status, "more than" in said, out.read_text()) == (2, True, text)


# --- modules -------------------------------------------------------------------------------------


def test_a_bundle_has_each_module_once_after_those_that_it_imports() -> None:
    names = re.findall(r"^const from_(\w+) = ", bundle("static.js"), re.MULTILINE)
    assert len(names) == len(set(names)) > 10
    for place, name in enumerate(names):
        imported = re.findall(r'from "\./(\w+)\.js"', (STATIC / f"{name}.js").read_text())
        assert set(imported) <= set(names[:place])
    assert "import " not in bundle("static.js")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_a_module_is_short_and_says_what_it_is(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[0].startswith("// ")


def test_the_page_is_light_and_has_neither_style_nor_script_of_its_own() -> None:
    assert sum(path.stat().st_size for path in STATIC.iterdir()) < MOST_BYTES
    page = Page((STATIC / "index.html").read_text(encoding="utf-8"))
    assert [text for text in page.scripts if text] == []
    assert not [tag for tag, _ in page.tags if tag == "style"]
    assert not [attrs for _, attrs in page.tags if "style" in attrs]
    named = [attrs.get("src") or attrs.get("href") for _, attrs in page.tags]
    assert all((STATIC / name).is_file() for name in named if name)
