"""Downloads from a server that breaks off, stalls, trickles and lies."""

import json
import ssl
import subprocess
import time

import pytest
from lying_server import (
    BODY,
    HALF,
    NAME,
    PLACE,
    SHA256,
    TAG,
    Answer,
    assert_brought,
    names_in,
    serving,
)

from dyparse.treebank import TreebankError, web_answer
from dyparse.treebank import fetch as fetch_module
from dyparse.treebank.download import download

BREAKS = Answer(stop=HALF)
REST = f"bytes {HALF}-{len(BODY) - 1}/{len(BODY)}"


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """No pauses between tries, and little patience."""
    monkeypatch.setattr(fetch_module, "PAUSE_SECONDS", (0.0, 0.0, 0.0))
    monkeypatch.setattr(web_answer, "TIMEOUT_SECONDS", 0.3)


@pytest.fixture
def once(monkeypatch):
    """once(**options): a download that tries a single time, and fails with this finding."""

    def call(server, root, finding="broke off", **options):
        with monkeypatch.context() as patch:
            patch.setattr(fetch_module, "PAUSE_SECONDS", ())
            with pytest.raises(TreebankError, match=finding):
                download(NAME, root=root, url=server.url, **options)

    return call


@pytest.mark.parametrize("then", ["break", "reset", "stall"])
def test_a_connection_that_fails_is_gone_on_with_where_it_was(then, tmp_path, capsys):
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
        {"Last-Modified": "Tue, 15 Nov 2994 12:45:26 GMT"},
        {"Last-Modified": "yesterday"},
    ],
)
def test_without_a_sure_validator_the_file_is_begun_anew(headers, tmp_path, once):
    with serving(BODY, BREAKS, BREAKS, Answer(), headers=headers) as server:
        once(server, tmp_path, "broke off .*; try again later$")
        assert names_in(tmp_path) == []
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None, None]


def test_an_archive_without_length_is_begun_anew_as_at_github(tmp_path, capsys):
    weak = {"ETag": 'W/"made on demand"'}
    with serving(BODY, Answer(chunked=True), Answer(length=-1), headers=weak) as server:
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]
    assert "beginning anew" in capsys.readouterr().err


def test_the_next_command_goes_on_with_what_came(tmp_path, once):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        once(server, tmp_path, f"{HALF} of {len(BODY)} bytes came.*the next download goes on")
        assert names_in(tmp_path) == [PLACE]
        record = json.loads((tmp_path / PLACE / "archive.json").read_text())
        assert record["validator"] == '"one"'
        assert record["size"] == len(BODY)
        assert_brought(server, tmp_path, sha256=SHA256)
    assert server.sent == len(BODY)


def test_a_part_from_another_address_is_not_gone_on_with(tmp_path, once):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        once(server, tmp_path, release="2.16")
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"address": 1}', "\0", None])
def test_a_part_with_a_damaged_record_is_not_gone_on_with(damage, tmp_path, once):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        once(server, tmp_path)
        record = tmp_path / PLACE / "archive.json"
        content = {**json.loads(record.read_text()), "size": "many"}
        record.write_text(json.dumps(content) if damage is None else damage)
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]


@pytest.mark.parametrize("size", [0, len(BODY) + 1])
def test_a_part_of_a_wrong_size_is_not_gone_on_with(size, tmp_path, once):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        once(server, tmp_path)
        (tmp_path / PLACE / "archive.tar.gz").write_bytes(b"x" * size)
        assert_brought(server, tmp_path)
    assert server.ranges == [None, None]


def test_a_part_that_is_whole_is_only_asked_after(tmp_path, once):
    with serving(BODY, BREAKS, Answer(), headers=TAG) as server:
        once(server, tmp_path)
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
        Answer(content_range=f"bytes {HALF}-{len(BODY)}/{len(BODY) + 1}"),
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


@pytest.mark.parametrize("sha256", [SHA256, None])
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


def test_a_part_stays_through_passing_trouble_and_goes_when_the_file_is_gone(tmp_path, once):
    with serving(BODY, BREAKS, Answer(status=503), Answer(status=404), headers=TAG) as server:
        once(server, tmp_path)
        once(server, tmp_path, "answers 503 Service Unavailable; try again later; the next")
        assert names_in(tmp_path) == [PLACE]
        once(server, tmp_path, "answers 404 Not Found; check the name")
    assert names_in(tmp_path) == []


def test_a_server_that_never_gives_all_is_given_up(tmp_path):
    with (
        serving(BODY, Answer(stop=10), headers=TAG) as server,
        pytest.raises(TreebankError, match=f"40 of {len(BODY)} bytes came"),
    ):
        download(NAME, root=tmp_path, url=server.url)
    assert len(server.asked) == 4


@pytest.mark.parametrize(
    "answer",
    [
        Answer(stop=HALF, then="trickle"),
        Answer(stop=HALF, then="trickle", length=-1),
        Answer(stop=HALF, then="trickle", chunked=True),
        Answer(trickles_headers=True),
    ],
    ids=["body", "body without length", "between chunks", "headers"],
)
def test_a_server_that_trickles_is_given_up(answer, tmp_path, monkeypatch, once):
    monkeypatch.setattr(web_answer, "WINDOW_SECONDS", 0.25)
    began = time.monotonic()
    with serving(BODY, answer) as server:
        once(server, tmp_path, "too slow .fewer than 32768 bytes in 0.25 seconds")
    assert time.monotonic() - began < 3
    assert names_in(tmp_path) == []


