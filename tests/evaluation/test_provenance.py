"""Commit and machine of a result: those of the clone, and nothing that names the machine."""

import platform
import subprocess

from dyparse.evaluation import provenance


def git(root, *arguments):
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    answer = subprocess.run(
        ["git", *identity, "-C", root, *arguments], check=True, capture_output=True, text=True
    )
    return answer.stdout.strip()


def clone_with_a_file(root):
    """A repository with dyparse/evaluation/provenance.py and one commit; the file."""
    file = root / "dyparse" / "evaluation" / "provenance.py"
    file.parent.mkdir(parents=True)
    file.write_text("pass\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "One")
    return file


def test_the_commit_is_that_of_the_clone_with_a_plus_if_files_differ(tmp_path, monkeypatch):
    file = clone_with_a_file(tmp_path)
    monkeypatch.setattr(provenance, "ROOT", file.parents[1])
    head = git(tmp_path, "rev-parse", "HEAD")
    assert provenance.commit() == head[:12]
    (tmp_path / "notes.txt").write_text("decides nothing")
    assert provenance.commit() == head[:12]
    file.write_text("changed\n")
    assert provenance.commit() == f"{head[:12]}+"


def test_an_installed_package_has_no_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "ROOT", tmp_path / "dyparse")
    assert provenance.commit() == ""


def test_without_git_there_is_no_commit_and_no_error(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "ROOT", clone_with_a_file(tmp_path).parents[1])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert provenance.commit() == ""


def test_the_machine_is_described_and_not_named():
    described = provenance.machine()
    assert platform.machine() in described
    assert "cores" in described
    assert platform.node() not in described.split()
