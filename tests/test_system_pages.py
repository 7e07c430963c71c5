"""docs/systems is true: pages, pictures, tables, links, and the states where papers are wrong.

Oracles run uncompiled, in another process: for a few states that is faster than compiling.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest
from helpers.documents import dead_links, require_valid
from helpers.tiny import PROJECT

from dyparse import system as systems
from dyparse.system.buffer import EXACT_WORDS

DOCS = PROJECT / "docs" / "systems"
NAMES = systems.names()
PAGES = sorted(DOCS.glob("*.md"))
SVG = "{http://www.w3.org/2000/svg}"
TREES = r"\b(\d+) of the 625 trees of five words with one root"
STATE = (  # a line of a table: options, stack, buffer, arcs, gold heads, question, true, published
    r"^\| ([a-z_= ]+) \| ([\d ]+|none) \| ([\d ]+|none) \| ([\d →,]+|none) "
    r"\| ([\d ]+) \| `?(\w+)`? \| (\d+) \| (\d+) \|$"
)
EACH = pytest.mark.parametrize("name", NAMES)


def text_of(name: str) -> str:
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


def without_compilation(*command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python with kernels as plain functions."""
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(Path(__file__).parent)}
    command = (sys.executable, *command)
    return subprocess.run(
        command, input=given, env=environment, capture_output=True, text=True, check=False
    )


def make_docs(*options: str) -> subprocess.CompletedProcess[str]:
    return without_compilation(str(PROJECT / "scripts" / "make_docs.py"), *options)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the pages, to change: those of the systems."""
    without_cells = shutil.ignore_patterns("study")
    return Path(shutil.copytree(DOCS.parent, tmp_path / "docs", ignore=without_cells)) / "systems"


# --- pages ---------------------------------------------------------------------------------------


def test_there_is_a_page_for_every_system_and_for_nothing_else() -> None:
    assert {page.stem for page in PAGES} == {"README", *NAMES}
    assert {picture.stem for picture in DOCS.glob("*.svg")} == set(NAMES)
    assert {explorer.stem for explorer in DOCS.glob("*.html")} == set(NAMES)


@EACH
def test_the_index_has_a_line_for_the_page_and_the_page_shows_its_picture(name: str) -> None:
    assert re.search(rf"^\| \[{name}\]\({name}\.md\) \|", text_of("README"), re.MULTILINE)
    assert re.search(rf"!\[[^]]+\]\({name}\.svg\)", text_of(name))
    assert f"]({name}.html)" in text_of(name)


@EACH
def test_a_page_names_every_move(name: str) -> None:
    for move in systems.load(name).moves:
        assert re.search(rf"^\| `{move}` \|", text_of(name), re.MULTILINE), move


@EACH
def test_a_page_lists_the_feature_slots_and_no_others(name: str) -> None:
    (section,) = re.findall(
        r"^## Feature slots\n\n(.*?)\n\n", text_of(name), re.MULTILINE | re.DOTALL
    )
    assert tuple(re.findall(r"`([\w.]+)`", section)) == systems.load(name).slots


@EACH
def test_a_page_shows_every_option(name: str) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```$", text_of(name), re.MULTILINE | re.DOTALL)
    fields = dataclasses.fields(systems.load(name))
    assert len(blocks) == bool(fields)
    for field in fields:
        assert re.search(rf"^{field.name}: ", blocks[0], re.MULTILINE), field.name


def test_the_page_of_buffer_has_the_length_up_to_which_costs_are_exact() -> None:
    assert f"sentences of up to {EXACT_WORDS} words" in " ".join(text_of("buffer").split())


@EACH
def test_a_page_has_commands_that_train_and_show_the_system(name: str) -> None:
    (block,) = re.findall(r"^```sh\n(.*?)^```$", text_of(name), re.MULTILINE | re.DOTALL)
    commands = [shlex.split(line) for line in block.splitlines()]
    assert ["dyparse", "train", f"system={name}"] in commands
    assert ["dyparse", "oracle", "FILE", "--system", name] in commands
    for program, *words in commands:
        assert program == "dyparse"
        require_valid(words)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    assert dead_links(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_lines_outside_tables_are_short(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 120 and not line.startswith("|")] == []


# --- states on the pages -------------------------------------------------------------------------

ORACLE = """
import json, sys
import numpy as np
from dyparse import system as systems
from dyparse.evaluation.exhaustive import all_trees, root_children

