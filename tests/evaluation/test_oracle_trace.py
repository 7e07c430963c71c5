"""Oracle traces as data, text and JSON, and the `dyparse oracle` command."""

import functools
import io
import json
import sys

import numpy as np
import pytest
from helpers.random_trees import random_tree
from helpers.tiny import sample

from dyparse import system as systems
from dyparse.data.sentence import Sentence
from dyparse.evaluation.coverage import lost_arcs
from dyparse.evaluation.oracle_trace import (
    BOLD,
    LOST_LEGEND,
    MOST_WORDS,
    NOT_EXACT,
    RED,
    TOO_LONG,
    Derivation,
    Page,
    derive,
    outcome,
    write_json,
    write_latex,
    write_text,
)
from dyparse.runtime.console import columns
from dyparse.system.arc_eager import ArcEager

DEV = sample("dev")[:8]
CROSSED = [0, 1, 1, 2]  # 1 → 3 and 2 → 4 cross
EXACT = [name for name in systems.names() if systems.load(name).exact]


def trees(count=9, longest=9):
    """Gold heads of words 1..n: projective, nearly projective, arbitrary."""
    rng = np.random.default_rng(3)
    kinds = ("projective", "displaced", "any")
    return [
        random_tree(rng, int(rng.integers(2, longest + 1)), kinds[k % 3], one_root=True)[1:]
        for k in range(count)
    ]


def losses(heads, gold):
    return int((np.array(heads) != np.array(gold)).sum())


def sentence_with(heads, words=None):
    forms = words or [f"w{k}" for k in range(len(heads))]
    return Sentence.from_words(forms).with_tree(heads, ["dep"] * len(heads))


def lines_of(derivation, page):
    out = io.StringIO()
    write_text(derivation, page, out)
    return out.getvalue().splitlines()


@pytest.fixture
def command(dyparse_command):
    """command(*arguments, stdin=…) → (exit status, standard output, standard error)."""
    return functools.partial(dyparse_command, "oracle")


@pytest.fixture
def file(tmp_path):
    """A file of some sentences."""
    path = tmp_path / "dev.conllu"
    path.write_text("".join(s.to_conllu() for s in DEV))
    return path


# --- steps ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("mistakes", [0.3, 1.0])
def test_the_cost_paid_is_the_loss_beyond_what_was_lost_at_the_start(name, mistakes):
    system, total = systems.load(name), 0
    for seed, gold in enumerate(trees()):
        steps = derive(system, gold, mistakes, seed)
        paid = sum(step.paid for step in steps)
        assert paid == losses(steps[-1].heads, gold) - lost_arcs(system, [gold])[0]
        end = outcome(Derivation(system, gold), steps[-1], paid)
        assert end.adds_up
        assert (end.heads, end.paid) == (steps[-1].heads, paid)
        total += paid
    assert total > 0


@pytest.mark.parametrize("name", systems.names())
def test_without_mistakes_every_move_is_a_best_one(name):
    system = systems.load(name)
    for gold in trees():
        steps = derive(system, gold)
        assert all(step.taken in step.best for step in steps)
        assert losses(steps[-1].heads, gold) == lost_arcs(system, [gold])[0]


@pytest.mark.parametrize("name", systems.names())
def test_the_steps_are_those_of_the_system(name):
    system, gold = systems.load(name), trees()[1]
    states = system.start([len(gold)])
    steps = derive(system, gold, 0.5, seed=1)
    for step in steps:
        legal, cost = system.legal(states)[0], system.cost(states, [[0, *gold]])[0]
        costs = {m: int(c) for m, c, ok in zip(system.moves, cost, legal, strict=True) if ok}
        assert step.costs == costs
        assert step.best == tuple(m for m in costs if costs[m] == min(costs.values()))
        assert list(step.stack) == states.stack[0, : states.stack_size[0]].tolist()
        assert list(step.buffer) == states.buffer[0, states.front[0] : states.end[0]].tolist()
        before = states.head[0].copy()
        assert {d: h for h, d in step.arcs} == {w: h for w, h in enumerate(before) if h >= 0}
        system.step(states, [system.moves.index(step.taken)])
        changed = np.flatnonzero(states.head[0] != before)
        assert {d for _, d in step.added} == {w for w in changed if states.head[0, w] >= 0}
        assert list(step.heads) == system.heads(states)[0, 1:].tolist()
    assert system.finished(states)[0]


