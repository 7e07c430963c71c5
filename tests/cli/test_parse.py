"""The `dyparse` command, mostly in this process: `main` is what the script calls."""

import contextlib
import functools
import io
import re
import subprocess
import sys
import tarfile
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import conllu
import pytest
from helpers.tiny import PROJECT, sample

import dyparse
from dyparse.cli.main import main
from dyparse.data.conllu import read_sentences
from dyparse.data.sentence import Sentence

DEV = sample("dev")[:12]
TEXT = "".join(s.to_conllu() for s in DEV)


@pytest.fixture
def command(capfdbinary, monkeypatch):
    """command(*arguments, stdin=…) → (exit status, standard output, standard error)."""

    def call(*arguments, stdin=b""):
        stream = io.TextIOWrapper(io.BytesIO(stdin), encoding="ascii")
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdin", stream)
            try:
                status = main([str(argument) for argument in arguments])
            except SystemExit as stop:
                status = stop.code
        out, err = capfdbinary.readouterr()
        return status or 0, out.decode(), err.decode()

    return call


@pytest.fixture
def file(tmp_path):
    """file(name, text) → the path of a file with this text."""

    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


def without_tree(text):
    """CoNLL-U with columns 7 and 8 of words left out."""
    lines = []
    for line in text.splitlines(keepends=True):
        columns = line.split("\t")
        is_word = len(columns) == 10 and columns[0].isdigit()
        lines.append("\t".join(columns[:6] + columns[8:]) if is_word else line)
    return lines


def expected(parser, sentences):
    return "".join(s.to_conllu() for s in parser.parse(sentences))


def assert_one_message(result, *findings):
    """Exit status 2, and nothing but one message on standard error."""
    status, out, err = result
    assert status == 2
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for finding in findings:
        assert str(finding) in err


def test_a_file_is_parsed_and_only_heads_and_relations_change(
    command, file, parser, model_directory, tmp_path
):
    path = file("in.conllu", TEXT)
    status, out, err = command("parse", model_directory, path)
    assert (status, err) == (0, "")
    assert out == expected(parser, DEV)
    assert without_tree(out) == without_tree(TEXT)
    assert out != TEXT
    result = file("out.conllu", out)
    status, report, _ = command("check", result)
    assert status == 0
    assert f"{len(DEV)} sentences" in report
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.conllu", "out.conllu"]


def test_several_files_are_parsed_in_order_also_without_final_newlines(
    command, file, parser, model_directory
):
    one, two = "".join(s.to_conllu() for s in DEV[:5]), "".join(s.to_conllu() for s in DEV[5:])
    paths = [
        file("a.conllu", one.rstrip("\n")),
        file("b.conllu", two.rstrip("\n") + "\n"),
        file("c.conllu", one),
    ]
    status, out, _ = command("parse", model_directory, *paths)
    assert status == 0
    assert out == expected(parser, [*DEV, *DEV[:5]])


@pytest.mark.parametrize("arguments", [[], ["-"]])
def test_standard_input_is_read_as_utf8_whatever_the_locale(
    command, parser, model_directory, arguments
):
    sentence = Sentence.from_words(["Žák", "的", "sleeps"], upos=["PROPN", "X", "VERB"])
    status, out, err = command(
        "parse", model_directory, *arguments, stdin=sentence.to_conllu().encode()
    )
    assert (status, err) == (0, "")
    assert out == expected(parser, [sentence])


def test_line_ends_comments_ranges_and_byte_order_marks_stay(command, file, model_directory):
    words = "1\tVamos\t_\tVERB\t_\t_\t_\t_\t_\t_\n2\tnos\t_\tPRON\t_\t_\tx\ty\tz\tA=B\n"
    odd = f"\ufeff# free\n# free\n1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_\n{words}2.1\te" + "\t_" * 8
    text = (odd + "\n\n\n# second\n1\ta\t_\tX\t_\t_\t7\tdep\t_\t_\n").replace("\n", "\r\n")
    status, out, _ = command("parse", model_directory, file("odd.conllu", text))
    assert status == 0
    assert without_tree(out) == without_tree(text)
    assert "\t7\tdep" not in out


def test_garbage_in_head_deprel_and_deps_is_no_matter(command, file, parser, model_directory):
    lines = []
    for number, line in enumerate(TEXT.splitlines(keepends=True)):
        columns = line.split("\t")
        if len(columns) == 10 and columns[0].isdigit():
            columns[6:9] = ["-5", "99", "head", "_"][number % 4], "?!", "1:a|0:b|x"
        lines.append("\t".join(columns))
    status, out, _ = command("parse", model_directory, file("garbage.conllu", "".join(lines)))
    assert status == 0
    heads = [s.head for s in parser.parse(DEV)]
    parsed = conllu.parse(out.replace("1:a|0:b|x", "_"))
    found = [[t["head"] for t in s if isinstance(t["id"], int)] for s in parsed]
    assert found == heads


