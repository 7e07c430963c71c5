"""The card of a model: what it is, how good, how to use it, and what it cannot do.

It is made from the model and, where they are beside it, the result and the options of its run. Like
these it names no place of the user's machine.
"""

import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from dyparse.comparison.significance import Counts, confidence_interval
from dyparse.config.choices import name_of, outside_modules
from dyparse.config.places import content_names
from dyparse.data.columns.pseudo_projective import AS_IT_IS
from dyparse.encoder import extras as encoder_extras
from dyparse.errors import DyparseError
from dyparse.evaluation.run_result import METRICS, RESULT, RunResult, read_result
from dyparse.feature import TAGS
from dyparse.head.labels import Labels
from dyparse.model.checkpoint import read_metrics
from dyparse.model.parser import Parser
from dyparse.publishing.languages import language_code
from dyparse.treebank._names import SAMPLE

OF_TEXT = """\
for sentence in parser("One sentence. And another."):
    print(sentence.to_conllu())"""
OF_TAGGED = """\
with open("tagged.conllu", encoding="utf-8") as file:
    for tree in parser.parse(conllu.parse(file.read())):
        print(tree.to_conllu())"""
LABELLED = ", whose moves carry the labels of arcs"
TITLES = {"sentences": "sentences", "words": "words", **{m: m.upper() for m in METRICS}}


@dataclass(frozen=True)
class Described:
    """A model to describe, and what is known of its training."""

    directory: Path
    parser: Parser
    metrics: Mapping[str, Any]  # saved with the model
    result: RunResult | None  # of its run, if that is beside the model

    @classmethod
    def read(cls, directory: Path) -> "Described":
        """The model in a directory; CheckpointError if it cannot be loaded."""
        metrics = read_metrics(directory)
        return cls(directory, Parser.load(directory), metrics, _result(directory, metrics))

    @property
    def treebank(self) -> str | None:
        """The treebank that it was trained on, if known."""
        return self.result.cell.treebank if self.result else None

    @property
    def tags(self) -> list[str]:
        """Columns with tags that it reads."""
        columns = {feature.column for feature in self.parser.collator.features}
        return [column.upper() for column in TAGS if column in columns]

    @property
    def predicted(self) -> list[str]:
        """Columns that it predicts beside trees."""
        return [head.name for head in self.parser.parts.config.heads if head.name != Labels.name]

    @property
    def imports(self) -> list[str]:
        """Modules outside the package that it needs."""
        return outside_modules(self.parser.parts.config.choices())

    def requirement(self, *extras: str) -> str:
        """What pip installs to load it: dyparse with these extras and those that it needs."""
        listed = ",".join([*extras, *encoder_extras(self.parser.parts.config.encoder)])
        return f"dyparse[{listed}]" if listed else "dyparse"

    def scores(self) -> dict[str, Mapping[str, Any]]:
        """Scores by split; those of tags and lemmas are saved with the model only."""
        saved = {
            s: self.metrics[s] for s in ("dev", "test") if isinstance(self.metrics.get(s), dict)
        }
        if self.result is None:
            return saved
        of_run = {"dev": self.result.dev, self.result.split: self.result.test}
        return {split: {**saved.get(split, {}), **scores} for split, scores in of_run.items()}


@dataclass(frozen=True)
class Card:
    """A model card: metadata for the Hub, and a page in Markdown."""

    metadata: dict[str, Any]
    page: str

    def __str__(self) -> str:
        front = yaml.safe_dump(self.metadata, sort_keys=False, allow_unicode=True)
        return f"---\n{front}---\n\n{self.page}"


def model_card(model: Described, name: str, install: str, licence: str | None = None) -> Card:
    """The card of a model that `dyparse.load` finds by this name after `pip install`."""
    sections = [
        f"# {name.removeprefix('hf://').partition('@')[0]}",
        _summary(model),
        _section("Scores", _scores(model)),
        _section("Use", _use(model, name, install)),
        _section("Reproduce", _reproduction(model, name)),
        _section("Limits", "\n".join(f"- {limit}" for limit in _limits(model))),
        _section("Licence", licence or ""),
    ]
    return Card(_metadata(model, licence), "\n\n".join(filter(None, sections)) + "\n")


def summary(model: Described) -> str:
    """The model in one line."""
    treebank = "its sample treebank" if model.treebank == SAMPLE else model.treebank
    return f"Dependency parser trained with dyparse on {treebank or 'a treebank'}"


def _result(directory: Path, metrics: Mapping[str, Any]) -> RunResult | None:
    """The result of the run that saved a model; None if there is none, or of another model."""
    path = directory.parent / RESULT
    with suppress(DyparseError, OSError, KeyError, TypeError):
        result = read_result(path)
        if result.dev["las"] == metrics["dev"]["las"]:
            return result
    return None


def _metadata(model: Described, licence: str | None) -> dict[str, Any]:
    """The front matter, as huggingface.co reads it."""
    treebank = model.treebank or ""
    code, is_ud = language_code(treebank), treebank.startswith("UD_")
    plain = licence if licence and " " not in licence else None  # no expression of several
    return {
        **({"language": [code]} if code else {}),
        **({"license": plain.lower()} if plain else {}),
        **({"license": "other", "license_name": licence} if licence and not plain else {}),
        "library_name": "dyparse",
        "pipeline_tag": "token-classification",
        "tags": ["dyparse", "dependency-parsing", *(["universal-dependencies"] if is_ud else [])],
    }


