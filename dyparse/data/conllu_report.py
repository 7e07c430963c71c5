"""Checks whole files and reports every malformed sentence, not only the first."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TextIO

from dyparse.data.conllu import Source, read_blocks, to_sentence
from dyparse.errors import TreebankError


@dataclass
class FileCheck:
    """Counts and findings for one file, with at most one finding per sentence."""

    path: str
    sentences: int = 0  # well-formed ones only, as in the next two counts
    words: int = 0
    nonprojective: int = 0
    findings: list[str] = field(default_factory=list)  # messages, up to a limit
    unlisted: int = 0  # findings beyond the limit

    @property
    def malformed(self) -> int:
        """Number of findings, listed or not."""
        return len(self.findings) + self.unlisted

    def summary(self) -> str:
        """One line of counts."""
        counts = f"{self.sentences} sentences, {self.words} words"
        if self.sentences:
            share = self.nonprojective / self.sentences
            counts += f", {self.nonprojective} ({share:.1%}) sentences non-projective"
        verdict = f"{self.malformed} malformed" if self.malformed else "sound"
        return f"{self.path}: {verdict}; {counts}"


def check_file(source: Source, *, limit: int = 20) -> FileCheck:
    """Checks every sentence of a file; lists the first `limit` findings and counts the rest."""
    path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else ""
    check = FileCheck(path)
    try:
        for block in read_blocks(source):
            check.path = block.path
            try:
                sentence = to_sentence(block, trees=True)
            except TreebankError as error:
                _add(check, str(error), limit)
                continue
            check.sentences += 1
            check.words += len(sentence)
            check.nonprojective += not sentence.is_projective()
    except TreebankError as error:  # the file as a whole
        _add(check, str(error), limit)
    return check


def _add(check: FileCheck, finding: str, limit: int) -> None:
    if len(check.findings) < limit:
        check.findings.append(finding)
    else:
        check.unlisted += 1


def check_files(sources: Iterable[Source], stream: TextIO, *, limit: int = 20) -> int:
    """Checks files and writes a report to `stream`; returns 0 if all are sound, otherwise 2."""
    status = 0
    for source in sources:
        check = check_file(source, limit=limit)
        for finding in check.findings:
            stream.write(f"{finding}\n")
        if check.unlisted:
            stream.write(f"{check.path}: and {check.unlisted} more malformed sentences\n")
        stream.write(f"{check.summary()}\n")
        status = 2 if check.malformed else status
    return status
