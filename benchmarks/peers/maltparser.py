"""MaltParser: static oracles of arc-eager, Covington (non-projective) and 2-planar, with LIBLINEAR
(Nivre et al. 2007).

MaltParser's defaults, with its feature model of each algorithm for CoNLL-U: gold UPOS, words and
labels, no FEATS. Its root label is the treebank's `root`, not ROOT, for that is what words without
a head get; there may be several. Arc-eager learns from crossing trees what it can: there is no
pseudo-projective encoding. Without tags the features of UPOS read the word instead, as most of the
feature model would be empty.

LIBLINEAR learns all states at once, so that training runs to its end whatever the minutes, and
there is no LAS before; its speed counts every word once. There is no seed. A Java process trains,
and another one parses, with one thread and Java's default heap. CPU seconds and peak memory are
theirs; start-up, reading the model and compiling are inside, and weigh on the speed of parsing if
test is small. CoNLL-U to CoNLL-U is the only interface used. The jar comes with parsivar, a library
for Persian that is not run here; Java has to be installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from functools import partial
from importlib.metadata import distribution
from pathlib import Path

from conllu_columns import without_tags
from measurement import CONLLU, Measurement, Row, read_job

REQUIREMENTS = (("--no-deps", "parsivar==0.2.3.1"),)
VERSION = "1.9.2"
JAR = f"parsivar/resource/dependency_parser/maltparser-{VERSION}.jar"
TITLES = {
    "nivreeager": "arc-eager",
    "covnonproj": "Covington non-projective",
    "2planar": "2-planar",
}
ROWS = tuple(
    Row(
        f"maltparser-{algorithm}{'' if tags else '-no-tags'}",
        f"MaltParser, {title}, static oracle{'' if tags else ', no tags'}",
        "words, UPOS" if tags else "words",
        {"algorithm": algorithm, "tags": tags},
    )
    for tags in (True, False)
    for algorithm, title in TITLES.items()
)
ONE_THREAD = ("-XX:ActiveProcessorCount=1", "-XX:+UseSerialGC")
MODEL = "model"


def main() -> None:
    job = read_job()
    java = found_java()
    measurement = Measurement(job)
    directory = Path(job.directory)
    if not job.options["tags"]:
        job = without_tags(job, upos=lambda form: form)
    measurement.start()
    run(java, directory, "learn", job.train, *learning(job.options["algorithm"]))
    measurement.words = job.train_words
    measurement.trained("all of train at once, to its end")
    parse = partial(parse_file, java, directory, job.test)
    measurement.parsed(parse, {CONLLU: lambda: parse(directory / "timed.conllu")})
    packages = {"MaltParser": VERSION, "Java": version_of(java)}
    measurement.finish(directory / f"{MODEL}.mco", packages)


def found_java() -> str:
    java = shutil.which("java")
    if java is None:
        raise RuntimeError("MaltParser needs Java, but there is no `java` on the PATH")
    return java


def learning(algorithm: str) -> list[str]:
    """MaltParser's options of training."""
    return ["-if", "conllu", "-a", algorithm, "-l", "liblinear", "-grl", "root"]


def parse_file(java: str, directory: Path, test: str, path: Path) -> None:
    """Parse test, from CoNLL-U to CoNLL-U."""
    run(java, directory, "parse", test, "-o", str(path))


def run(java: str, directory: Path, mode: str, source: str, *options: str) -> None:
    """Run MaltParser on a file; RuntimeError with its message if it fails."""
    jar = str(distribution("parsivar").locate_file(JAR))
    files = ["-w", str(directory), "-c", MODEL, "-i", source]
    output = output_of([java, *ONE_THREAD, "-jar", jar, "-m", mode, *files, *options])
    sys.stdout.write(output)  # the driver keeps it in a log


def version_of(java: str) -> str:
    """Java's version."""
    found = re.search(r'version "(.+?)"', output_of([java, "-version"]))
    return found[1] if found else "unknown"


def output_of(command: list[str]) -> str:
    """The output of a command; RuntimeError with its message if it fails."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise RuntimeError(java_message(done.stdout))
    return done.stdout


def java_message(output: str) -> str:
    """The last line that is not indented, as frames and MaltParser's heading are."""
    lines = [line.strip() for line in output.split("\n") if line.strip() and not line[0].isspace()]
    return lines[-1] if lines else "no message"


if __name__ == "__main__":
    main()
