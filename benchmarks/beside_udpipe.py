"""Speed of parsing beside UDPipe 1, from CoNLL-U to CoNLL-U, in turn in one process.

    pip install ufal.udpipe
    python benchmarks/beside_udpipe.py TRAIN.conllu TEST.conllu MODEL [MODEL ...]

UDPipe's parser alone, greedy, with gold words and tags; it is trained for two iterations if there
is no model of it yet, for its speed does not depend on how good it is. One thread, CPU seconds,
medians of the rounds; how accurate both are is measured by benchmarks/peers.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from precisions import parse_file
from ufal import udpipe  # type: ignore[import-not-found]  # not among the requirements

from dyparse.data.conllu import read_sentences
from dyparse.parsing.settings import Settings, load_parser
from dyparse.runtime.console import print_line


def main() -> None:
    """Print words per second, and the ratio to UDPipe's."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("train")
    arguments.add_argument("test")
    arguments.add_argument("models", nargs="+")
    arguments.add_argument("--udpipe", type=Path, default=Path("two-iterations.udpipe"))
    arguments.add_argument("--rounds", type=int, default=5)
    options = arguments.parse_args()
    torch.set_num_threads(1)
    if not options.udpipe.exists():
        options.udpipe.write_bytes(trained(Path(options.train)))
    peer = udpipe.Model.load(str(options.udpipe))
    tasks: dict[str, Callable[[], object]] = {
        "UDPipe 1, greedy": partial(parsed_by_udpipe, peer, Path(options.test))
    }
    for model in options.models:
        parser = load_parser(Settings(model=model, threads=1, precision="int8"))
        tasks[model] = partial(parse_file, parser, options.test)
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(options.rounds + 1):
        for name, run in tasks.items():
            start = time.process_time()
            run()
            seconds[name].append(time.process_time() - start)
    words = sum(map(len, read_sentences(options.test, trees=False)))
    speeds = {name: words / statistics.median(found[1:]) for name, found in seconds.items()}
    first = next(iter(speeds.values()))
    for name, speed in speeds.items():
        slowest, fastest = words / max(seconds[name][1:]), words / min(seconds[name][1:])
        print_line(
            f"{name:30} {speed:9,.0f} words/s ({slowest:,.0f} to {fastest:,.0f}), "
            f"{speed / first:.2f} times UDPipe"
        )


def trained(path: Path) -> bytes:
    """A parser of two iterations."""
    reader, error = udpipe.InputFormat.newConlluInputFormat(), udpipe.ProcessingError()
    reader.setText(path.read_text(encoding="utf-8"))
    sentences, sentence = udpipe.Sentences(), udpipe.Sentence()
    while reader.nextSentence(sentence, error):
        sentences.append(sentence)
        sentence = udpipe.Sentence()
    how = "iterations=2;transition_system=projective;transition_oracle=dynamic"
    nothing = udpipe.Sentences()
    content: bytes = udpipe.Trainer.train(
        "morphodita_parsito", sentences, nothing, "none", "none", how, error
    )
    if error.occurred():
        raise SystemExit(error.message)
    return content


def parsed_by_udpipe(model: Any, path: Path) -> str:
    """From CoNLL-U to CoNLL-U."""
    error, no_tagger = udpipe.ProcessingError(), udpipe.Pipeline.NONE
    pipeline = udpipe.Pipeline(model, "conllu", no_tagger, "beam_search=1", "conllu")
    text: str = pipeline.process(path.read_text(encoding="utf-8"), error)
    if error.occurred():
        raise SystemExit(error.message)
    return text


if __name__ == "__main__":
    main()
