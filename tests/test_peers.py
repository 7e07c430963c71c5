"""benchmarks/peers without the other parsers: the clock, the driver with a fake peer, the table."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from helpers.tiny import PROJECT, sample

PEERS = PROJECT / "benchmarks" / "peers"
sys.path.insert(0, str(PEERS))

import dyparse_itself  # noqa: E402 - the benchmark is no package
import dyparse_text  # noqa: E402
import lineup  # noqa: E402
import maltparser  # noqa: E402
import run as driver  # noqa: E402
import spacy_arc_eager  # noqa: E402
import text_table  # noqa: E402
import udpipe  # noqa: E402
import udpipe_text  # noqa: E402
from conllu_columns import read_columns, read_rows, without_tags, write_trees  # noqa: E402
from environments import InstallError, call, filled_in, python_of  # noqa: E402
from gold_words import GoldWords, plain  # noqa: E402
from measurement import CpuClock, Job, Measurement, OutOfTimeError, Row, cpu_seconds  # noqa: E402
from peer_script import environment, error_message  # noqa: E402
from raw_text import RawText, text_of  # noqa: E402
from table import HEADER, las_at, markdown  # noqa: E402

from dyparse.data.conllu import read_sentences  # noqa: E402
from dyparse.data.sentence import Sentence  # noqa: E402
from dyparse.errors import ConfigError  # noqa: E402
from dyparse.evaluation.attachment_scores import attachment_scores  # noqa: E402
from dyparse.evaluation.conll18.scores import TITLES  # noqa: E402

ROW = Row("fake", "a fake parser", "words")
SPLITS = ("train", "dev", "test")
FAKE = """
import sys
from pathlib import Path
sys.path.insert(0, {peers!r})
from measurement import Measurement, OutOfTimeError, read_job, versions

job = read_job()
with Path({calls!r}).open("a") as calls:
    calls.write(job.row + "\\n")
{before}
measurement = Measurement(job)
parse = lambda path: path.write_bytes(Path(job.test).read_bytes())
measurement.start()
try:
    while True:
        measurement.updated(100, parse)
except OutOfTimeError:
    measurement.out_of_time()
