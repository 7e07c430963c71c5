import gzip
import hashlib
import socket
import tarfile
from pathlib import Path

import pytest
from helpers.lying_server import GOOD, LOCK, NAME, SENTENCE, Answer, archive, names_in, serving

from dyparse.data.download.download import download
from dyparse.treebank import TreebankError, web_answer
from dyparse.treebank import fetch as fetch_module
from dyparse.treebank.ud import UD


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """No pauses between tries."""
    monkeypatch.setattr(fetch_module, "PAUSE_SECONDS", (0.0, 0.0, 0.0))


def link(kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(f"{NAME}-r2.17/la_one-ud-test.conllu")
    info.type, info.linkname = kind, "/etc/passwd"
    return info


def assert_refused(root: Path, finding: str, body: bytes, **options) -> None:
    """The download fails with this finding, and leaves nothing behind."""
    lies = {key: options.pop(key) for key in ("status", "length", "chunked") if key in options}
    before = {*root.rglob("*"), root / LOCK}
    with serving(body, Answer(**lies)) as server, pytest.raises(TreebankError, match=finding):
        download(NAME, root=root, url=server.url, **options)
    assert {*root.rglob("*"), root / LOCK} == before


def test_a_treebank_is_placed_with_its_licence_and_nothing_else(tmp_path):
    with serving(archive(GOOD)) as server:
        path = download(NAME, root=tmp_path / "new" / "ud", url=server.url)
    assert path == tmp_path / "new" / "ud" / NAME
    assert server.asked == [f"/{NAME}/r2.17.tar.gz"]
    wanted = {"la_one-ud-train.conllu", "la_one-ud-dev.conllu", "LICENSE.txt", "README.md"}
    assert {file.name for file in path.iterdir()} == wanted | {"download.txt"}
    assert len(UD(str(path.parent), NAME).read("train")) == 3
    assert names_in(path.parent) == [NAME]


def test_the_record_holds_address_and_checksums(tmp_path):
    body = archive(GOOD)
    with serving(body) as server:
        path = download(NAME, root=tmp_path, url=server.url, release="2.3")
    lines = (path / "download.txt").read_text().splitlines()
    assert lines[0] == "# " + server.url.replace("{name}", NAME).replace("{release}", "2.3")
    assert lines[1] == f"# archive sha256 {hashlib.sha256(body).hexdigest()}"
    assert f"{hashlib.sha256(SENTENCE).hexdigest()}  la_one-ud-dev.conllu" in lines
    assert len(lines) == 2 + 4


def test_the_record_holds_no_token_of_the_address(tmp_path):
    with serving(archive(GOOD)) as server:
        path = download(NAME, root=tmp_path, url=server.url + "?token=secret")
    assert "secret" not in (path / "download.txt").read_text()


@pytest.mark.parametrize("release", ["2.9", "r2.9", "v2.9"])
def test_a_release_may_be_written_as_its_tag(release, tmp_path):
    with serving(archive(GOOD)) as server:
        download(NAME, root=tmp_path, url=server.url, release=release)
    assert server.asked == [f"/{NAME}/r2.9.tar.gz"]


def test_one_treebank_is_taken_out_of_a_whole_release(tmp_path):
    members = {
        f"ud-treebanks-v2.17/{name}/{name[3:]}-ud-test.conllu": SENTENCE
        for name in ("UD_Latin-Other", NAME, "UD_Latin-OneMore", f"{NAME}-r1")
    }
    with serving(archive(members)) as server:
        path = download(NAME, root=tmp_path, url=server.url)
    assert [file.name for file in path.glob("*.conllu")] == ["Latin-One-ud-test.conllu"]


def test_a_right_checksum_is_accepted_and_a_wrong_one_refused(tmp_path):
    body = archive(GOOD)
    right = hashlib.sha256(body).hexdigest()
    assert_refused(tmp_path, f"SHA-256 is {right}, not 0000", body, sha256="0" * 64)
    with serving(body) as server:
        assert download(NAME, root=tmp_path, url=server.url, sha256=right.upper()).is_dir()


def test_what_the_server_does_not_have_is_refused(tmp_path):
    assert_refused(tmp_path, "answers 404 Not Found; check the name", b"gone", status=404)
    assert_refused(tmp_path, "answers 503 .*; try again later", b"busy", status=503)


def test_a_server_that_is_not_there_is_reported_at_once(tmp_path, capsys):
    with serving() as server:
        pass
    with pytest.raises(TreebankError, match="cannot be reached"):
        download(NAME, root=tmp_path, url=server.url)
    assert names_in(tmp_path) == []
    assert capsys.readouterr().err == ""


def test_a_dropped_connection_is_reported(tmp_path):
    body = archive(GOOD)
    assert_refused(tmp_path, "broke off .* bytes came", body[:-9], length=len(body))
    assert_refused(tmp_path, "broke off", body, chunked=True)


def test_a_server_that_stalls_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(web_answer, "TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x"
        with pytest.raises(TreebankError, match="timed out"):
            download(NAME, root=tmp_path, url=url)
    assert names_in(tmp_path) == []


def test_a_damaged_archive_is_refused(tmp_path):
    body = archive(GOOD)
    finding = "not a sound .tar.gz archive"
    assert_refused(tmp_path, finding, body[: len(body) // 2])
    assert_refused(tmp_path, finding, body[:-4])
    assert_refused(tmp_path, finding, body[:-8] + b"\0" * 8)
    assert_refused(tmp_path, finding, b"<html>not found</html>")
    assert_refused(tmp_path, finding, gzip.compress(b"no tar" * 200))
    assert_refused(tmp_path, finding, b"")


def test_what_is_too_large_is_refused_by_its_claim_by_its_bytes_and_unpacked(tmp_path):
    body = archive(GOOD)
    limit = len(body) - 1
    assert_refused(tmp_path, f"limit of {limit}", b"", length=limit + 1, max_bytes=limit)
    assert_refused(tmp_path, f"limit of {limit}", body, length=-1, max_bytes=limit)
    bomb = archive({f"{NAME}-r2.17/a-ud-test.conllu": b"\0" * 10_000_000})
    assert len(bomb) < 100_000
    assert_refused(tmp_path, "unpacks to more than 100000 bytes", bomb, max_bytes=100_000)
    hidden = archive({**GOOD, "unwanted": b"\0" * 10_000_000})
    assert_refused(tmp_path, "unpacks to more than", hidden, max_bytes=100_000)


@pytest.mark.parametrize(
    "name", [f"{NAME}-r2.17/../../escaped.conllu", "/tmp/escaped.conllu", "../escaped.conllu"]
)
def test_members_that_point_outside_are_refused(name, tmp_path):
    root = tmp_path / "ud"
    root.mkdir()
    assert_refused(root, "points outside", archive({**GOOD, name: SENTENCE}))
    assert not list(tmp_path.rglob("escaped*"))
    assert not Path("/tmp/escaped.conllu").exists()


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
)
def test_members_that_are_no_plain_files_are_refused(kind, tmp_path):
    assert_refused(tmp_path, "expected a plain file", archive(GOOD, link(kind)))


def test_links_that_nobody_wants_are_passed_over(tmp_path):
    unwanted = link(tarfile.SYMTYPE)
    unwanted.name = f"{NAME}-r2.17/tools"
    with serving(archive(GOOD, unwanted)) as server:
        path = download(NAME, root=tmp_path, url=server.url)
    assert not (path / "tools").is_symlink()


def test_two_members_of_one_name_are_refused(tmp_path):
    twice = {**GOOD, f"{NAME}-r2.16/README.md": b"other"}
    assert_refused(tmp_path, "two members are called 'README.md'", archive(twice))


def test_an_archive_without_data_is_refused(tmp_path):
    empty = {name: data for name, data in GOOD.items() if "ud-" not in name.split("/")[1]}
    assert any(name.endswith(".conllu") for name in empty)
    assert_refused(tmp_path, "no .conllu file of UD_Latin-One", archive(empty))


def test_a_treebank_that_is_there_is_left_alone_unless_forced(tmp_path):
    old = tmp_path / NAME / "old.txt"
    old.parent.mkdir()
    old.write_text("precious")
    assert_refused(tmp_path, "is there already; remove it, or replace it", archive(GOOD))
    assert_refused(tmp_path, "SHA-256", archive(GOOD), force=True, sha256="0")
    assert old.read_text() == "precious"
    with serving(archive(GOOD)) as server:
        path = download(NAME, root=tmp_path, url=server.url, force=True)
    assert not old.exists()
    assert (path / "README.md").exists()
    assert names_in(tmp_path) == [NAME]


def test_the_old_treebank_comes_back_if_the_new_one_cannot_be_placed(tmp_path, monkeypatch):
    old = tmp_path / NAME / "old.txt"
    old.parent.mkdir()
    old.write_text("precious")
    rename = Path.rename

    def failing(self, target):
        if self.name == NAME and self.parent != tmp_path:
            raise OSError("disk trouble")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    assert_refused(tmp_path, "cannot be written .disk trouble.", archive(GOOD), force=True)
    assert old.read_text() == "precious"


@pytest.mark.parametrize(
    ("options", "finding"),
    [
        ({"name": "../UD_X-Y"}, "no name of a UD treebank"),
        ({"name": "English"}, "such as UD_English-EWT"),
        ({"name": "UD_A-B/../.."}, "no name of a UD treebank"),
        ({"release": "latest"}, "release 'latest' is not known"),
        ({"release": "2.1/../x"}, "is not known"),
        ({"url": "file:///etc/passwd"}, "not a web address"),
        ({"url": "nonsense"}, "not a web address"),
        ({"url": "http://[::1/{name}"}, "not a web address"),
        ({"url": "https://me:secret@example.org/{name}"}, "^example.org: .* a name or password"),
    ],
)
def test_names_releases_and_addresses_are_checked_first(options, finding, tmp_path):
    with pytest.raises(TreebankError, match=finding):
        download(options.pop("name", NAME), root=tmp_path / "ud", **options)
    assert not (tmp_path / "ud").exists()


def test_a_root_that_cannot_be_written_is_reported(tmp_path):
    root = tmp_path / "file"
    root.write_text("")
    finding = "cannot be written"
    with serving(archive(GOOD)) as server, pytest.raises(TreebankError, match=finding):
        download(NAME, root=root, url=server.url)
