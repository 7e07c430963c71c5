"""Write what docs/ takes from the code: `python scripts/make_docs.py`.

* docs/systems/<name>.svg: a derivation in each transition system, guided by its oracle;
* docs/systems/<name>.html: the oracle explorer of each system, for one short sentence;
* docs/figures/tree.svg: a tree of the sample treebank, as `dyparse draw` draws it;
* blocks between `<!-- name -->` and `<!-- /name -->` of pages:
  `options` of a system, exploration, loss or encoder, from its yaml;
  `coverage` of a system, from docs/systems/coverage.csv (`dyparse coverage TREEBANK... --csv`);
  `commands` in docs/reference/commands.md, `files` in docs/reference/options.md.

A second run writes the same bytes. With --check nothing is written, and it is an error if a file
would change.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

os.environ.setdefault("NUMBA_DISABLE_JIT", "1")  # a few states: compiling takes longer than running

from derivation_pictures import EXAMPLES, picture
from explorer_pages import explorer_page

from dyparse import system as systems
from dyparse.cli.main import command_line
from dyparse.cli.main import main as dyparse_command

PROJECT = Path(__file__).resolve().parent.parent
DOCS, CONF = PROJECT / "docs", PROJECT / "conf"
COVERAGE = "systems/coverage.csv"
FOLDERS = {  # where the pages of a choice are
    "system": "systems",
    "exploration": "explorations",
    "loss": "losses",
    "encoder": "encoders",
    "tokenizer": "tokenizers",
}
DRAWN = "train-0072"  # a sentence of the sample treebank
NOT_MEASURED = "Not measured yet.\n"

# --- coverage ------------------------------------------------------------------------------------


def coverage_block(name: str, lines: Sequence[dict[str, str]]) -> str:
    """The coverage table of a system, from lines of the csv; a sentence if there are none."""
    mine = [line for line in lines if line["system"].partition(":")[0] == name]
    if not mine:
        return NOT_MEASURED
    cells = ["| treebank | sentences | trees built | arcs built | lost arcs, mean | most |"]
    cells.append("|---|--:|--:|--:|--:|--:|")
    cells += [f"| {' | '.join(_cells(line))} |" for line in mine]
    return "\n".join(cells) + "\n"


def _cells(line: dict[str, str]) -> Iterator[str]:
    """Cells of a line: percentages rounded down, so that 100 means all; bounds marked as such."""
    options = line["system"].partition(":")[2]
    lost = int(line["words"]) - int(line["gold_arcs"])
    is_bound = line["exact"] != "true" and lost > 0
    least, about, most = ("≥ ", "≈ ", "≤ ") if is_bound else ("", "", "")
    yield line["treebank"] + (f" ({options})" if options else "")
    yield f"{int(line['sentences']):,}"
    yield f"{least}{_percent(int(line['built_sentences']), int(line['sentences']))}"
    yield f"{least}{_percent(int(line['gold_arcs']), int(line['words']))}"
    yield f"{about}{float(line['lost_arcs_mean']):.2f}" if lost else "0"
    yield f"{most}{line['lost_arcs_most']}" if lost else "0"


def _percent(part: int, whole: int) -> str:
    return f"{10_000 * part // whole / 100:.2f}%"


# --- reference -----------------------------------------------------------------------------------


def options_block(path: Path) -> str:
    """The options in a yaml, without the name of its class; a sentence if there are none."""
    lines = path.read_text(encoding="utf-8").splitlines()
    options = [line for line in lines if not line.startswith("_target_")]
    return "\n".join(["```yaml", *options, "```", ""]) if options else "None.\n"


def files_block(conf: Path = CONF) -> str:
    """Every yaml that is not on the page of a choice, under its name."""
    paths = [path for path in sorted(conf.rglob("*.yaml")) if "hydra" not in path.parts]
    chosen = [path for path in paths if path.parent.name not in FOLDERS]
    parts = [
        f"## {path.relative_to(conf).with_suffix('').as_posix()}\n\n{options_block(path)}"
        for path in sorted(chosen, key=lambda path: (path.parent != conf, path))
        if path.stem != "directories"  # where Hydra writes, and its --help
    ]
    return "\n" + "\n".join(parts) + "\n"


def commands_block() -> str:
    """Every command: what it does, its arguments, and examples."""
    (group,) = [a for a in command_line()._actions if isinstance(a, argparse._SubParsersAction)]
    helps = {choice.dest: choice.help for choice in group._choices_actions}
    parts = [_command(name, helps[name] or "", parser) for name, parser in group.choices.items()]
    return "\n" + "\n".join(parts)


def _command(name: str, summary: str, parser: argparse.ArgumentParser) -> str:
    text = parser.description or f"{summary[:1].upper()}{summary[1:]}."
    lines = [f"## dyparse {name}", "", " ".join(text.split()), ""]
    rows = [_argument(a) for a in parser._actions if not isinstance(a, argparse._HelpAction)]
    if rows:
        lines += ["| argument | meaning |", "|---|---|", *rows, ""]
    else:
        lines += [
            f"Its [options](options.md) are `key=value`; `dyparse {name} --help` lists them.",
            "",
        ]
    if parser.epilog:
        lines += ["```text", parser.epilog, "```", ""]
    return "\n".join(lines)


def _argument(action: argparse.Action) -> str:
    """A line of the table: names, value, meaning with its default."""
    takes_value = action.nargs != 0
    value = action.metavar or action.dest.upper()
    if action.choices:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    names = [f"{n} {value}" if takes_value else n for n in action.option_strings] or [str(value)]
    meaning = (action.help or "") % (vars(action) | {"prog": "dyparse"})
    cells = (", ".join(f"`{name}`" for name in names), " ".join(meaning.split()))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def drawn_tree() -> str:
    """A tree of the sample treebank by `dyparse draw`."""
    with tempfile.TemporaryDirectory() as directory:
        out = Path(directory) / "tree.svg"
        if status := dyparse_command(["draw", "sample", "--sentence", DRAWN, "-o", str(out)]):
            raise SystemExit(status)
        return out.read_text(encoding="utf-8")


# --- files ---------------------------------------------------------------------------------------


def with_blocks(path: Path, blocks: dict[str, str]) -> str:
    """A page with new blocks."""
    page = path.read_text(encoding="utf-8")
    for name, block in blocks.items():
        place = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        if len(place.findall(page)) != 1:
            raise ValueError(
                f"{path}: expected one <!-- {name} -->, followed by one <!-- /{name} -->"
            )
        page = place.sub(block.replace("\\", r"\\"), page)
    return page


def files(docs: Path) -> Iterator[tuple[Path, str]]:
    """Every generated file, and its content."""
    lines: list[dict[str, str]] = []
    if (docs / COVERAGE).exists():
        with (docs / COVERAGE).open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file))
    for choice, folder in FOLDERS.items():
        for path in sorted((CONF / choice).glob("*.yaml")):
            blocks = {"options": options_block(path)}
            if choice == "system":
                blocks["coverage"] = coverage_block(path.stem, lines)
                yield docs / folder / f"{path.stem}.svg", system_picture(path.stem)
                yield docs / folder / f"{path.stem}.html", explorer_page(path.stem)
            page = docs / folder / f"{path.stem}.md"
            yield page, with_blocks(page, blocks)
    reference = docs / "reference"
    yield (
        reference / "commands.md",
        with_blocks(reference / "commands.md", {"commands": commands_block()}),
    )
    yield reference / "options.md", with_blocks(reference / "options.md", {"files": files_block()})
    yield docs / "figures" / "tree.svg", drawn_tree()


def system_picture(name: str) -> str:
    """The derivation of a system's example."""
    if name not in EXAMPLES:
        raise ValueError(f"{name} has no example sentence; add one to derivation_pictures.EXAMPLES")
    return picture(name, systems.load(name), EXAMPLES[name])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="directory of the site's pages")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; list stale files and fail"
    )
    options = parser.parse_args()
    stale = [
        (path, text)
        for path, text in files(options.docs)
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path, text in stale:
        sys.stdout.write(f"{path}: {'stale' if options.check else 'written'}\n")
        if not options.check:
            path.write_text(text, encoding="utf-8", newline="\n")
    if not (options.docs / COVERAGE).exists():
        sys.stdout.write(
            f"{options.docs / COVERAGE} is missing, so the pages have no coverage; create it with\n"
            f"  dyparse coverage ud/UD_* --csv {options.docs / COVERAGE}\n"
        )
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
