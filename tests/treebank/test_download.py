"""`download` against a local web server that is honest, busy, broken or hostile."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests

from dyparse.errors import ConfigError, TreebankError
from dyparse.runtime.locks import exclusive_directory
from dyparse.treebank import _download as module
from dyparse.treebank._download import RECORD, download
from dyparse.treebank.ud import UD

NAME = "UD_Latin-One"
FOLDER = f"{NAME}-r2.17"
WORK = f".{NAME}.download"
SENTENCE = b"1\tw\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
GOOD = {
    f"{FOLDER}/la_one-ud-train.conllu": SENTENCE * 3,
    f"{FOLDER}/la_one-ud-dev.conllu": SENTENCE,
    f"{FOLDER}/LICENSE.txt": b"free",
    f"{FOLDER}/README.md": b"read me",
    f"{FOLDER}/stats.xml": b"<no/>",
    f"{FOLDER}/not-to-release/la_one-ud-train.conllu": b"secret",
    f"{FOLDER}/not-to-release/{NAME}/la_one-ud-train.conllu": b"secret",
}


def archive(members: dict[str, bytes], *extra: tarfile.TarInfo) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        for info in extra:
            tar.addfile(info)
    return buffer.getvalue()


BODY = archive(GOOD)


class Server(ThreadingHTTPServer):
    """Answers each request with the next of (status, headers, body); with the last from then on."""

    def __init__(self, answers) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.paths = answers, []
        self.url = f"http://127.0.0.1:{self.server_port}/{{name}}/r{{release}}.tar.gz"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        answers = self.server.answers
        status, headers, body = answers[min(len(self.server.paths), len(answers) - 1)]
        self.server.paths.append(self.path)
        if not status:
            return  # hangs up
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_) -> None:
        pass


def whole(body: bytes, status: int = 200):
    return status, {"Content-Length": str(len(body))}, body


HANGS_UP = (0, {}, b"")
CUT_SHORT = (200, {"Content-Length": str(len(BODY))}, BODY[:100])
BUSY = whole(b"busy", 503)


@contextmanager
def serving(*answers) -> Iterator[Server]:
    server = Server([whole(a) if isinstance(a, bytes) else a for a in answers])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr(module, "PAUSE_SECONDS", (0.0, 0.0, 0.0))


@pytest.fixture
def old(tmp_path):
    """A file of a treebank that was there before."""
    path = tmp_path / NAME / "old.txt"
    path.parent.mkdir()
    path.write_text("precious")
    return path


def files_in(root: Path) -> set[Path]:
    """All files below the root but lock files."""
    return {path for path in root.rglob("*") if path.is_file() and path.name != ".lock"}


def assert_refused(root: Path, finding: str, *answers, **options) -> None:
    """The download fails with this finding, and leaves everything as it was."""
    before = files_in(root)
    with serving(*answers) as server, pytest.raises(TreebankError, match=finding):
        download(NAME, root=root, url=server.url, **options)
    assert files_in(root) == before


def test_a_treebank_is_placed_with_its_licence_and_a_record_and_nothing_else(tmp_path):
    root = tmp_path / "new" / "ud"
    with serving(BODY) as server:
        path = download(NAME, root=root, url=server.url + "?token=secret", release="v2.9")
    assert server.paths == [f"/{NAME}/r2.9.tar.gz?token=secret"]
    assert path == root / NAME
    names = ["LICENSE.txt", "README.md", "la_one-ud-dev.conllu", "la_one-ud-train.conllu"]
    assert files_in(root) == {path / name for name in [*names, RECORD]}
    assert len(UD(str(root), NAME).read("train")) == 3
    address, checksum, *listed = (path / RECORD).read_text().splitlines()
    assert address == "# " + server.url.replace("{name}", NAME).replace("{release}", "2.9")
    assert checksum == f"# archive sha256 {hashlib.sha256(BODY).hexdigest()}"
    assert [line.split("  ")[1] for line in listed] == names
    assert listed[2].startswith(hashlib.sha256(SENTENCE).hexdigest())


def test_one_treebank_is_taken_out_of_a_whole_release(tmp_path):
    names = ("UD_Latin-Other", NAME, "UD_Latin-OneMore", f"{NAME}-r1")
    members = {f"ud-treebanks-v2.17/{name}/{name}-ud-test.conllu": SENTENCE for name in names}
    with serving(archive(members)) as server:
        path = download(NAME, root=tmp_path, url=server.url)
    assert [file.name for file in path.glob("*.conllu")] == [f"{NAME}-ud-test.conllu"]


def test_a_right_checksum_is_accepted_and_a_wrong_one_refused(tmp_path):
    right = hashlib.sha256(BODY).hexdigest()
    assert_refused(tmp_path, f"SHA-256 is {right}, expected 0000", BODY, sha256="0" * 64)
    with serving(BODY) as server:
        assert download(NAME, root=tmp_path, url=server.url, sha256=right.upper()).is_dir()


@pytest.mark.parametrize(
    ("failure", "finding"),
    [(HANGS_UP, "Disconnected"), (CUT_SHORT, "IncompleteRead"), (BUSY, "503 'Service Unavailable")],
)
def test_a_connection_that_fails_is_tried_again_three_times(failure, finding, tmp_path, capsys):
    assert_refused(tmp_path, f"{finding}.*check the network, or try again", failure)
    assert capsys.readouterr().err.count("trying again") == 3
    with serving(failure, failure, failure, BODY) as server:
        path = download(NAME, root=tmp_path, url=server.url)
    assert (path / "la_one-ud-train.conllu").read_bytes() == SENTENCE * 3


def test_a_server_that_is_not_there_or_says_nothing_is_reported(tmp_path, monkeypatch):
    with serving(BODY) as server:
        pass
    with pytest.raises(TreebankError, match=r"connection failed .*refused.*; check the network"):
        download(NAME, root=tmp_path, url=server.url)
    monkeypatch.setattr(module, "TIMEOUT", 0.1)
    with Server([]) as silent, pytest.raises(TreebankError, match=r"connection failed .*timed out"):
        download(NAME, root=tmp_path, url=silent.url)
    assert not files_in(tmp_path)


@pytest.mark.parametrize("status", [403, 404])
def test_a_refusal_ends_the_download_at_once(status, tmp_path, capsys):
    finding = f"answers {status} .*; check the name .* not every release has every treebank"
    assert_refused(tmp_path, finding, whole(b"gone", status))
    assert capsys.readouterr().err == ""


def test_redirects_are_followed_within_the_web_and_never_back_to_http(tmp_path, monkeypatch):
    with serving((302, {"Location": "/x"}, b""), BODY) as server:
        assert download(NAME, root=tmp_path, url=server.url).is_dir()
    assert_refused(tmp_path / "b", "30 redirects", (302, {"Location": "/x"}, b""))
    assert_refused(tmp_path / "b", "ftp:.*check", (302, {"Location": "ftp://127.0.0.1/x"}, b""))
    hop, end = requests.Response(), requests.Response()
    hop.url, end.url, end.history = "https://a.org/x", "http://a.org/x", [hop]
    end.status_code, end.raw = 200, io.BytesIO(BODY)
    monkeypatch.setattr(requests, "get", lambda *_, **__: end)
    assert_refused(tmp_path / "b", "redirects to plain http", BODY)


@pytest.mark.parametrize(
    "body",
    [BODY[:200], BODY[:-4], BODY[:-8] + b"\0" * 8, b"<html>", gzip.compress(b"no tar"), b""],
    ids=["beginning", "end missing", "wrong checksum", "page", "no tar", "nothing"],
)
def test_a_damaged_archive_is_refused(body, tmp_path):
    assert_refused(tmp_path, "not an intact .tar.gz archive", body)


def test_what_is_too_large_is_refused_by_its_claim_by_its_bytes_and_unpacked(tmp_path):
    limit = len(BODY) - 1
    finding = "more than {} bytes in archive.tar{}; raise --max-bytes"
    claim = (200, {"Content-Length": str(10**12)}, BODY[:100])
    assert_refused(tmp_path, finding.format(10**9, ".gz"), claim, max_bytes=10**9)
    assert_refused(tmp_path, finding.format(limit, ".gz"), (200, {}, BODY), max_bytes=limit)
    bomb = archive({**GOOD, "unwanted": b"\0" * 10_000_000})
    assert len(bomb) < 100_000
    assert_refused(tmp_path, finding.format(100_000, ""), bomb, max_bytes=100_000)


@pytest.mark.parametrize("name", [f"{FOLDER}/../../x.conllu", "/tmp/x.conllu", f"../{NAME}/README"])
def test_members_that_point_outside_are_refused(name, tmp_path):
    root = tmp_path / "ud"
    assert_refused(root, "points outside", archive({**GOOD, name: SENTENCE}))
    assert not list(tmp_path.rglob("x.conllu"))


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE]
)
def test_members_that_are_not_plain_files_are_refused_where_a_file_is_wanted(kind, tmp_path):
    special = tarfile.TarInfo(f"{FOLDER}/la_one-ud-test.conllu")
    special.type, special.linkname = kind, "/etc/passwd"
    assert_refused(tmp_path, "not a plain file", archive(GOOD, special))
    special.name = f"{FOLDER}/tools"
    with serving(archive(GOOD, special)) as server:
        path = download(NAME, root=tmp_path, url=server.url)
    assert len(list(path.iterdir())) == 5


def test_an_archive_without_data_is_refused(tmp_path):
    empty = {name: data for name, data in GOOD.items() if "ud-" not in name.split("/")[1]}
    assert_refused(tmp_path, f"no .conllu file of {NAME}", archive(empty))


def test_a_treebank_that_is_there_is_replaced_only_by_force_and_only_by_a_whole_one(old, tmp_path):
    assert_refused(tmp_path, "is there already; replace it with --force", BODY)
    assert_refused(tmp_path, "SHA-256", BODY, force=True, sha256="0")
    with serving(BODY) as server:
        path = download(NAME, root=tmp_path, url=server.url, force=True)
    assert not old.exists()
    assert (path / "README.md").exists()
    assert {file.parent for file in files_in(tmp_path)} == {path}


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), (TreebankError, "No space.*free space")),
        (KeyboardInterrupt(), (KeyboardInterrupt, None)),
    ],
)
def test_a_full_disk_or_ctrl_c_leaves_the_old_treebank(
    failure, expected, old, tmp_path, monkeypatch
):
    rename = Path.rename

    def failing(self, target):
        if self.name == "new":
            raise failure
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with serving(BODY) as server, pytest.raises(expected[0], match=expected[1]):
        download(NAME, root=tmp_path, url=server.url, force=True)
    assert files_in(tmp_path) == {old}


def test_what_a_killed_download_left_is_removed_and_an_old_treebank_comes_back(old, tmp_path):
    work = tmp_path / WORK
    (work / "new").mkdir(parents=True)
    (work / "new" / "half.conllu").write_text("half")
    (work / "archive.tar.gz").write_text("half")
    old.parent.rename(work / "old")
    with serving(BODY) as server, pytest.raises(TreebankError, match="is there already"):
        download(NAME, root=tmp_path, url=server.url)
    assert files_in(tmp_path) == {old}


def test_two_downloads_of_one_treebank_do_not_mix(tmp_path):
    with exclusive_directory(tmp_path / WORK), serving(BODY) as server:
        with pytest.raises(ConfigError, match="another process is downloading there; wait for it"):
            download(NAME, root=tmp_path, url=server.url)
        server.answers[0] = whole(archive({"UD_Other-r2.17/x-ud-test.conllu": SENTENCE}))
        assert download("UD_Other", root=tmp_path, url=server.url).is_dir()


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        ({"name": "../UD_X-Y"}, "not the name of a UD treebank"),
        ({"name": "English"}, "such as UD_English-EWT"),
        ({"name": "UD_A-B/../.."}, "not the name of a UD treebank"),
        ({"release": "latest"}, "'latest' is not a UD release"),
        ({"release": "2.1/../x"}, "is not a UD release"),
        ({"url": "file:///etc/passwd"}, "not a web address"),
        ({"url": "nonsense"}, "not a web address"),
        ({"url": "http://[::1/{name}"}, "not a web address"),
        ({"url": "https://me:secret@example.org/{name}"}, "^example.org: .*user name or password"),
    ],
)
def test_names_releases_and_addresses_are_checked_first(options, finding, tmp_path):
    with pytest.raises(TreebankError, match=finding):
        download(options.pop("name", NAME), root=tmp_path / "ud", **options)
    assert not (tmp_path / "ud").exists()


def test_a_root_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    with serving(BODY) as server, pytest.raises(ConfigError, match=r"cannot be written .*--root"):
        download(NAME, root=tmp_path / "file", url=server.url)