Path(job.directory, "model").write_bytes(b"12345")
measurement.parsed(parse, {{"conllu": lambda: parse(Path(job.directory, "timed"))}})
measurement.finish(Path(job.directory, "model"), versions("pip"))
"""


class ManualClock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def job_in(directory: Path, **changed: object) -> Job:
    fields: dict[str, object] = {
        "row": "fake",
        "options": {},
        "train_words": 1000,
        "test_words": 50,
        "directory": str(directory),
        "minutes": 10.0,
        "moments": [1.0, 5.0],
        "parse_seconds": 6.0,
        "seed": 1,
    }
    fields |= {split: str(directory / f"{split}.conllu") for split in ("train", "dev", "test")}
    return Job(**(fields | changed))


def result(row: str, speed: float, **changed: object) -> dict[str, object]:
    made: dict[str, object] = {
        "row": row,
        "title": f"the {row}",
        "reads": "words",
        "training_words": 100 * speed,
        "training_seconds": 100.0,
        "startup_seconds": 2.0,
        "snapshots": [{"minutes": 1.0, "cpu_seconds": 60.5, "las": 70.0}],
        "end": {"cpu_seconds": 240.0, "reason": "all epochs", "las": 80.0, "complete": True},
        "parsing": {"conllu": 10 * speed, "memory": 20 * speed},
        "model_bytes": 2_000_000,
        "peak_bytes": 300_000_000,
        "versions": {"it": "1.0"},
    }
    return made | changed


def cells(text: str, line: int) -> dict[str, str]:
    """A line of a table, by the names of the columns; line 0 is the first parser."""
    return dict(zip(HEADER, text.split("\n")[line + 2][2:-2].split(" | "), strict=True))


# --- the clock and the measurement ---------------------------------------------------------------


def test_the_clock_excludes_pauses_and_nested_ones_once():
    now = ManualClock()
    clock = CpuClock(now)
    now.time += 5
    with clock.paused():
        now.time += 7
        with clock.paused():
            now.time += 11
        assert clock.seconds() == 5
        now.time += 1
    now.time += 2
    assert clock.seconds() == 7


def test_the_clock_continues_after_an_error_in_a_pause():
    now = ManualClock()
    clock = CpuClock(now)

    def fail() -> None:
        with clock.paused():
            now.time += 7
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    now.time += 2
    assert clock.seconds() == 2


def test_cpu_seconds_count_work():
    start = cpu_seconds()
    while cpu_seconds() < start + 0.02:
        sum(range(10_000))
    assert cpu_seconds() - start < 5


def test_test_is_parsed_at_the_moments_off_the_clock(tmp_path):
    now = ManualClock()
    measurement = Measurement(job_in(tmp_path), now)

    def parse(path: Path) -> None:
        now.time += 1000  # slow, but not counted
        path.write_text("trees")

    def train() -> None:
        while True:
            now.time += 40
            measurement.updated(10, parse)

    measurement.start()
    with pytest.raises(OutOfTimeError):
        train()
    measurement.out_of_time()
    taken = [(s["minutes"], s["cpu_seconds"], s["trees"]) for s in measurement.snapshots]
    assert taken == [(1, 80, "after-1-minutes.conllu"), (5, 320, "after-5-minutes.conllu")]
    end = measurement.measured["end"]
    assert (end["cpu_seconds"], end["complete"]) == (600, False)
    assert measurement.measured["training_words"] == 150


def test_a_long_update_may_pass_several_moments_but_parses_once(tmp_path):
    now, parsed = ManualClock(), []
    measurement = Measurement(job_in(tmp_path), now)
    measurement.start()
    now.time += 500
    measurement.updated(10, lambda path: parsed.append(path.write_text("trees")))
    assert [s["minutes"] for s in measurement.snapshots] == [1, 5]
    assert len(parsed) == 1
    assert (tmp_path / "after-5-minutes.conllu").read_text() == "trees"


@pytest.mark.parametrize(("seconds", "speed"), [(9, 50 / 9), (2, 50 / 2)])
def test_the_speed_of_parsing_is_that_of_warm_passes_or_of_one_long_pass(tmp_path, seconds, speed):
    now, passes = ManualClock(), []

    def action() -> None:
        now.time += seconds if passes or seconds > 6 else 5  # the first pass is slower
        passes.append(1)

    assert Measurement(job_in(tmp_path), now).speed(action) == pytest.approx(speed)
    assert len(passes) == (1 if seconds > 6 else 4)


# --- inputs and outputs of peers -----------------------------------------------------------------


def three_words() -> Sentence:
    tree = [(3, "det"), (3, "amod"), (0, "root")]
    bare = Sentence.from_words(["the", "old", "dog"], upos=["DET", "ADJ", "NOUN"])
    return bare.with_tree([h for h, _ in tree], [r for _, r in tree])


def test_test_data_give_nothing_of_the_gold_tree_away(tmp_path):
    gold = sample("test")
    path = tmp_path / "test.conllu"
    path.write_text("".join(plain(s, tree=False) for s in gold), encoding="utf-8")
    seen = read_columns(path)
    assert [s.form for s in seen] == [s.form for s in gold]
    assert [s.upos for s in seen] == [s.upos for s in gold]
    assert {tuple(s.head) for s in seen} == {tuple(range(len(s))) for s in gold}
    assert {r for s in seen for r in s.label} == {"root", "dep"}
    columns = [line.split("\t") for line in path.read_text().split("\n") if line]
    assert {(c[8], c[9]) for c in columns} == {("_", "_")}


def test_training_data_have_words_and_their_trees_only(tmp_path):
    lines = ["# text = x\n", "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n"]
    lines += ["1\tde\tde\tADP\tE\t_\t2\tcase\t2:case\tA=b\n"]
    lines += ["2\tle\tle\tDET\tD\tG=m\t0\troot\t_\t_\n", "2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n", "\n"]
    path = tmp_path / "in.conllu"
    path.write_text("".join(lines), encoding="utf-8")
    (sentence,) = read_sentences(str(path), trees=True)
    expected = "1\tde\tde\tADP\tE\t_\t2\tcase\t_\t_\n2\tle\tle\tDET\tD\tG=m\t0\troot\t_\t_\n\n"
    assert plain(sentence, tree=True) == expected


def test_trees_are_written_and_scored_as_dyparse_scores_them(tmp_path):
    gold = sample("test")
    source, trees = tmp_path / "test.conllu", tmp_path / "trees.conllu"
    source.write_text("".join(plain(s, tree=False) for s in gold), encoding="utf-8")
    guesses = [s.with_tree([0] * len(s), s.label) for s in gold]  # many roots, no tree
    write_trees(source, trees, guesses)
    scores = attachment_scores(gold, guesses)
    assert GoldWords().scores(gold, trees) == {"uas": scores.uas, "las": scores.las}
    assert 0 < scores.las < 50


def test_trees_of_other_words_are_not_scored(tmp_path):
    path = tmp_path / "trees.conllu"
    path.write_text(plain(three_words(), tree=False), encoding="utf-8")
    with pytest.raises(driver.RunError, match="other words than test"):
        GoldWords().scores(sample("test"), path)


def test_files_without_tags_have_the_same_words_and_trees_only(tmp_path):
    GoldWords().write_inputs({split: sample(split)[:2] for split in SPLITS}, tmp_path)
    job = job_in(tmp_path)
    for upos in ("_", "form"):
        untagged = without_tags(job, (lambda form: form) if upos == "form" else (lambda _: "_"))
        for split in SPLITS:
            before, after = (
                [row for rows in read_rows(Path(getattr(of, split))) for row in rows]
                for of in (job, untagged)
            )
            assert [r[:2] + r[6:] for r in after] == [r[:2] + r[6:] for r in before]
            forms = [row[1] if upos == "form" else "_" for row in before]
            assert [row[2:6] for row in after] == [["_", form, "_", "_"] for form in forms]


def test_every_parser_has_lines_with_and_without_tags():
    for peer in driver.PEERS.values():
        assert {"UPOS" in row.reads for row in peer.rows} == {True, False}, peer.name


def test_a_line_of_dyparse_says_what_its_model_reads():
    default, gold_tags = dyparse_itself.rows(["default", "gold_tags"])
    assert default.reads == "words, subwords, characters"
    assert gold_tags.reads == "words, subwords, UPOS"
    options = ["encoder.pretrained=DIR", "encoder.features=[subword,upos]"]
    (frozen,) = dyparse_itself.rows([" ".join(["frozen", *options])])
    assert (frozen.name, frozen.reads) == ("dyparse-frozen", "subwords, UPOS")
    assert frozen.options == {"overrides": ["experiment=frozen", *options]}


def test_udpipe_without_tags_does_not_read_them(tmp_path):
    ufal = pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    files = GoldWords().write_inputs({split: sample(split)[:10] for split in SPLITS}, tmp_path)
    (line,) = (row for row in udpipe.ROWS if row.name == "udpipe-static-no-tags")
    job = job_in(tmp_path, options=line.options)
    train = udpipe.read(ufal, files["train"].read_text(encoding="utf-8"))
    model, _ = udpipe.Trainings(ufal, train, job).take(1)
    trees = []
    for name, given in (("tags", job), ("none", without_tags(job))):
        udpipe.parse_file(ufal, model, given, "", tmp_path / name)
        trees.append([(s.head, s.label) for s in read_columns(tmp_path / name)])
    assert trees[0] == trees[1]


def test_peak_memory_is_that_of_the_largest_process():
    child = "bytes(range(1, 251)) * 800_000"  # 200 MB
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])\n"
    script += f"sys.path.insert(0, {str(PEERS)!r})\nimport measurement\n"
    script += "sys.stdout.write(str(measurement.peak_bytes()))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert 200_000_000 < int(done.stdout) < 400_000_000


# --- MaltParser ----------------------------------------------------------------------------------

JAVA = """#!{python}
import sys
from pathlib import Path

