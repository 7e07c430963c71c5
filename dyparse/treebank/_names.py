"""One way to name a treebank, for every command.

`sample` is the treebank of the package, `ud/UD_English-LinES` a directory of a UD release,
`UD_English-LinES` alone that directory in the current one or in `ud`, and `dev.conllu` a file.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from dyparse.config.choices import for_hydra, names
from dyparse.errors import ConfigError, TreebankError
from dyparse.treebank._split_files import SPLITS

SAMPLE = "sample"
EXPECTED = (
    f"expected `{SAMPLE}`, the directory of a UD treebank such as ud/UD_English-LinES, "
    "or a CoNLL-U file"
)
OVERRIDE = "treebank="
VALUE = re.compile(r"""'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|([^,]+)""")  # of a list


class Named(NamedTuple):
    """What the name of a treebank means: an alternative of the choice, and its options."""

    choice: str
    options: dict[str, str]


def find_named(name: str) -> Named:
    """The treebank of this name; TreebankError if there is none."""
    if name == SAMPLE:
        return Named(SAMPLE, {})
    if not name:
        raise TreebankError(f"the name of the treebank is empty; {EXPECTED}")
    try:
        place = Path(name).expanduser()
    except RuntimeError as error:  # there is no such user
        raise not_found(name) from error
    if os.path.isdir(place):  # unlike Path.is_dir, it takes a name of any length
        path = place if place.name not in ("", "..") else place.resolve()
        return Named("ud", {"root": str(path.parent), "name": path.name})
    if os.path.exists(place):
        return Named("files", {"train": str(place)})
    if place.name == name and os.path.isdir(Path("ud") / name):
        return Named("ud", {"root": "ud", "name": name})
    raise not_found(name)


def not_found(name: str) -> TreebankError:
    """Error for a name that means no treebank, with similar ones."""
    known = [SAMPLE, *(path.name for root in (".", "ud") for path in Path(root).glob("UD_*"))]
    near = difflib.get_close_matches(Path(name).name, known, 1)
    fetch = Path(name).name
    hint = f"; fetch it with: dyparse download {fetch}" if fetch.startswith("UD_") else ""
    hint += f"; did you mean {near[0]!r}?" if near else ""
    return TreebankError(f"{name}: no such file, directory or treebank; {EXPECTED}{hint}")


def files_of(name: str) -> tuple[str, list[str]]:
    """The short name of a treebank, and all its CoNLL-U files."""
    named = find_named(name)
    if named.choice == "files":
        return name, [named.options["train"]]
    if named.choice == SAMPLE:
        directory = files("dyparse.treebank") / "sample_data"
        return SAMPLE, [str(directory / f"{split}.conllu") for split in SPLITS]
    path = Path(named.options["root"]) / named.options["name"]
    if found := sorted(path.glob("*.conllu")):
        return path.resolve().name, list(map(str, found))
    raise TreebankError(
        f"{name}: no *.conllu in it; expected the directory of one treebank: name several as "
        "ud/UD_*"
    )


def files_of_split(name: str, split: str) -> list[str]:
    """The CoNLL-U files of a split of a treebank; a file alone is any split."""
    _, found = files_of(name)
    if find_named(name).choice == "files":
        return found
    of_split = [p for p in found if Path(p).stem == split or f"-ud-{split}" in Path(p).name]
    if not of_split:
        raise TreebankError(f"{name}: no {split} split in it; name a file, or another treebank")
    return of_split


def with_named_treebanks(arguments: Sequence[str], *, every_split: bool = False) -> list[str]:
    """Options of training or evaluation in which `treebank=` may name a place.

    A single file is for training, of which dev is held out; with every_split, for any split.
    """
    options: list[str] = []
    for argument in arguments:
        name = argument.removeprefix(OVERRIDE)
        if name == argument or not any(map(_is_place, _listed(name))):
            options.append(argument)
        else:
            options += _as_overrides(_listed(name), every_split=every_split)
    return options


def _listed(text: str) -> list[str]:
    """The values of a sweep, `a,'b c'`, without their quotes; a path that exists is one value."""
    if not text or os.path.exists(text):
        return [text]
    found = [match.groups() for match in VALUE.finditer(text)]
    quoted = [one if one is not None else other for one, other, _ in found]
    return [
        plain.strip() if inside is None else re.sub(r"\\(.)", r"\1", inside)
        for inside, (_, _, plain) in zip(quoted, found, strict=True)
    ]


def _is_place(name: str) -> bool:
    """Whether a name is no alternative of the choice, but looks like a directory or file."""
    if name in names("treebank"):
        return False
    looks = not name or "/" in name or name.startswith("UD_") or name.endswith(".conllu")
    is_treebank = os.path.isdir(name) and any(Path(name).glob("*.conllu"))
    return looks or is_treebank or os.path.isfile(name)


def _as_overrides(places: Sequence[str], *, every_split: bool) -> list[str]:
    found = [find_named(place) for place in places]
    choice, options = found[0]
    if every_split and choice == "files":
        options = dict.fromkeys(SPLITS, options["train"])
    roots = {one.options.get("root") for one in found}
    if len(places) > 1 and (len(roots) > 1 or {one.choice for one in found} != {"ud"}):
        raise ConfigError(
            f"{OVERRIDE}{','.join(places)}: a sweep takes UD treebanks in one directory; for "
            "others use dyparse compare --treebank …, or several commands"
        )
    values = {key: [value] for key, value in options.items()}
    if len(places) > 1:
        values["name"] = [one.options["name"] for one in found]
    return [
        f"{OVERRIDE}{choice}",
        *(f"treebank.{key}={','.join(map(for_hydra, of_key))}" for key, of_key in values.items()),
    ]