def to_the_end(system, states, gold):
    prepared = system.prepare(gold)
    while not system.finished(states).all():
        system.step(states, np.maximum(system.static(states, prepared), 0))
    return (system.heads(states)[:, 1:] != np.array(gold)[:, 1:]).sum(1)

def answer(name, options, stack, buffer, arcs, gold, asked):
    system = systems.load(name, **options)
    states = system.start([len(gold)])
    end = states.end[0]
    states.front[0], states.stack_size[0] = end - len(buffer), len(stack)
    states.buffer[0, end - len(buffer) : end], states.stack[0, : len(stack)] = buffer, stack
    for head, dependent in arcs:
        systems.attach(states, 0, head, dependent)
    if asked == "loss":
        return int(to_the_end(system, states, [[0, *gold]])[0])
    move = system.moves.index(asked)
    assert system.legal(states)[0, move]
    return int(system.cost(states, [[0, *gold]])[0, move])

def trees(name):
    gold = all_trees(5)
    gold = gold[root_children(gold) == 1]
    assert len(gold) == 625
    system = systems.load(name)
    return int((to_the_end(system, system.start([5] * len(gold)), gold) == 0).sum())

name, questions = json.load(sys.stdin)
print(json.dumps([trees(name), *(answer(name, *question) for question in questions)]))
"""


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


def options_of(text: str) -> dict[str, object]:
    pairs = (option.split("=") for option in text.split() if option != "none")
    return {key: {"true": True, "false": False}.get(value, value) for key, value in pairs}


@cache
def states_of(name: str) -> list[tuple[str, ...]]:
    """The lines of a page's tables that describe a state."""
    return re.findall(STATE, text_of(name), re.MULTILINE)


@cache
def answers(name: str) -> list[int]:
    """How many trees of five words the system builds, then its answer for each state."""
    questions = []
    for options, stack, buffer, arcs, gold, asked, _, _ in states_of(name):
        pairs = [numbers(arc) for arc in arcs.split(",") if arc != "none"]
        state = numbers(stack), numbers(buffer), pairs, numbers(gold)
        questions.append([options_of(options), *state, asked])
    ran = without_compilation("-c", ORACLE, given=json.dumps([name, questions]))
    assert ran.returncode == 0, ran.stderr
    answered: list[int] = json.loads(ran.stdout)
    return answered


@EACH
def test_the_number_of_trees_of_five_words_is_right(name: str) -> None:
    (count,) = re.findall(TREES, " ".join(text_of(name).split()))
    assert int(count) == answers(name)[0]


def test_the_index_has_the_same_numbers_of_trees() -> None:
    text = " ".join(text_of("README").split())
    (counts,) = re.findall(r"with one root, (.*?)\. ", text)
    stated: dict[str, int] = {}
    for group, count in re.findall(r"([a-z_, ]+?)(?: build)? (\d+|all)(?:, |$)", counts):
        for name in set(re.findall(r"[a-z_]+", group)) & set(NAMES):
            stated[name] = 625 if count == "all" else int(count)
    pages = {name: re.findall(TREES, " ".join(text_of(name).split())) for name in NAMES}
    assert {name: [str(count)] for name, count in stated.items()} == pages


def test_every_line_about_a_state_is_checked() -> None:
    for name in NAMES:
        asked = re.findall(r"^\|(?:.*single_root=| none \|).*\|$", text_of(name), re.MULTILINE)
        assert len(asked) == len(states_of(name)), name
    assert sum(bool(states_of(name)) for name in NAMES) == len(NAMES)


@EACH
def test_states_where_papers_are_wrong_have_the_true_cost_or_loss(name: str) -> None:
    for line, answer in zip(states_of(name), answers(name)[1:], strict=True):
        *_, true, published = line
        assert answer == int(true), line
        assert true != published, line


# --- pictures and coverage -----------------------------------------------------------------------


def test_pictures_and_tables_are_up_to_date() -> None:
    ran = make_docs("--check")
    assert ran.returncode == 0, f"run python scripts/make_docs.py\n{ran.stdout}{ran.stderr}"


def test_the_script_lists_and_updates_stale_files(copied: Path) -> None:
    fresh = {path.name: path.read_bytes() for path in copied.iterdir()}
    picture = copied / "swap.svg"
    picture.write_text(picture.read_text(encoding="utf-8").replace("SWAP", "SHIFT"))
    (copied / "attardi.svg").unlink()
    ran = make_docs("--check", "--docs", str(copied.parent))
    stale = [line for line in ran.stdout.splitlines() if line.endswith(": stale")]
    assert ran.returncode == 1
    assert {Path(line.removesuffix(": stale")).name for line in stale} == {
        "swap.svg",
        "attardi.svg",
    }
    assert not (copied / "attardi.svg").exists(), "--check writes nothing"
    assert make_docs("--docs", str(copied.parent)).returncode == 0
    assert {path.name: path.read_bytes() for path in copied.iterdir()} == fresh