def test_mistakes_cost_something_wherever_a_move_does():
    system = systems.load("arc_eager")
    steps = [step for gold in trees() for step in derive(system, gold, 1.0, seed=2)]
    assert all(step.paid > 0 for step in steps if max(step.costs.values()) > 0)
    free = [step for step in steps if max(step.costs.values()) == 0 and len(step.costs) > 1]
    assert len({step.taken for step in free}) > 1


def test_a_seed_repeats_its_mistakes_and_another_makes_others():
    system, gold = systems.load("arc_eager"), trees()[4]
    first = derive(system, gold, 0.5, seed=1)
    assert derive(system, gold, 0.5, seed=1) == first
    assert any(derive(system, gold, 0.5, seed) != first for seed in range(2, 6))


def test_a_known_derivation_of_two_words():
    first, *_, last = derive(systems.load("arc_eager"), [2, 0])
    assert (first.stack, first.buffer, first.arcs) == ((), (1, 2, 0), ())
    assert (first.costs, first.best, first.taken) == ({"SHIFT": 0}, ("SHIFT",), "SHIFT")
    assert (last.stack, last.buffer, last.arcs) == ((2,), (0,), ((2, 1),))
    assert (last.taken, last.added, last.heads) == ("LEFT", ((0, 2),), (2, 0))


@pytest.mark.parametrize("name", systems.names())
def test_every_move_with_a_cost_names_the_arcs_that_the_system_says_it_loses(name):
    system, gold = systems.load(name), trees()[2]
    states = system.start([len(gold)])
    for step in derive(system, gold, 0.5, seed=1):
        assert set(step.lost) == set(step.gained) == {m for m, c in step.costs.items() if c > 0}
        for move, arcs in step.lost.items():
            lost = system.lost(states, [[0, *gold]], [system.moves.index(move)])
            assert arcs == tuple((gold[w - 1], w) for w in np.flatnonzero(lost.arcs[0]))
            gained = step.gained[move]
            assert gained == tuple((gold[w - 1], w) for w in np.flatnonzero(lost.gained[0]))
            assert not system.exact or len(arcs) - len(gained) == step.costs[move]
        system.step(states, [system.moves.index(step.taken)])


def test_lost_arcs_of_long_sentences_are_not_named():
    system = systems.load("swap")
    for n_words in (MOST_WORDS, MOST_WORDS + 1):
        step = next(step for step in Derivation(system, range(n_words)) if any(step.costs.values()))
        is_named = n_words == MOST_WORDS
        assert ((step.lost is not None), (step.gained is not None)) == (is_named, is_named)
        assert (json.loads(json.dumps(step.to_dict()))["lost"] is not None) == is_named


@pytest.mark.parametrize(("option", "value"), [("mistakes", 1.5), ("mistakes", -0.1), ("seed", -1)])
def test_wrong_probabilities_and_seeds_are_refused(option, value):
    with pytest.raises(ValueError, match=f"{option} is {value}"):
        derive(systems.load("arc_eager"), [0], **{option: value})


# --- text and JSON -------------------------------------------------------------------------------


def test_text_shows_states_costs_moves_and_the_outcome():
    system = systems.load("arc_eager")
    lines = lines_of(Derivation(system, [2, 0]), Page(sentence_with([2, 0], ["we", "go"]), "x"))
    assert lines[0] == "sentence: 2 words, x"
    assert lines[2:] == [
        LOST_LEGEND,
        "   1  | we_1 go_2 ROOT_0",
        "      SHIFT 0*  → SHIFT",
        "   2  we_1 | go_2 ROOT_0",
        "      RIGHT 2   LEFT 0*  → LEFT, go_2 → we_1",
        "      RIGHT loses go_2 → we_1, ROOT_0 → go_2",
        "   3  | go_2 ROOT_0",
        "      SHIFT 0*  → SHIFT",
        "   4  go_2 | ROOT_0",
        "      LEFT 0*  → LEFT, ROOT_0 → go_2",
        "heads: 2 0",
        "lost arcs: 0 of 2; 0 out of reach from the start, 0 paid by moves",
    ]