def test_output_goes_to_a_file_that_appears_whole(command, file, parser, model_directory, tmp_path):
    path, out = file("in.conllu", TEXT), tmp_path / "out.conllu"
    out.write_text("old")
    assert command("parse", model_directory, path, "-o", out) == (0, "", "")
    assert out.read_text() == expected(parser, DEV)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.conllu", "out.conllu"]


@pytest.mark.parametrize("old", [None, "old"])
def test_an_error_leaves_no_output_and_the_old_file(command, file, model_directory, tmp_path, old):
    broken = TEXT * 150 + "1\tonly three\tcolumns\n\n"  # an error long after the beginning
    path, out = file("in.conllu", broken), tmp_path / "out.conllu"
    if old:
        out.write_text(old)
    result = command("parse", model_directory, path, "--output", out)
    assert_one_message(result, f"{path}:{TEXT.count(chr(10)) * 150 + 1}: ")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.conllu"] + ["out.conllu"] * bool(old)
    assert not old or out.read_text() == old


def test_text_is_one_sentence_per_line_and_blank_lines_are_skipped(
    command, file, parser, model_directory
):
    lines = ["The dog sleeps.", "", "  \t ", "Žák's here, isn't he?", "Yes"]
    path = file("in.txt", "\ufeff" + "\r\n".join(lines))
    status, out, err = command("parse", model_directory, path, "--text")
    assert status == 0
    assert "UPOS" in err  # the model reads tags, text has none
    assert err.count("warning") == 1
    parsed = conllu.parse(out)
    assert [s.metadata["text"] for s in parsed] == [line for line in lines if line.strip()]
    assert out == expected(parser, [line for line in lines if line.strip()])
    assert command("parse", model_directory, "--text", stdin=path.read_bytes())[1] == out


def test_options_may_stand_before_between_and_behind_files(
    command, file, parser, model_directory, tmp_path
):
    one, two = (file(name, DEV[k].to_conllu()) for k, name in enumerate(("a", "b")))
    out = tmp_path / "out"
    wanted = expected(parser, DEV[:2])
    for arguments in (
        ["-o", out, model_directory, one, two],
        [model_directory, "-o", out, one, two],
        [model_directory, one, "-o", out, two],
        [model_directory, one, two, "-o", out],
    ):
        assert command("parse", *arguments) == (0, "", "")
        assert out.read_text() == wanted
        out.unlink()
    assert command("parse", model_directory, "--threads", "1", "-", stdin=one.read_bytes())[0] == 0
    assert command("check", one, "--limit", "3", two)[1].count("sound") == 2
    for wrong in (["parse", model_directory, one, "--nosuch"], ["download", "UD_A-B", "more"]):
        status, _, err = command(*wrong)
        assert status == 2
        assert "unrecognized arguments" in err


def test_text_without_any_sentence_gives_nothing(command, file, model_directory):
    assert command("parse", "--text", model_directory, file("in.txt", "\n\n  \n"))[:2] == (0, "")
    assert command("parse", model_directory, "--text")[:2] == (0, "")


def test_a_long_sentence_is_parsed(command, file, model_directory):
    sentence = Sentence.from_words(["word"] * 3000)
    status, out, _ = command("parse", model_directory, file("long.conllu", sentence.to_conllu()))
    assert status == 0
    assert out.count("\n") == 3001


def test_what_cannot_be_read_is_one_message(command, file, model_directory, tmp_path):
    good, none = file("good.conllu", TEXT), tmp_path / "none"
    assert_one_message(command("parse", none, good), none, "no such model directory")
    assert_one_message(command("parse", tmp_path, good), "config.yaml")
    assert_one_message(command("parse", model_directory, none), none)
    assert_one_message(command("parse", model_directory, none, "--text"), none)
    assert_one_message(command("parse", model_directory, tmp_path), tmp_path, "directory")
    assert_one_message(command("parse", model_directory, file("empty", "")), "no sentence")
    assert_one_message(command("parse", model_directory, file("x", "1\ta\n")), "x:1: ")
    assert_one_message(command("parse", model_directory, file("y", b"1\t\xff\n")), "y:1: ")
    latin = file("latin.txt", b"na\xefve\n")
    assert_one_message(command("parse", model_directory, latin, "--text"), "latin.txt:1: ", "UTF-8")
    into = tmp_path / "no" / "where"
    wrong = command("parse", model_directory, good, "-o", into)
    assert_one_message(wrong, into.parent, "no such directory")


