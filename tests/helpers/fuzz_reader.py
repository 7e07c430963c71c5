"""A coverage-guided fuzz target for the reader, with atheris (`pip install -e ".[test,fuzz]"`).

    PYTHONPATH=tests python -m helpers.fuzz_reader -max_total_time=60 CORPUS

CORPUS is a directory for inputs that reach new code; the first run fills it with seeds. An input
that violates a property of sound_reading.py, or raises anything but a TreebankError, ends the run
and is written to crash-*. All options are those of libFuzzer.
"""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["dyparse.data"]):
    from helpers.sound_reading import check_bytes

from helpers.random_damage import ODD, short_sentences

SEEDS = 40
LONGEST = 1000  # bytes: few lines suffice for a fault, and short inputs run faster
RANGE = "1-2\tam\t_\t_\t_\t_\t_\t_\t_\t_\n"
EMPTY_NODE = "2.1\te\t_\t_\t_\t_\t_\t_\t1:x\t_\n"
WORDS = "1\ta\t_\tX\t_\t_\t2\tdet\t_\t_\n2\tb\t_\tX\t_\tA=B\t0\troot\t_\tC=D\n"


def seeds() -> list[bytes]:
    """Real sentences, one with everything that a file may contain, and some malformed ones."""
    whole = "\ufeff# sent_id = s\n# c\n" + RANGE + WORDS + EMPTY_NODE + "\n"
    texts = [*short_sentences()[:SEEDS], whole, whole.replace("\n", "\r\n"), whole + "\n\n" + whole]
    malformed = [WORDS, "#\n" + WORDS + RANGE, WORDS.replace("0", "1"), WORDS.replace("\t", " ")]
    return [*(text.encode() for text in (*texts, *malformed)), whole.encode("utf-16"), *ODD]


def dictionary() -> str:
    """Values for libFuzzer to insert, one per line."""
    values = filter(None, (*ODD, b"\t_\t_\t_\t_", b"\troot\t", b"\n1\t", b"\n2\t", b"\n1-2\t"))
    escaped = ("".join(map("\\x{:02x}".format, value)) for value in values)
    return "".join(f'"{value}"\n' for value in escaped)


def prepared(corpus: Path) -> list[str]:
    """Writes seeds and dictionary to the corpus; returns options for libFuzzer."""
    corpus.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()):
        (corpus / f"seed{number}").write_bytes(seed)
    words = corpus / "dictionary"  # also taken as a seed, which does no harm
    words.write_text(dictionary())
    return [f"-dict={words}", f"-max_len={LONGEST}", "-timeout=10", "-print_final_stats=1"]


def main() -> None:
    """Fuzz until libFuzzer ends it."""
    *options, corpus = sys.argv[1:] or sys.exit(__doc__)
    atheris.Setup([sys.argv[0], *prepared(Path(corpus)), *options, corpus], check_bytes)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