@EACH
def test_a_picture_is_well_formed_with_its_text_inside_its_frame(name: str) -> None:
    root = ElementTree.parse(DOCS / f"{name}.svg").getroot()
    assert root.tag == f"{SVG}svg"
    x, y, width, height = map(float, root.attrib["viewBox"].split())
    assert (x, y) == (0, 0)
    paper = root.find(f"{SVG}rect")
    assert paper is not None
    assert paper.attrib["fill"] == "#ffffff"
    assert float(paper.attrib["width"]) == width - 1
    assert float(paper.attrib["height"]) == height - 1
    texts = root.findall(f"{SVG}text")
    assert texts
    for text in texts:
        assert 0 < float(text.attrib["x"]) < width
        assert 0 < float(text.attrib["y"]) < height


@EACH
def test_a_picture_shows_the_characteristic_moves_of_its_system(name: str) -> None:
    root = ElementTree.parse(DOCS / f"{name}.svg").getroot()
    shown = {text.text for text in root.findall(f"{SVG}text")} & set(systems.load(name).moves)
    special = {
        "arc_eager": "REDUCE",
        "attardi": "RIGHT2",
        "buffer": "RIGHT_NONPROJECTIVE",
        "covington": "NO_ARC",
        "nonmonotonic": "REDUCE",
        "swap": "SWAP",
        "two_planar": "SWITCH",
    }
    assert {"SHIFT", "LEFT", special.get(name, "RIGHT")} <= shown


CSV = """\
treebank,system,exact,sentences,words,nonprojective_sentences,nonprojective_arcs,built_sentences,\
built_percent,gold_arcs,gold_arcs_percent,lost_arcs_mean,lost_arcs_most
UD_A,arc_eager,true,1500,20000,5,7,1499,99.9333,19999,99.9950,1.0000,1
UD_A,arc_eager:root=first,true,1500,20000,5,7,1500,100.0000,20000,100.0000,0.0000,0
UD_A,swap,false,1500,20000,5,7,1490,99.3333,19985,99.9250,1.5000,3
UD_B,swap,false,10,90,0,0,10,100.0000,90,100.0000,0.0000,0
"""


def block_of(directory: Path, name: str) -> list[str]:
    page = (directory / f"{name}.md").read_text(encoding="utf-8")
    _, block = page.split("<!-- coverage -->\n")
    return block.split("<!-- /coverage -->")[0].splitlines()


def test_coverage_is_filled_in_from_the_csv(copied: Path) -> None:
    (copied / "coverage.csv").write_text(CSV, encoding="utf-8")
    ran = make_docs("--docs", str(copied.parent))
    assert ran.returncode == 0, ran.stderr
    assert block_of(copied, "arc_eager")[2:] == [
        "| UD_A | 1,500 | 99.93% | 99.99% | 1.00 | 1 |",
        "| UD_A (root=first) | 1,500 | 100.00% | 100.00% | 0 | 0 |",
    ]
    assert block_of(copied, "swap")[2:] == [
        "| UD_A | 1,500 | ≥ 99.33% | ≥ 99.92% | ≈ 1.50 | ≤ 3 |",
        "| UD_B | 10 | 100.00% | 100.00% | 0 | 0 |",
    ]
    assert block_of(copied, "attardi") == ["Not measured yet."]


def test_without_the_csv_there_is_a_message_and_a_sentence_instead_of_tables(copied: Path) -> None:
    (copied / "coverage.csv").unlink(missing_ok=True)
    ran = make_docs("--docs", str(copied.parent))
    assert ran.returncode == 0, ran.stderr
    assert f"{copied / 'coverage.csv'} is missing" in ran.stdout
    assert "dyparse coverage" in ran.stdout
    assert block_of(copied, "swap") == ["Not measured yet."]


def test_a_page_without_its_block_is_an_error(copied: Path) -> None:
    page = copied / "covington.md"
    page.write_text(page.read_text(encoding="utf-8").replace("<!-- /coverage -->", ""))
    ran = make_docs("--docs", str(copied.parent))
    assert ran.returncode != 0
    assert "covington.md: expected one <!-- coverage -->" in ran.stderr