def test_text_shows_mistakes_and_wrong_heads():
    system = systems.load("arc_eager")
    derivation = Derivation(system, [2, 0], mistakes=1.0)
    text = "\n".join(lines_of(derivation, Page(sentence_with([2, 0], ["we", "go"]), "x")))
    assert "→ RIGHT, costs 2, we_1 → go_2 (gold: ROOT_0)" in text
    assert "wrong: we_1 has head ROOT_0, gold: go_2\nwrong: go_2 has head we_1" in text
    assert text.endswith("lost arcs: 2 of 2; 0 out of reach from the start, 2 paid by moves")
    crossed = lines_of(Derivation(system, CROSSED), Page(sentence_with(CROSSED), "x"))[-1]
    assert crossed == "lost arcs: 1 of 4; 1 out of reach from the start, 0 paid by moves"


def test_text_shows_arcs_that_are_gained_and_shortens_long_lists():
    gold = [0, 4, 0, 1]
    derivation = Derivation(systems.load("arc_eager", single_root=False), gold, 0.5, seed=1)
    lines = lines_of(derivation, Page(sentence_with(gold, list("abcd")), "x"))
    assert "      LEFT loses ROOT_0 → a_1, a_1 → d_4, gains ROOT_0 → c_3" in lines
    star = [0, *[1] * 11]
    derivation = Derivation(systems.load("arc_eager"), star)
    whole = lines_of(derivation, Page(sentence_with(star), "x"))
    short = lines_of(derivation, Page(sentence_with(star), "x", width=60))
    longest = max((line for line in whole if " loses " in line), key=len)
    cut = short[whole.index(longest)]
    assert cut.endswith(", …")
    assert longest.startswith(cut.removesuffix("…"))
    assert columns(cut) <= 60 < columns(longest)


def test_the_legend_says_where_lost_arcs_are_not_exact_or_not_named():
    short, long = [2, 0], range(MOST_WORDS + 1)
    for name, gold, legend in (
        ("swap", short, [LOST_LEGEND, NOT_EXACT]),
        ("swap", long, [TOO_LONG]),
        ("arc_eager", short, [LOST_LEGEND]),
    ):
        lines = lines_of(Derivation(systems.load(name), gold), Page(sentence_with(gold), "x"))
        assert lines[2 : 2 + len(legend)] == legend
        assert lines[2 + len(legend)].startswith("   1  ")
        assert any(" loses " in line for line in lines) == (gold is short)


@pytest.mark.parametrize("width", [40, 60, 80])
def test_lines_are_shortened_to_the_width_and_keep_the_nearest_tokens(width):
    gold = np.array([0, *range(1, 40)])
    forms = ["的確", "naïve", "e\u0301", "word", "averyveryveryveryverylongword" * 3] * 8
    derivation = Derivation(systems.load("arc_eager"), gold, 0.3)
    page = Page(sentence_with(gold, forms), "x", width)
    lines = lines_of(derivation, page)[3:]
    states = [line for line in lines if " | " in line]
    assert max(map(columns, states)) <= width
    for step, line in zip(derivation, states, strict=True):
        stack, buffer = line[6:].split("| ") if step.stack else ("", line[6:].split("| ")[1])
        assert not step.stack or stack.split()[-1] == page.token(step.stack[-1])
        assert buffer.split()[0] == page.token(step.buffer[0])
    moves = [line for line in lines if "→" in line and " | " not in line]
    assert max(map(columns, moves)) <= max(width, 80)
    whole = lines_of(derivation, page._replace(width=0))
    assert all(f"{form}_{k}" in whole[3] for k, form in enumerate(forms, 1))


def test_control_characters_of_words_do_not_reach_the_terminal():
    page = Page(sentence_with([0], ["a\x1b[31mb"]), "x")
    assert page.token(1) == "a\ufffd[31mb_1"


def test_colour_is_used_only_if_asked_for():
    derivation = Derivation(systems.load("arc_eager"), [2, 0], mistakes=1.0)
    plain = lines_of(derivation, Page(sentence_with([2, 0]), "x"))
    painted = lines_of(derivation, Page(sentence_with([2, 0]), "x", colour=True))
    assert "\033" not in "".join(plain)
    assert any(BOLD in line for line in painted)
    assert [RED in line for line in painted] == ["costs 2" in line for line in plain]