def test_a_slow_server_with_enough_bytes_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(web_answer, "WINDOW_SECONDS", 0.1)
    monkeypatch.setattr(web_answer, "WINDOW_BYTES", 1)
    few = len(BODY) - 40
    with serving(BODY, Answer(stop=few, then="drip"), headers=TAG) as server:
        assert_brought(server, tmp_path)
    assert len(server.asked) == 1


def test_a_claim_of_too_few_bytes_does_not_pass_for_the_whole_file(tmp_path):
    for claimed in (0, HALF, len(BODY) - 1):
        with (
            serving(BODY, Answer(length=claimed), headers=TAG) as server,
            pytest.raises(TreebankError, match="not a sound"),
        ):
            download(NAME, root=tmp_path, url=server.url)
        assert names_in(tmp_path) == []


def test_a_claim_of_too_many_bytes_does_not_either(tmp_path, once):
    with serving(BODY, Answer(length=len(BODY) + 5), headers=TAG) as server:
        once(server, tmp_path, f"{len(BODY)} of {len(BODY) + 5} bytes came")


def test_the_limit_counts_what_came_before(tmp_path, once):
    limit = len(BODY) - 1
    endless = Answer(chunked=True, stop=HALF)
    with serving(BODY, endless, Answer(length=-1), headers=TAG) as server:
        once(server, tmp_path, max_bytes=limit)
        once(server, tmp_path, f"above the limit of {limit}", max_bytes=limit)
    assert names_in(tmp_path) == []
    huge = Answer(content_range=f"bytes {HALF}-{10**17 - 1}/{10**17}", length=-1)
    with serving(BODY, endless, huge, headers=TAG) as server:
        once(server, tmp_path)
        once(server, tmp_path, f"{10**17} bytes or more, above the limit")
    assert names_in(tmp_path) == []


def test_a_huge_claim_is_refused_before_a_byte_is_written(tmp_path, once):
    with serving(BODY, Answer(length=10**15), headers=TAG) as server:
        once(server, tmp_path, f"{10**15} bytes or more, above the limit")
    assert names_in(tmp_path) == []


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "javascript:x", "http://[x"],
)
def test_redirects_lead_nowhere_but_to_the_web(location, tmp_path, once):
    with serving(b"", Answer(status=302, headers={"Location": location})) as server:
        once(server, tmp_path, "redirected to .*; expected http or https")
    assert len(server.asked) == 1
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_also_when_going_on(status, tmp_path):
    moved = Answer(status=status, headers={"Location": "/elsewhere"}, length=10**9)
    with serving(BODY, moved, BREAKS, moved, Answer(), headers=TAG) as server:
        assert_brought(server, tmp_path)
    assert server.asked[1::2] == ["/elsewhere"] * 2
    assert server.ranges[2:] == [f"bytes={HALF}-"] * 2


def test_redirects_in_a_circle_end(tmp_path, once):
    with serving(b"", Answer(status=302, headers={"Location": "/again"})) as server:
        once(server, tmp_path, "redirected more than 10 times")
    assert len(server.asked) == 11


@pytest.mark.parametrize("status", [204, 206])
def test_an_answer_that_is_no_file_is_refused(status, tmp_path, once):
    with serving(BODY, Answer(status=status), headers=TAG) as server:
        once(server, tmp_path, f"answers {status}, not with a file")


@pytest.mark.parametrize("url", ["http://a b/", "http://127.0.0.1:x/", "http://ex\u00e4..a/\u00e4"])
def test_an_address_that_is_none_is_told_at_once(url, tmp_path):
    with pytest.raises(TreebankError, match=r"not a web address|cannot be reached"):
        download(NAME, root=tmp_path, url=url)
    assert names_in(tmp_path) == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate for 127.0.0.1 that vouches for itself, with its key, in one file."""
    path = tmp_path_factory.mktemp("certificate") / "both.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=me"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", path, "-out", f"{path}.crt"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("openssl is not installed")
    path.write_text(path.read_text() + path.with_name("both.pem.crt").read_text())
    return path


def test_https_is_gone_on_with_and_never_given_up_for_http(
    certificate, tmp_path, monkeypatch, once
):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(BODY, BREAKS, Answer(), headers=TAG, context=context) as server:
        once(server, tmp_path, "CERTIFICATE_VERIFY_FAILED.*check the address and the certificates")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert_brought(server, tmp_path)
        assert server.ranges == [None, f"bytes={HALF}-"]
    with serving(BODY) as plain:
        back = Answer(status=302, headers={"Location": plain.url})
        with serving(BODY, back, context=context) as server:
            once(server, tmp_path / "other", "redirected to 'http:.*; expected https:")
    assert plain.asked == []


def test_a_trickling_https_server_is_given_up(certificate, tmp_path, monkeypatch, once):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(web_answer, "WINDOW_SECONDS", 0.25)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(BODY, Answer(stop=10, then="trickle", length=-1), context=context) as server:
        once(server, tmp_path, "too slow")
