"""Servers that trickle, redirect, or speak https; and addresses of none."""

import ssl
import subprocess
import time

import pytest
from helpers.lying_server import (
    BODY,
    HALF,
    NAME,
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


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """No pauses between tries."""
    monkeypatch.setattr(fetch_module, "PAUSE_SECONDS", (0.0, 0.0, 0.0))


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
def test_a_server_that_trickles_is_given_up(answer, tmp_path, monkeypatch):
    monkeypatch.setattr(web_answer, "WINDOW_SECONDS", 0.25)
    began = time.monotonic()
    with serving(BODY, answer) as server:
        assert_fails(server, tmp_path, "too slow .fewer than 32768 bytes in 0.25 seconds")
    assert time.monotonic() - began < 10
    assert names_in(tmp_path) == []


def test_a_slow_server_with_enough_bytes_is_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(web_answer, "WINDOW_SECONDS", 0.5)
    monkeypatch.setattr(web_answer, "WINDOW_BYTES", 1)
    with serving(BODY, Answer(stop=len(BODY) - 40, then="drip"), headers=TAG) as server:
        assert_brought(server, tmp_path)
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "javascript:x", "http://[x"],
)
def test_redirects_lead_nowhere_but_to_the_web(location, tmp_path):
    with serving(b"", Answer(status=302, headers={"Location": location})) as server:
        assert_fails(server, tmp_path, "redirected to .*; expected http or https")
    assert len(server.asked) == 1
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_also_when_going_on(status, tmp_path):
    moved = Answer(status=status, headers={"Location": "/elsewhere"}, length=10**9)
    with serving(BODY, moved, BREAKS, moved, Answer(), headers=TAG) as server:
        assert_brought(server, tmp_path)
    assert server.asked[1::2] == ["/elsewhere"] * 2
    assert server.ranges[2:] == [f"bytes={HALF}-"] * 2


def test_redirects_in_a_circle_end(tmp_path):
    with serving(b"", Answer(status=302, headers={"Location": "/again"})) as server:
        assert_fails(server, tmp_path, "redirected more than 10 times")
    assert len(server.asked) == 11


@pytest.mark.parametrize("status", [204, 206])
def test_an_answer_that_is_no_file_is_refused(status, tmp_path):
    with serving(BODY, Answer(status=status), headers=TAG) as server:
        assert_fails(server, tmp_path, f"answers {status}, not with a file")


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


def test_https_is_gone_on_with_and_never_given_up_for_http(certificate, tmp_path, monkeypatch):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(BODY, BREAKS, Answer(), headers=TAG, context=context) as server:
        assert_fails(
            server, tmp_path, "CERTIFICATE_VERIFY_FAILED.*check the address and the certificates"
        )
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert_brought(server, tmp_path)
        assert server.ranges == [None, f"bytes={HALF}-"]
    with serving(BODY) as plain:
        back = Answer(status=302, headers={"Location": plain.url})
        with serving(BODY, back, context=context) as server:
            assert_fails(server, tmp_path / "other", "redirected to 'http:.*; expected https:")
    assert plain.asked == []


def test_a_trickling_https_server_is_given_up(certificate, tmp_path, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(web_answer, "WINDOW_SECONDS", 0.25)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with serving(BODY, Answer(stop=10, then="trickle", length=-1), context=context) as server:
        assert_fails(server, tmp_path, "too slow")