def test_json_holds_every_step_in_full():
    system, out = systems.load("arc_eager"), io.StringIO()
    derivation = Derivation(system, CROSSED, mistakes=0.5, seed=3)
    write_json(derivation, Page(sentence_with(CROSSED, ["Žák", "b", "c", "d"]), "x", 20), out)
    assert out.getvalue().count("\n") == 1
    assert "Žák" in out.getvalue()
    read = json.loads(out.getvalue())
    assert list(read) == [
        "sent_id",
        "system",
        "moves",
        "mistakes",
        "seed",
        "forms",
        "gold",
        "steps",
        "heads",
        "wrong",
        "out_of_reach",
        "paid",
        "exact",
        "adds_up",
    ]
    assert read["gold"] == CROSSED
    for found, step in zip(read["steps"], derivation, strict=True):
        assert found == json.loads(json.dumps(step.to_dict()))
        assert list(found["costs"]) == found["legal"]
        assert set(found["best"]) <= set(found["legal"])
        assert (tuple(found["stack"]), tuple(found["buffer"])) == (step.stack, step.buffer)
        assert [tuple(arc) for arc in found["arcs"]] == list(step.arcs)
    assert read["out_of_reach"] == 1
    assert len(read["wrong"]) == read["out_of_reach"] + read["paid"]


def test_latex_is_a_table_with_a_row_per_step():
    system, out = systems.load("arc_eager"), io.StringIO()
    sentence = sentence_with([2, 0, 2], ["R&D", "50_%", "[x"])
    derivation = Derivation(system, sentence.head)
    end = write_latex(derivation, Page(sentence, "arc_eager:root=first"), out)
    assert end.adds_up
    lines = out.getvalue().splitlines()
    assert lines[0] == r"% needs \usepackage{booktabs}"
    start, *rows = lines[lines.index(r"\midrule") + 1 : lines.index(r"\bottomrule")]
    assert len(rows) + 1 == len(list(derivation))
    assert start == (
        r"1 &  & R\&D$_{1}$ 50\_\%$_{2}$ {}[x$_{3}$ ROOT$_{0}$ & \textbf{SHIFT~0} "
        r"& SHIFT &  \\"
    )
    assert r"& SHIFT~3, RIGHT~2, \textbf{LEFT~0} &" in rows[0]
    assert r"& LEFT & 50\_\%$_{2}$ $\rightarrow$ R\&D$_{1}$ \\" in rows[0]
    assert lines[-1].startswith("% lost arcs: 0 of 3")


def test_a_wrong_arc_in_latex_names_the_gold_head_and_long_states_are_shortened():
    sentence = sentence_with([2, 0, 2, 2, 2, 2])
    derivation = Derivation(systems.load("arc_eager"), sentence.head, mistakes=1.0)
    out = io.StringIO()
    write_latex(derivation, Page(sentence, "arc_eager", 12), out)
    assert r"\ldots{} &" in out.getvalue()
    assert "(gold: " in out.getvalue()


def test_latex_has_a_column_of_the_arcs_that_mistakes_lose():
    sentence, out = sentence_with([2, 0], ["we", "go"]), io.StringIO()
    derivation = Derivation(systems.load("arc_eager"), sentence.head, mistakes=1.0)
    write_latex(derivation, Page(sentence, "arc_eager"), out)
    assert r"\begin{tabular}{rrlllll}" in out.getvalue()
    assert r"& move & arc & gold arcs lost \\" in out.getvalue()
    arcs = r"go$_{2}$ $\rightarrow$ we$_{1}$, ROOT$_{0}$ $\rightarrow$ go$_{2}$"
    assert rf"& RIGHT & we$_{{1}}$ $\rightarrow$ go$_{{2}}$ (gold: ROOT$_{{0}}$) & {arcs} \\" in (
        out.getvalue()
    )


# --- command -------------------------------------------------------------------------------------


def test_a_sentence_is_chosen_by_number_or_sent_id_and_the_first_without(command, file):
    by_number = command(file, "--sentence", 3)
    assert by_number[0] == 0
    assert by_number[1].startswith(f"{DEV[2].sent_id}: {len(DEV[2])} words, arc_eager\n")
    assert command(file, "--sentence", DEV[2].sent_id) == by_number
    assert command(file)[1] == command(file, "--sentence", "1")[1] != by_number[1]
    assert command("-", "--sentence", 3, stdin=file.read_text()) == by_number


def test_a_sent_id_takes_precedence_over_a_number(command, file):
    file.write_text("\ufeff" + file.read_text().replace(DEV[4].sent_id, "2"))
    assert command(file, "--sentence", "2")[1].startswith(f"2: {len(DEV[4])} words")


