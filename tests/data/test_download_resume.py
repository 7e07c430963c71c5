"""Downloads from a server that breaks off, stalls and lies: what is gone on with, and what not."""

import json
import time
from email.utils import formatdate

import pytest
from helpers.lying_server import (
    BODY,
    HALF,
    NAME,
    PLACE,
    SHA256,
    TAG,
    Answer,
    assert_brought,
    assert_fails,
    names_in,
    serving,
)

from dyparse.data.download.download import download
from dyparse.treebank import TreebankError, web_answer
from dyparse.treebank import fetch as fetch_module

BREAKS = Answer(stop=HALF)
REST = f"bytes {HALF}-{len(BODY) - 1}/{len(BODY)}"


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """No pauses between tries."""
    monkeypatch.setattr(fetch_module, "PAUSE_SECONDS", (0.0, 0.0, 0.0))


@pytest.mark.parametrize("then", ["break", "reset", "stall"])
def test_a_connection_that_fails_is_gone_on_with_where_it_was(then, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(web_answer, "TIMEOUT_SECONDS", 0.5)
    breaks = Answer(stop=100_000, then=then)
    with serving(BODY, breaks, breaks, Answer(), headers=TAG) as server:
        assert_brought(server, tmp_path)
    told = capsys.readouterr().err
    assert told.count("going on from byte") == 2
    if then != "reset":  # which also loses what is on its way
        assert server.ranges == [None, "bytes=100000-", "bytes=200000-"]
        assert server.sent == len(BODY)
        assert "broke off (100000 of " in told or "broke off (timed out)" in told


def test_a_date_tells_versions_apart_if_there_is_no_etag(tmp_path):
    dated = {"Last-Modified": "Tue, 15 Nov 1994 12:45:26 GMT"}
    with serving(BODY, BREAKS, Answer(), headers=dated) as server:
        assert_brought(server, tmp_path)
    assert server.ranges == [None, f"bytes={HALF}-"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"ETag": 'W/"weak"'},
        {"ETag": 'W/"weak"', "Last-Modified": "Tue, 15 Nov 1994 12:45:26 GMT"},
        {"ETag": "unquoted"},
        {"Last-Modified": formatdate(time.time() + 3600, usegmt=True)},  # may change again
        {"Last-Modified": "yesterday"},
    ],
)
def test_without_a_sure_validator_the_file_is_begun_anew(headers, tmp_path):
    with serving(BODY, BREAKS, BREAKS, Answer(), headers=headers) as server:
        assert_fails(server, tmp_path, "broke off .*; try again later$")
        assert names_in(tmp_path) == []
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None, None]


def test_an_archive_without_length_is_begun_anew_as_at_github(tmp_path, capsys):
    weak = {"ETag": 'W/"made on demand"'}
    with serving(BODY, Answer(chunked=True), Answer(length=-1), headers=weak) as server:
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]
    assert "beginning anew" in capsys.readouterr().err


def test_the_next_command_goes_on_with_what_came(tmp_path):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        assert_fails(
            server, tmp_path, f"{HALF} of {len(BODY)} bytes came.*the next download goes on"
        )
        assert names_in(tmp_path) == [PLACE]
        record = json.loads((tmp_path / PLACE / "archive.json").read_text())
        assert record["validator"] == '"one"'
        assert record["size"] == len(BODY)
        assert_brought(server, tmp_path, sha256=SHA256)
    assert server.sent == len(BODY)


def test_a_part_from_another_address_is_not_gone_on_with(tmp_path):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        assert_fails(server, tmp_path, release="2.16")
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"address": 1}', "\0", None])
def test_a_part_with_a_damaged_record_is_not_gone_on_with(damage, tmp_path):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        assert_fails(server, tmp_path)
        record = tmp_path / PLACE / "archive.json"
        content = {**json.loads(record.read_text()), "size": "many"}
        record.write_text(json.dumps(content) if damage is None else damage)
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]


@pytest.mark.parametrize("size", [0, len(BODY) + 1])
def test_a_part_of_a_wrong_size_is_not_gone_on_with(size, tmp_path):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        assert_fails(server, tmp_path)
        (tmp_path / PLACE / "archive.tar.gz").write_bytes(b"x" * size)
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]


def test_a_part_that_is_whole_is_only_asked_after(tmp_path):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        assert_fails(server, tmp_path)
        (tmp_path / PLACE / "archive.tar.gz").write_bytes(BODY)
        assert_brought(server, tmp_path)
    assert server.sent == HALF + 1