def _section(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _summary(model: Described) -> str:
    chosen, result = model.parser.parts.config, model.result
    features = ", ".join(feature.name for feature in model.parser.collator.features)
    size = sum(weights.numel() for weights in model.parser.model.parameters())
    lines = [
        f"{summary(model)}.",
        "",
        f"- transition system: `{name_of(chosen.system)}`"
        f"{LABELLED if chosen.joint_labels else ''}{_of_projectivity(chosen.projectivity)}",
        f"- predicts: {', '.join(['trees', *(name.upper() for name in model.predicted)])}",
        f"- encoder: `{name_of(chosen.encoder)}` over {features}",
        *(
            f"- `encoder.{option}`: {name}, hash {digest}, which has a licence of its own"
            for option, (name, digest) in content_names(chosen.encoder).items()
        ),
        f"- tokenizer: `{name_of(chosen.tokenizer)}`",
        f"- parameters: {size:,}",
    ]
    if result:
        training = f"exploration `{result.cell.exploration}`, loss `{result.cell.loss}`"
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
        lines.append(f"- training: {training}, seed {result.cell.seed}")
        lines.append(f"- trained on {result.train_words:,} words, with {versions}")
    return "\n".join(lines)


def _of_projectivity(projectivity: str) -> str:
    """What becomes of crossing arcs, if they are lifted and put back."""
    if projectivity == AS_IT_IS:
        return ""
    return f", pseudo-projective (Nivre & Nilsson 2005) with the encoding `{projectivity}`"


def _scores(model: Described) -> str:
    """A table of scores by split, with intervals where the counts of sentences are known."""
    scores, result = model.scores(), model.result
    if not scores:
        return "No scores were saved with this model."
    titles = TITLES | {f"{name}_accuracy": name.upper() for name in model.predicted}
    rows = [f"| split | {' | '.join(titles.values())} |", f"|---|{'--:|' * len(titles)}"]
    for split, figures in scores.items():
        intervals = _intervals(result) if result and split == result.split else {}
        cells = [_figure(figures.get(name)) + intervals.get(name, "") for name in titles]
        rows.append(f"| {split} | {' | '.join(cells)} |")
    given = f"gold words and gold {' and '.join(model.tags)}" if model.tags else "gold words"
    note = f"In percent, with {given}; punctuation counts."
    if result:
        note += (
            " In brackets, 95 % confidence intervals: a bootstrap over sentences, for this one "
            "training."
        )
    return "\n".join([*rows, "", note])


def _figure(value: Any) -> str:
    if not isinstance(value, int | float):
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def _intervals(result: RunResult) -> dict[str, str]:
    """The interval of each metric, as text."""
    counts = {name: [number] for name, number in result.sentences.items()}  # [1, K]
    twice_right = [[2 * number for number in result.sentences["content_right"]]]
    pairs = zip(result.sentences["content"], result.sentences["predicted_content"], strict=True)
    ratios = {
        "uas": (counts["heads"], counts["words"]),
        "las": (counts["labelled"], counts["words"]),
        "clas": (twice_right, [[gold + predicted for gold, predicted in pairs]]),
    }
    found = {}
    for metric, (right, total) in ratios.items():
        nothing = [[0] * len(right[0])]  # the difference to it is the score
        with suppress(ValueError):  # there is nothing to count
            pair = Counts(nothing, total, (0,)), Counts(right, total, (0,))
            low, high = confidence_interval({"": pair})
            found[metric] = f" [{low:.2f}, {high:.2f}]"
    return found


def _use(model: Described, name: str, install: str) -> str:
    needs_tags = bool(model.tags)
    modules = [*(["conllu"] if needs_tags else []), "dyparse", *model.imports]
    imported = "\n".join(f"import {module}" for module in modules)
    options = "".join(f" --import {module}" for module in model.imports)
    files = "tagged.conllu -o parsed.conllu" if needs_tags else "book.txt -o book.conllu"
    return f"""\
```sh
pip install {shlex.quote(install)}
dyparse parse {name} {files}{options}
```

```python
{imported}

parser = dyparse.load("{name}")
{OF_TAGGED if needs_tags else OF_TEXT}
```"""


def _reproduction(model: Described, name: str) -> str:
    """Commands that train the model again and score it; empty if its options are not known."""
    train = model.result.command if model.result else ""
    if not (train and model.treebank):
        return ""
    is_ud = model.treebank.startswith("UD_")
    commands = [f"pip install {shlex.quote(model.requirement('train'))}"]
    if is_ud:
        commands.append(f"dyparse download {model.treebank}")
    commands.append(train)
    if is_ud or model.treebank == SAMPLE:
        commands.append(f"dyparse evaluate model={name} treebank={model.treebank}")
    return "\n".join(["```sh", *commands, "```"])


def _limits(model: Described) -> list[str]:
    limits = []
    if model.tags:
        limits.append(
            f"It reads {' and '.join(model.tags)}: the input needs these tags. Its scores are with "
            "gold tags; with tags of a tagger they are lower, without any much lower."
        )
    if model.result:
        crossing = model.result.analysis["by_projectivity"]["nonprojective"]
        if crossing["gold"]:
            limits.append(
                f"Of the {crossing['gold']:,} crossing arcs in {model.result.split} it finds the "
                f"heads of {crossing['gold_right']:,}."
            )
    limits.append("On texts unlike those of its treebank, expect lower scores.")
    if model.imports:
        limits.append(f"It needs classes of {', '.join(model.imports)}, which are not part of it.")
    return limits
