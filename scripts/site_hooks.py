"""Hooks of the site (mkdocs.yml): what it shows beside the pages of docs/.

* CONTRIBUTING.md and CHANGELOG.md, which lie at the top of the repository, are pages of it;
* docs/tutorial.ipynb is shown, with its outputs, as the page notebook.md;
* links to files that are no pages, such as source code, work where the repository is browsed;
  the site has their text only.
"""

from __future__ import annotations

import json
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

TOP_PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")
NOTEBOOK = "tutorial.ipynb"
LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^][]*\])*)\]\(([^)\s]+)\)")
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")  # colours of a terminal


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    docs = Path(config.docs_dir)
    for name in TOP_PAGES:
        text = (docs.parent / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text.replace("](docs/", "](")))
    notebook = json.loads((docs / NOTEBOOK).read_text(encoding="utf-8"))
    files.append(File.generated(config, "notebook.md", content=to_markdown(notebook)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page in which every local link leads to a page or a file of the site."""
    docs = Path(config.docs_dir)
    folder = posixpath.dirname(page.file.src_uri)

    def in_site(link: re.Match[str]) -> str:
        text, target = link.groups()
        path, _, anchor = target.partition("#")
        if not path or "://" in path:
            return link[0]
        place = posixpath.normpath(posixpath.join(folder, path))
        if files.get_file_from_path(place):
            return link[0]
        top = place.removeprefix("../")
        if top in TOP_PAGES:
            return f"[{text}]({posixpath.relpath(top, folder or '.')}{'#' * bool(anchor)}{anchor})"
        is_there = (docs / place).exists() or (docs.parent / top).exists()
        return text if is_there else link[0]  # what is not there is left to mkdocs to report

    return LINK.sub(in_site, markdown)


def to_markdown(notebook: dict[str, Any]) -> str:
    """A notebook as a page: its text, its code, and the outputs that are saved in it."""
    parts = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
        else:
            parts.append(f"```python\n{source}\n```")
            parts += [_output(output) for output in cell.get("outputs", [])]
    return "\n\n".join(part for part in parts if part) + "\n"


def _output(output: dict[str, Any]) -> str:
    """One output of a cell: a picture if there is one, else its text."""
    data = output.get("data", {})
    if picture := data.get("image/svg+xml") or data.get("text/html"):
        return f'<div class="output" markdown="0">{"".join(picture)}</div>'
    if png := data.get("image/png"):
        return f'<img class="output" alt="" src="data:image/png;base64,{"".join(png).strip()}">'
    text = "".join(output.get("text") or data.get("text/plain") or [])
    block = f"```text\n{ESCAPES.sub('', text).rstrip()}\n```"
    return f'<div class="output" markdown="1">\n\n{block}\n\n</div>' if text.strip() else ""