def value(flag):
    return sys.argv[sys.argv.index(flag) + 1]

if "-version" in sys.argv:
    sys.exit(print('openjdk version "17.0.1" 2021-10-19', file=sys.stderr))
with Path(value("-w"), "calls").open("a") as calls:
    calls.write(" ".join(sys.argv[sys.argv.index("-m") :]) + "\\n")
if value("-m") == "learn":
    Path(value("-w"), "model.mco").write_bytes(b"12345")
else:
    Path(value("-o")).write_bytes(Path(value("-i")).read_bytes())
"""


@pytest.fixture
def malt_job(tmp_path, monkeypatch):
    """A job, which is also the one on the command line; Java is a script that copies test."""
    GoldWords().write_inputs({split: sample(split)[:2] for split in SPLITS}, tmp_path)
    job = job_in(tmp_path, options=maltparser.ROWS[-1].options, parse_seconds=0.001)
    job.save(tmp_path / "job.json")
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text(JAVA.format(python=sys.executable))
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(java.parent))
    monkeypatch.setattr(sys, "argv", ["maltparser.py", str(tmp_path / "job.json")])
    monkeypatch.setattr(maltparser, "distribution", lambda _: Namespace(locate_file=Path))
    return job


def test_maltparser_trains_once_and_parses_test_with_words_for_tags(tmp_path, malt_job):
    maltparser.main()
    learn, *parses = (tmp_path / "calls").read_text().splitlines()
    train, test = (tmp_path / f"{split}-no-tags.conllu" for split in ("train", "test"))
    options = "-if conllu -a 2planar -l liblinear -grl root"
    assert learn == f"-m learn -w {tmp_path} -c model -i {train} {options}"
    end = tmp_path / "end.conllu"
    assert parses[0] == f"-m parse -w {tmp_path} -c model -i {test} -o {end}"
    assert [s.upos for s in read_columns(end)] == [s.form for s in sample("test")[:2]]
    measured = json.loads((tmp_path / "measured.json").read_text())
    assert (measured["snapshots"], measured["end"]["complete"]) == ([], True)
    assert measured["training_words"] == malt_job.train_words
    assert (measured["model_bytes"], measured["parsing"]["conllu"] > 0) == (5, True)
    assert measured["versions"] == {"MaltParser": "1.9.2", "Java": "17.0.1"}


@pytest.mark.usefixtures("malt_job")
def test_without_java_there_is_a_clear_error(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="MaltParser needs Java"):
        maltparser.main()


def test_the_error_of_maltparser_is_its_message_without_heading_and_frames():
    heading = "-----\n          MaltParser 1.9.2  \n-----\n"
    message = "The input file cannot be found. "
    program = (
        f"import sys; sys.stderr.write({heading + message!r} + '\\n\\tat x.y\\n'); sys.exit(1)"
    )
    with pytest.raises(RuntimeError, match=r"^The input file cannot be found\.$"):
        maltparser.output_of([sys.executable, "-c", program])


# --- the driver ----------------------------------------------------------------------------------


@pytest.fixture
def treebank(tmp_path):
    directory = tmp_path / "ud" / "UD_Fake-Tiny"
    directory.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        text = "".join(s.to_conllu() for s in sample(split)[:5])
        (directory / f"x-ud-{split}.conllu").write_text(text, encoding="utf-8")
    return tmp_path / "ud"


@pytest.fixture
def options(tmp_path, treebank):
    return Namespace(
        root=str(treebank),
        name="UD_Fake-Tiny",
        task="words",
        output=tmp_path / "out" / "all.json",
        environments=tmp_path / "environments",
        minutes=0.001,
        core=None,
        parse_seconds=0.001,
        seed=1,
    )


def fake_peer(tmp_path: Path, before: str = "") -> driver.Peer:
    script = tmp_path / "fake.py"
    calls = str(tmp_path / "calls")
    script.write_text(FAKE.format(peers=str(PEERS), calls=calls, before=before), encoding="utf-8")
    return driver.Peer("fake", script, (), (ROW,))


def test_the_result_of_a_peer_is_scored_and_saved(tmp_path, options):
    found = driver.Run(options).result(fake_peer(tmp_path), ROW)
    assert json.loads((tmp_path / "out" / "all" / "fake.json").read_text()) == found
    gold = sample("test")[:5]
    chains = [s.with_tree(range(len(s)), ["root"] + ["dep"] * (len(s) - 1)) for s in gold]
    assert found["end"]["uas"] == attachment_scores(gold, chains).uas
    assert found["end"]["reason"] == "stopped after 0.001 CPU minutes"
    assert found["training_words"] >= 100
    assert found["parsing"]["conllu"] > 0
    assert found["model_bytes"] == 5
    assert 1_000_000 < found["peak_bytes"] < 500_000_000


def test_a_saved_result_is_not_measured_again(tmp_path, options):
    peer = fake_peer(tmp_path)
    first = driver.Run(options).result(peer, ROW)
    assert driver.Run(options).result(peer, ROW) == first
    assert (tmp_path / "calls").read_text() == "fake\n"


def test_a_result_with_other_options_is_not_reused(tmp_path, options):
    peer = fake_peer(tmp_path)
    driver.Run(options).result(peer, ROW)
    options.minutes = 0.002
    with pytest.raises(ConfigError, match="other options"):
        driver.Run(options).result(peer, ROW)


def test_the_failure_of_a_peer_is_recorded_and_tried_again(tmp_path, options):
    broken = fake_peer(tmp_path, before="raise ValueError('no such parser')")
    failed = driver.Run(options).result(broken, ROW)
    assert failed["failed"] == "exit status 1: ValueError: no such parser"
    assert "no such parser" in markdown([failed])
    assert "failed" not in driver.Run(options).result(fake_peer(tmp_path), ROW)


def test_a_failed_installation_of_a_peer_is_recorded(tmp_path, options, monkeypatch):
    def fail(*_: object) -> None:
        raise InstallError("pip install fake: no such package")

    monkeypatch.setattr(driver, "python_of", fail)
    failed = driver.Run(options).result(fake_peer(tmp_path), ROW)
    assert failed["failed"] == "pip install fake: no such package"


@pytest.mark.parametrize(
    ("log", "message"),
    [
        ("", "no message"),
        ("reading\nkilled\n\n", "killed"),
        ("Traceback (most recent call last):\n  File x\nE: no\nmore\n", "E: no"),
        (
            "a\nTraceback (most recent call last):\n  File x\nE: one\n\nthen\n"
            "Traceback (most recent call last):\n  File y\n    f()\nx.F: two\n\tsee\n",
            "x.F: two",
        ),
    ],
)
def test_the_error_message_is_that_of_the_last_traceback(log, message):
    assert error_message(log) == message


def test_scripts_run_with_one_thread():
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    assert {environment()[name] for name in names} == {"1"}


def test_the_output_is_a_json_file(options):
    options.output = options.output.with_suffix("")
    with pytest.raises(ConfigError, match=r"ends in \.json"):
        driver.Run(options)


def test_every_line_has_its_own_name_and_every_experiment_a_line():
    rows = [row for peer in driver.PEERS.values() for row in peer.rows]
    rows += dyparse_itself.rows(["default", "fast"])
    assert len({row.name for row in rows}) == len({row.title for row in rows}) == len(rows)
    assert [row.options["overrides"] for row in rows[-2:]] == [[], ["experiment=fast"]]


def test_lines_are_chosen_by_name():
    peers = list(driver.PEERS.values())
    assert [row.name for _, row in driver.chosen(peers, ["uuparser", "spacy"])] == [
        "spacy",
        "uuparser",
    ]
    assert len(driver.chosen(peers, None)) == sum(len(peer.rows) for peer in peers)
    with pytest.raises(ConfigError, match="--rows has nothing; expected any of udpipe-static, "):
        driver.chosen(peers, ["nothing", "spacy"])


def test_spacy_is_trained_and_parses_test(options, treebank):
    pytest.importorskip("spacy", reason="spaCy is not installed")
    text = "".join(s.to_conllu() for s in sample("train")[:300])  # it drops labels that are rare
    (treebank / "UD_Fake-Tiny" / "x-ud-train.conllu").write_text(text, encoding="utf-8")
    line = spacy_arc_eager.ROWS[0]
    peer = driver.Peer("spacy", PEERS / "spacy_arc_eager.py", (), (line,))
    found = driver.Run(options).result(peer, line)
    assert "failed" not in found, found
    assert found["training_words"] > 0


# --- environments --------------------------------------------------------------------------------


def test_dyparse_runs_where_the_driver_runs(tmp_path):
    assert python_of("dyparse", (), tmp_path) == Path(sys.executable)


def test_peers_use_our_version_of_torch():
    import torch

    ((step,),) = filled_in((("torch=={torch}",),))
    assert step == f"torch=={torch.__version__.split('+')[0]}"


def test_an_environment_is_created_once(tmp_path, monkeypatch):
    calls: list[list[str]] = []

    def pretend(command: list[str]) -> None:
        calls.append(command)
        (tmp_path / "peer").mkdir(exist_ok=True)

    monkeypatch.setattr("environments.call", pretend)
    for _ in range(2):
        assert python_of("peer", (("a==1", "b"),), tmp_path) == tmp_path / "peer/bin/python"
    assert [command[1:4] for command in calls] == [
        ["-m", "venv", calls[0][3]],
        ["-m", "pip", "install"],
    ]
    python_of("peer", (("a==2", "b"),), tmp_path)
    assert calls[-1][-2:] == ["a==2", "b"]
    assert len(calls) == 4


def test_a_failed_command_is_an_error_with_its_last_line():
    with pytest.raises(InstallError, match="no such package"):
        call([sys.executable, "-c", "import sys; sys.exit('no such package')"])


# --- the table -----------------------------------------------------------------------------------


def test_ratios_are_relative_to_the_first_dyparse_line():
    text = markdown([result("dyparse-default", 4000), result("other", 1000)])
    other = cells(text, 1)
    assert other["training, words/s (ratio)"] == "1,000 (0.25)"
    assert other["parsing CoNLL-U, words/s (ratio)"] == "10,000 (0.25)"
    assert other["parsing in memory, words/s (ratio)"] == "20,000 (0.25)"
    assert (other["model, MB"], other["peak, MB"]) == ("2", "300")
    assert cells(text, 0)["training, words/s (ratio)"] == "4,000 (1)"


def test_without_dyparse_there_are_no_ratios():
    failed = {"row": "dyparse-default", "title": "dyparse", "reads": "words", "failed": "a | b"}
    text = markdown([failed, result("other", 1000)])
    assert "failed: a \\| b" in text
    assert cells(text, 1)["training, words/s (ratio)"] == "1,000"


def test_las_after_the_end_is_that_of_the_end_if_training_was_complete():
    found = result("other", 1000)
    assert [las_at(found, moment) for moment in (1.0, 5.0, 10.0)] == ["70.00", "80.00", "80.00"]
    found["end"] = found["end"] | {"complete": False}
    assert [las_at(found, moment) for moment in (1.0, 5.0, 10.0)] == ["70.00", "", ""]


def test_a_late_las_is_followed_by_its_minutes():
    late = [{"minutes": 1.0, "cpu_seconds": 90.0, "las": 60.0}]
    assert las_at(result("other", 1000, snapshots=late), 1.0) == "60.00 (1.5)"


def test_another_decoding_gets_its_own_line():
    others = [{"name": "greedy", "las": 75.0, "parsing": {"conllu": 50_000.0}}]
    text = markdown([result("dyparse-default", 4000), result("other", 1000, others=others)])
    greedy = cells(text, 2)
    assert greedy["parser"] == "the same model, greedy"
    assert greedy["LAS, end (CPU min)"] == "75.00"
    assert greedy["parsing CoNLL-U, words/s (ratio)"] == "50,000 (1.2)"


# --- raw text ------------------------------------------------------------------------------------


def read_text(text: str) -> list[Sentence]:
    return list(read_sentences(io.StringIO(text), trees=True))


def row(number: int | str, form: str, misc: str = "_") -> str:
    head, label = (0, "root") if number == 1 else (1, "dep")
    tree = "_\t_" if isinstance(number, str) else f"{head}\t{label}"
    return f"{number}\t{form}\t_\t_\t_\t_\t{tree}\t_\t{misc}\n"


def test_text_has_the_spaces_and_paragraphs_of_the_treebank():
    sentences = (
        "# newdoc id = a\n# newpar\n# text = Du pain.\n",
        row("1-2", "Du"),
        *(row(1, "De", "SpaceAfter=No"), row(2, "le"), row(3, "pain", "SpaceAfter=No")),
        row(4, ".") + "\n",
        *(row(1, "Et"), row("2-3", "du", "SpaceAfter=No"), row(2, "de"), row(3, "le") + "\n"),
        row(1, "!", "A=b|SpaceAfter=No") + "\n",
        "# newpar id = 2\n" + row(1, "Oui", "SpaceAfter=No") + "\n",
        row(1, "!") + "\n",
    )
    assert text_of(read_text("".join(sentences))) == "Du pain. Et du!\n\nOui!\n"


def test_parsers_of_text_get_whole_train_and_dev_but_of_test_the_text_only(tmp_path):
    splits = {split: sample(split)[:5] for split in ("train", "dev", "test")}
    files = RawText().write_inputs(splits, tmp_path)
    assert files["train"].read_text() == "".join(s.to_conllu() for s in splits["train"])
    assert files["test"].name == "test.txt"
    assert files["test"].read_text() == text_of(splits["test"])


def test_scores_from_text_are_those_of_conll_2018(tmp_path):
    gold, path = sample("test")[:5], tmp_path / "parsed.conllu"
    joined = gold[0].with_columns({"upos": ["X"] * len(gold[0])})
    path.write_text("".join(s.to_conllu() for s in (joined, *gold[1:])), encoding="utf-8")
    found = RawText().scores(gold, path)["conll18"]
    assert (found["words"], found["lemmas"], found["las"]) == (100, 100, 100)
    assert 0 < found["upos"] < 100
    path.write_text(row(1, "other") + "\n", encoding="utf-8")
    with pytest.raises(driver.RunError, match="the gold text is"):
        RawText().scores(gold, path)


def test_options_of_udpipe_can_be_set_and_a_quick_run_has_one_iteration():
    def options_of(*arguments: str) -> dict[str, object]:
        given = ["--root", "ud", "--output", "o.json", "--task", "text", *arguments]
        peers = lineup.text_peers(driver.command_line().parse_args(given))
        return {row.name: row.options for peer in peers for row in peer.rows}

    assert options_of() == {"udpipe-text": {**udpipe_text.PARTS, "heldout": False}}
    changed = options_of("--quick", "--udpipe-parser", "iterations=3;use_gold_tags=1")
    expected = {**udpipe_text.QUICK, "parser": "iterations=3;use_gold_tags=1", "heldout": False}
    assert changed == {"udpipe-text": expected}
    assert list(options_of("--models", "a", "b", "--dyparse", "fast", "--peers", "spacy")) == [
        "dyparse-text-fast",
        "dyparse-model-1",
        "dyparse-model-2",
    ]


def test_a_model_parses_the_text_of_test_and_is_scored(options, model_directory):
    options.task = "text"
    (line,) = dyparse_text.rows([], [model_directory])
    peer = driver.Peer("dyparse", PEERS / "dyparse_text.py", (), (line,))
    found = driver.Run(options).result(peer, line)
    assert "failed" not in found, found
    assert found["end"]["conll18"]["words"] > 50
    assert found["parsing"]["text"] > 0
    assert found["end"]["reason"].startswith("trained before")
    assert f"| dyparse, {model_directory} |" in text_table.markdown([found])


def test_udpipe_is_trained_from_scratch_and_parses_text_greedily_and_with_a_beam(options):
    pytest.importorskip("ufal.udpipe", reason="ufal.udpipe is not installed")
    options.task = "text"
    (line,) = udpipe_text.rows(udpipe_text.QUICK, heldout=True)
    peer = driver.Peer("udpipe", PEERS / "udpipe_text.py", (), (line,))
    found = driver.Run(options).result(peer, line)
    assert "failed" not in found, found
    assert found["end"]["cpu_seconds"] > 0
    assert [other["name"] for other in found["others"]] == ["beam 5"]


def test_the_table_of_text_has_all_scores_and_a_line_for_the_beam():
    scores = dict.fromkeys(TITLES, 50.0) | {"blex": 12.345}
    end = {"cpu_seconds": 1700.0, "reason": "all iterations", "conll18": scores}
    others = [{"name": "beam 5", "conll18": scores | {"las": 60.0}, "parsing": {"text": 4000.0}}]
    found = result("udpipe-text", 1, end=end, others=others, parsing={"text": 6450.0})
    failed = {"row": "x", "title": "broken", "reads": "text", "failed": "a | b"}
    text = text_table.markdown([found, failed])
    header, _, first, beam, broken = text.split("\n")[:5]
    assert header.split(" | ")[1:14] == list(TITLES.values())
    assert first.split(" | ")[13:16] == ["12.35", "1,700", "6,450"]
    assert beam.startswith("| the same model, beam 5 |")
    assert (beam.split(" | ")[10], beam.split(" | ")[15]) == ("60.00", "4,000")
    assert "failed: a \\| b" in broken
    assert "- the udpipe-text (words): all iterations; it 1.0" in text
