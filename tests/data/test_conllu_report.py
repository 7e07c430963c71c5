import io

from dyparse.data.conllu_report import check_file, check_files

GOOD = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n\n"
BAD = "1\ta\t_\t_\t_\t_\t1\troot\t_\t_\n\n"
CROSSING = "".join(
    f"{word}\tw\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for word, head in enumerate([0, 4, 1, 1], 1)
)


def test_every_malformed_sentence_is_found_and_sound_ones_are_counted(tmp_path):
    path = tmp_path / "x.conllu"
    text = BAD + GOOD + "# \0\n" + GOOD + BAD + CROSSING + "\n"
    path.write_bytes(text.encode() + b"\xff\n\n" + BAD.encode())
    check = check_file(path)
    places = [finding.split(": ")[0].rpartition(":")[2] for finding in check.findings]
    assert places == ["1", "6", "10", "17", "19"]
    assert (check.sentences, check.words, check.nonprojective) == (2, 6, 1)
    assert check.malformed == 5


def test_findings_beyond_the_limit_are_counted_only(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text(BAD * 7 + GOOD)
    stream = io.StringIO()
    assert check_files([path], stream, limit=3) == 2
    lines = stream.getvalue().splitlines()
    for place, line in zip((1, 3, 5), lines[:3], strict=True):
        assert line.startswith(f"{path}:{place}: ")
    assert lines[3:] == [
        f"{path}: and 4 more malformed sentences",
        f"{path}: 7 malformed; 1 sentences, 2 words, 0 (0.0%) sentences non-projective",
    ]


def test_sound_files_give_status_0_and_one_line_each(tmp_path):
    paths = [tmp_path / "a.conllu", tmp_path / "b.conllu"]
    paths[0].write_text(GOOD * 3 + CROSSING)
    paths[1].write_text(GOOD)
    stream = io.StringIO()
    assert check_files([str(path) for path in paths], stream) == 0
    assert stream.getvalue().splitlines() == [
        f"{paths[0]}: sound; 4 sentences, 10 words, 1 (25.0%) sentences non-projective",
        f"{paths[1]}: sound; 1 sentences, 2 words, 0 (0.0%) sentences non-projective",
    ]


def test_a_file_that_cannot_be_read_does_not_hide_the_others(tmp_path):
    good, bad = tmp_path / "good.conllu", tmp_path / "bad.conllu"
    good.write_text(GOOD)
    bad.write_text(BAD)
    stream = io.StringIO()
    assert check_files([tmp_path / "none.conllu", good, tmp_path, bad], stream) == 2
    text = stream.getvalue()
    assert "none.conllu: no such file" in text
    assert "is a directory" in text
    assert f"{good}: sound" in text
    assert f"{bad}:1: word 1 is its own head" in text
    assert check_files([good], io.StringIO()) == 0
