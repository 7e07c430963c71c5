"""UDPipe 1 from raw text: tokenizer, tagger and parser trained on the treebank's train split.

Training is one call, with UDPipe's own options for the three parts; all of its CPU seconds count,
including the tagging of train for the parser. Without dev UDPipe keeps the last iteration;
`heldout` gives dev to it. Parsing is from text to CoNLL-U with the loaded model: greedy, and with
UDPipe's default beam of 5.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from measurement import TEXT, Measurement, Row, read_job, versions
from udpipe import GREEDY, REQUIREMENTS, read

__all__ = ["REQUIREMENTS"]  # the driver looks for it here
PARTS = {"tokenizer": "epochs=50", "tagger": "iterations=20", "parser": "iterations=10"}
QUICK = {"tokenizer": "epochs=1", "tagger": "iterations=1", "parser": "iterations=1"}
BEAM = "beam_search=5"


def rows(parts: dict[str, str], *, heldout: bool) -> tuple[Row, ...]:
    """The line of the table: options of tokenizer, tagger and parser, as UDPipe has them."""
    reads = ", ".join(f"{part} {options}" for part, options in parts.items())
    return (Row("udpipe-text", "UDPipe 1, greedy", reads, {**parts, "heldout": heldout}),)


def main() -> None:
    from ufal import udpipe  # type: ignore[import-not-found]  # in its own environment

    job = read_job()
    measurement = Measurement(job)
    train, nothing = sentences_of(udpipe, job.train), udpipe.Sentences()
    dev = sentences_of(udpipe, job.dev) if job.options["heldout"] else nothing
    measurement.start()
    error = udpipe.ProcessingError()
    parts = [job.options[part] for part in PARTS]
    content = udpipe.Trainer.train("morphodita_parsito", train, dev, *parts, error)
    require_success(error)
    measurement.trained("all iterations")
    path = Path(job.directory) / "model.udpipe"
    path.write_bytes(content)
    model = udpipe.Model.load(str(path))
    timed = Path(job.directory) / "timed.conllu"
    for name, options in (("", GREEDY), ("beam 5", BEAM)):
        parse = partial(parse_text, udpipe, model, options, Path(job.test))
        measurement.parsed(parse, {TEXT: partial(parse, timed)}, other=name)
    measurement.finish(path, versions("ufal.udpipe"))


def sentences_of(udpipe: Any, path: str) -> Any:
    """The sentences of a CoNLL-U file."""
    return read(udpipe, Path(path).read_text(encoding="utf-8"))


def parse_text(udpipe: Any, model: Any, options: str, source: Path, path: Path) -> None:
    """Parse a text, from text to CoNLL-U."""
    error = udpipe.ProcessingError()
    default = udpipe.Pipeline.DEFAULT
    pipeline = udpipe.Pipeline(model, "tokenize", default, options, "conllu")
    text = pipeline.process(source.read_text(encoding="utf-8"), error)
    require_success(error)
    path.write_text(text, encoding="utf-8")


def require_success(error: Any) -> None:
    if error.occurred():
        raise RuntimeError(error.message)


if __name__ == "__main__":
    main()