def test_options_of_the_system_mistakes_and_seed_take_effect(command, file):
    options = ["--system", "arc_eager:root=first,single_root=false", "--mistakes", 0.4]
    status, out, err = command(file, *options, "--seed", 5, "--format", "json")
    assert (status, err) == (0, "")
    read = json.loads(out)
    system = systems.load("arc_eager", root="first", single_root=False)
    steps = derive(system, DEV[0].head, 0.4, 5)
    assert [step["taken"] for step in read["steps"]] == [step.taken for step in steps]
    assert read["sent_id"] == DEV[0].sent_id
    assert command(file, *options, "--seed", 5, "--format", "json")[1] == out
    assert command(file, *options, "--seed", 6, "--format", "json")[1] != out


def test_a_terminal_gets_its_width_and_colours_unless_it_wants_none(command, file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.delenv("NO_COLOR", raising=False)
    narrow, wide = command(file)[1], command(file, "--width", 0)[1]
    assert "…" in narrow
    assert "…" not in wide
    assert "\033" not in narrow + wide
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert BOLD in command(file)[1]
    assert "\033" not in command(file, "--format", "json")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert command(file)[1] == narrow


def test_only_the_chosen_sentence_has_to_be_well_formed(command, file):
    file.write_text(file.read_text() + "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    assert command(file, "--sentence", 2)[0] == 0
    status, out, err = command(file, "--sentence", len(DEV) + 1)
    assert (status, out) == (2, "")
    assert err.startswith(f"error: {file}:")


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        (["--sentence", "99"], "no sentence '99'; expected a number 1..8, or a sent_id such as"),
        (["--sentence", DEV[1].sent_id + "x"], DEV[1].sent_id + ","),
        (["--system", "nosuch"], "no system 'nosuch'"),
        (["--system", "arc_eager:no=1"], "no option 'no'"),
        (["--mistakes", "2"], "--mistakes is 2.0"),
        (["--seed", "-3"], "--seed is -3"),
        (["--width", "-1"], "--width is -1"),
    ],
)
def test_a_wrong_option_is_one_message(command, file, options, finding):
    status, out, err = command(file, *options)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert finding in err


def test_a_file_that_cannot_be_read_is_one_message(command, tmp_path):
    for path, finding in ((tmp_path / "none", "no such file"), (tmp_path, "no *.conllu in it")):
        status, out, err = command(path)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert finding in err
    assert "no sentence" in command("-", stdin="")[2]


def test_costs_that_do_not_add_up_change_the_exit_status(command, file, monkeypatch):
    class FreeMoves(ArcEager):
        """Arc-eager where every move is free."""

        def cost(self, states, gold):
            return np.zeros_like(super().cost(states, gold))

    monkeypatch.setattr(systems, "load", lambda _name: FreeMoves())
    status, out, _ = command(file, "--mistakes", 1)
    assert status == 1
    assert "DO NOT ADD UP" in out.splitlines()[-1]


def test_the_command_names_lost_arcs_in_every_format(command, file):
    options = [file, "--mistakes", 1, "--seed", 1]
    assert " loses " in command(*options)[1]
    assert "& gold arcs lost" in command(*options, "--format", "latex")[1]
    steps = json.loads(command(*options, "--format", "json")[1])["steps"]
    for step in steps:
        n_lost = {
            move: len(arcs) - len(step["gained"][move]) for move, arcs in step["lost"].items()
        }
        assert n_lost == {move: cost for move, cost in step["costs"].items() if cost}


def test_costs_of_an_own_system_that_are_not_exact_are_called_so(command, file, monkeypatch):
    class Guessed(ArcEager):
        """Arc-eager whose costs are said to be guesses: all moves but SHIFT cost two."""

        exact = False

        def cost(self, states, gold):
            guess = [0 if move == "SHIFT" else 2 for move in self.moves]
            return np.broadcast_to(guess, super().cost(states, gold).shape).astype(np.int32)

    monkeypatch.setattr(systems, "load", lambda _name: Guessed())
    status, out, err = command(file)
    assert (status, err) == (0, "")
    assert NOT_EXACT in out.splitlines()
    assert "not exact" in out.splitlines()[-1]


def test_help_has_examples(command):
    status, out, _ = command("--help")
    assert status == 0
    assert "dyparse oracle dev.conllu --sentence 7" in out


@pytest.mark.parametrize("width", [*range(1, 30), 10**6])
def test_a_line_of_any_width_is_written(width, dyparse_command, tmp_path):
    path = tmp_path / "in.conllu"
    path.write_text(sample("dev")[0].to_conllu())
    status, out, err = dyparse_command("oracle", path, "--width", width)
    assert (status, err) == (0, "")
    assert out