@pytest.mark.parametrize(
    "lie",
    [
        Answer(headers={"ETag": '"two"'}),
        Answer(headers={"ETag": '"two"'}, if_range=False),
        Answer(ranges=False),
        Answer(content_range=f"bytes 0-{len(BODY) - 1}/{len(BODY)}"),
        Answer(content_range=f"bytes {HALF}-{len(BODY)}/{len(BODY) + 1}", length=-1),
        Answer(content_range=f"bytes {HALF}-{len(BODY) - 2}/{len(BODY)}"),
        Answer(content_range=f"bytes {HALF}-{len(BODY) - 1}/*"),
        Answer(content_range="none"),
        Answer(length=7),
        Answer(body=BODY + b"more", length=-1, content_range=REST),
        Answer(status=416),
    ],
    ids=[
        *("changed", "changed but gone on with", "no ranges", "from zero", "other size"),
        *("not to the end", "unknown size", "nonsense", "wrong length", "too much", "refused"),
    ],
)
def test_an_answer_that_does_not_fit_is_no_rest_of_the_file(lie, tmp_path):
    with serving(BODY, BREAKS, lie, Answer(), headers=TAG) as server:
        assert_brought(server, tmp_path)
    begins_at_once = lie.ranges is False or (lie.headers and lie.if_range)
    assert server.ranges == [None, f"bytes={HALF}-"] + [None] * (not begins_at_once)


def test_more_than_the_promised_rest_is_not_written(tmp_path, capsys):
    endless = Answer(body=BODY * 9, length=-1, content_range=REST)
    with serving(BODY, BREAKS, endless, Answer(), headers=TAG) as server:
        assert_brought(server, tmp_path)
    assert f"sends more than the promised {len(BODY)} bytes" in capsys.readouterr().err


@pytest.mark.parametrize("sha256", [SHA256, None], ids=["checksum", "none"])
def test_a_file_that_changed_behind_the_same_etag_is_caught_by_a_checksum(sha256, tmp_path):
    changed = Answer(body=bytes(len(BODY) - 8) + BODY[-8:])
    finding = "SHA-256 is .*, not" if sha256 else "not a sound .tar.gz"
    with serving(BODY, BREAKS, changed, Answer(), headers=TAG) as server:
        with pytest.raises(TreebankError, match=finding):
            download(NAME, root=tmp_path, url=server.url, sha256=sha256)
        assert names_in(tmp_path) == []
        assert_brought(server, tmp_path, sha256=sha256)
    assert server.ranges == [None, f"bytes={HALF}-", None]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_in_passing_trouble_is_asked_again(status, tmp_path):
    with serving(BODY, BREAKS, Answer(status=status), Answer(), headers=TAG) as server:
        assert_brought(server, tmp_path)
    assert server.ranges == [None, f"bytes={HALF}-", f"bytes={HALF}-"]


def test_a_part_stays_through_passing_trouble_and_goes_when_the_file_is_gone(tmp_path):
    with serving(BODY, BREAKS, Answer(status=503), Answer(status=404), headers=TAG) as server:
        assert_fails(server, tmp_path)
        assert_fails(server, tmp_path, "answers 503 Service Unavailable; try again later; the next")
        assert names_in(tmp_path) == [PLACE]
        assert_fails(server, tmp_path, "answers 404 Not Found; check the name")
    assert names_in(tmp_path) == []


def test_a_server_that_never_gives_all_is_given_up(tmp_path):
    with (
        serving(BODY, Answer(stop=10), headers=TAG) as server,
        pytest.raises(TreebankError, match=f"40 of {len(BODY)} bytes came"),
    ):
        download(NAME, root=tmp_path, url=server.url)
    assert len(server.asked) == 4


def test_a_claim_of_too_few_bytes_does_not_pass_for_the_whole_file(tmp_path):
    for exclusive_directory in (0, HALF, len(BODY) - 1):
        with (
            serving(BODY, Answer(length=exclusive_directory), headers=TAG) as server,
            pytest.raises(TreebankError, match="not a sound"),
        ):
            download(NAME, root=tmp_path, url=server.url)
        assert names_in(tmp_path) == []


def test_a_claim_of_too_many_bytes_does_not_either(tmp_path):
    with serving(BODY, Answer(length=len(BODY) + 5), headers=TAG) as server:
        assert_fails(server, tmp_path, f"{len(BODY)} of {len(BODY) + 5} bytes came")


def test_the_limit_counts_what_came_before(tmp_path):
    limit = len(BODY) - 1
    endless = Answer(chunked=True, stop=HALF)
    with serving(BODY, endless, Answer(length=-1), headers=TAG) as server:
        assert_fails(server, tmp_path, max_bytes=limit)
        assert_fails(server, tmp_path, f"above the limit of {limit}", max_bytes=limit)
    assert names_in(tmp_path) == []
    huge = Answer(content_range=f"bytes {HALF}-{10**17 - 1}/{10**17}", length=-1)
    with serving(BODY, endless, huge, headers=TAG) as server:
        assert_fails(server, tmp_path)
        assert_fails(server, tmp_path, f"{10**17} bytes or more, above the limit")
    assert names_in(tmp_path) == []


def test_a_huge_claim_is_refused_before_a_byte_is_written(tmp_path):
    with serving(BODY, Answer(length=10**15), headers=TAG) as server:
        assert_fails(server, tmp_path, f"{10**15} bytes or more, above the limit")
    assert names_in(tmp_path) == []
