"""A model as a package: a wheel that pip installs, and whose name `dyparse.load` takes.

The wheel holds data and no code. The same model gives the same bytes: times are fixed, and files
are stored as they are, since libraries compress differently.
"""

import base64
import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dyparse.errors import ConfigError
from dyparse.model.sources import GROUP, NAME, normalized
from dyparse.runtime.atomic_files import replacing
from dyparse.version import __version__

FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # that a zip file can express
PLAIN_FILE = 0o100644 << 16


@dataclass(frozen=True)
class Wheel:
    """Name and description of a package; ConfigError if one of them is not allowed."""

    name: str
    version: str
    summary: str
    readme: str  # Markdown
    requirement: str = "dyparse"  # with the extras that the model needs
    licence: str | None = None  # an SPDX expression
    licence_file: tuple[str, bytes] | None = None  # its name and text

    def __post_init__(self) -> None:
        from packaging.version import InvalidVersion, Version

        if not NAME.fullmatch(self.name) or normalized(self.name) == "dyparse":
            raise ConfigError(
                f"--name is {self.name!r}, expected the name of a package: letters, digits, dots, "
                "dashes and underscores, such as dyparse-en-lines"
            )
        try:
            version = str(Version(self.version))
        except InvalidVersion:
            raise ConfigError(
                f"--version is {self.version!r}, expected one such as 0.1.0 (PEP 440)"
            ) from None
        object.__setattr__(self, "name", normalized(self.name))
        object.__setattr__(self, "version", version)

    @property
    def folder(self) -> str:
        """The folder that the model is installed in."""
        return self.name.replace("-", "_")

    @property
    def file_name(self) -> str:
        """The name that pip expects."""
        return f"{self.folder}-{self.version}-py3-none-any.whl"

    def write(self, directory: Path, model: Mapping[str, bytes]) -> Path:
        """Write the wheel with the files of a model, whole or not at all; its path."""
        information = f"{self.folder}-{self.version}.dist-info"
        files = {f"{self.folder}/{name}": content for name, content in model.items()}
        if self.licence_file:
            name, content = self.licence_file
            files[f"{information}/licenses/{name}"] = content
        for name, text in self._information().items():
            files[f"{information}/{name}"] = text.encode()
        record = f"{information}/RECORD"
        lines = [f"{name},{_digest(content)},{len(content)}" for name, content in files.items()]
        files[record] = "\n".join([*lines, f"{record},,", ""]).encode()
        path = directory / self.file_name
        with replacing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
            for name, content in files.items():
                entry = zipfile.ZipInfo(name, FIRST_DAY)
                entry.create_system, entry.external_attr = 3, PLAIN_FILE  # as on Unix, everywhere
                archive.writestr(entry, content)
        return path

    def _information(self) -> dict[str, str]:
        """The files that describe a wheel, without the record of all files."""
        licence = [f"License-Expression: {self.licence}"] if self.licence else []
        licence += [f"License-File: {self.licence_file[0]}"] if self.licence_file else []
        metadata = [
            "Metadata-Version: 2.4",
            f"Name: {self.name}",
            f"Version: {self.version}",
            f"Summary: {self.summary}",
            *licence,
            "Requires-Python: >=3.10",
            f"Requires-Dist: {self.requirement}>={__version__}",
            "Description-Content-Type: text/markdown",
        ]
        kind = [
            "Wheel-Version: 1.0",
            f"Generator: dyparse {__version__}",
            "Root-Is-Purelib: true",
            "Tag: py3-none-any",
        ]
        return {
            "METADATA": "\n".join([*metadata, "", self.readme]),
            "WHEEL": "\n".join([*kind, ""]),
            "entry_points.txt": f"[{GROUP}]\n{self.name} = {self.folder}\n",
        }


def _digest(content: bytes) -> str:
    """A checksum as a RECORD has it."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    return f"sha256={digest}"