@pytest.mark.parametrize(
    ("option", "value", "finding"),
    [
        ("--max-tokens-per-batch", "0", "--max-tokens-per-batch is 0"),
        ("--threads", "0", "threads is 0"),
        ("--device", "nosuch", "device is 'nosuch'"),
    ],
)
def test_a_wrong_option_is_one_message(command, model_directory, option, value, finding):
    assert_one_message(command("parse", model_directory, option, value), finding)


@pytest.mark.parametrize(
    "arguments",
    [[], ["nosuch"], ["parse"], ["parse", "m", "--threads", "x"], ["check"], ["download"]],
)
def test_a_wrong_command_line_shows_the_usage(command, arguments):
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert "usage: dyparse" in err


@pytest.mark.parametrize("name", ["", "parse", "check", "download"])
def test_every_command_has_help(command, name):
    status, out, err = command(*name.split(), "--help")
    assert (status, err) == (0, "")
    assert f"usage: dyparse {name}".strip() in out
    for word in ("parse", "check", "download") if not name else ("--help",):
        assert word in out


def test_the_version_is_told(command):
    assert command("--version") == (0, f"dyparse {dyparse.__version__}\n", "")


def test_check_says_sound_or_what_is_wrong_by_its_exit_status(command, file):
    good = file("good.conllu", TEXT)
    bad = file("bad.conllu", TEXT.replace("\t0\troot", "\t1\troot"))
    status, out, err = command("check", good)
    assert (status, err) == (0, "")
    assert out.startswith(f"{good}: sound; {len(DEV)} sentences")
    status, out, _ = command("check", good, bad, "--limit", "2")
    assert status == 2
    assert len(re.findall(rf"^{re.escape(str(bad))}:\d+: ", out, re.MULTILINE)) == 2
    assert command("check", "-", stdin=TEXT.encode())[0] == 0
    assert command("check", file("none", "") / "x")[0] == 2


@contextlib.contextmanager
def serving(directory):
    """The address of a local web server over a directory."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(directory))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_download_places_a_treebank_and_says_how_to_train_on_it(command, tmp_path):
    name = "UD_Latin-One"
    web, root = tmp_path / "web", tmp_path / "ud"
    web.mkdir()
    with tarfile.open(web / f"{name}-2.17.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo(f"{name}-r2.17/la_one-ud-test.conllu")
        info.size = len(TEXT.encode())
        tar.addfile(info, io.BytesIO(TEXT.encode()))
    with serving(web) as address:
        url = f"{address}/{{name}}-{{release}}.tar.gz"
        status, out, _ = command("download", name, "--root", root, "--url", url)
        assert status == 0
        assert f"treebank=ud treebank.root={root} treebank.name={name}" in out
        again = command("download", name, "--root", root, "--url", url)
        assert_one_message(again, "is there already", "--force")
        assert command("download", name, "--root", root, "--url", url, "--force")[0] == 0
        missing = command("download", "UD_Latin-Two", "--root", root, "--url", url)
        assert_one_message(missing, "404")
        wrong_sum = ["--sha256", "0" * 64, "--root", tmp_path / "other", "--url", url]
        assert_one_message(command("download", name, *wrong_sum), "SHA-256")
    read = list(read_sentences(root / name / "la_one-ud-test.conllu", trees=True))
    assert len(read) == len(DEV)
    assert [path.name for path in root.iterdir() if path.suffix != ".lock"] == [name]


def test_commands_other_than_parse_start_without_torch(tmp_path):
    (tmp_path / "good.conllu").write_text(TEXT)
    program = (
        "import sys, dyparse.cli.main as c; c.main(['check', 'good.conllu']); print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("good.conllu: sound")
    assert "torch" not in done.stdout.split()


def test_the_installed_script_and_the_module_are_the_same_command(tmp_path):
    (tmp_path / "good.conllu").write_text(TEXT)
    assert 'dyparse = "dyparse.cli.main:main"' in (PROJECT / "pyproject.toml").read_text()
    module = subprocess.run(
        [sys.executable, "-m", "dyparse.cli.main", "check", "good.conllu", "none"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert module.returncode == 2
    assert module.stdout.startswith("good.conllu: sound")


def test_a_reader_that_stops_early_causes_no_traceback(model_directory, tmp_path):
    (tmp_path / "in.conllu").write_text(TEXT * 100)
    program = "import sys; from dyparse.cli.main import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", program, "parse", model_directory, tmp_path / "in.conllu"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
    assert "Traceback" not in err
