"""Models on the Hugging Face Hub: their names, their files, and its errors in words.

Of a repository nothing is downloaded but `manifest.sha256` and the files of a model that it lists,
and these only up to the sizes that would be read. Cache, token and endpoint are those of
`huggingface_hub`, an extra that is imported when it is needed.
"""

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tqdm import tqdm

from dyparse.errors import CheckpointError, ConfigError, DyparseError, DyparseWarning
from dyparse.model.checkpoint_files import (
    LISTED,
    MANIFEST,
    MOST_BYTES,
    MOST_OWN_BYTES,
    OWN_FILE,
    WEIGHTS,
    read_manifest,
    shortened,
)
from dyparse.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

SCHEME = re.compile(r"hf:/{1,2}(.*)", re.DOTALL)  # a Path has one slash
REPOSITORY = r"[\w.-]+/[\w.-]+"
ADDRESS = re.compile(rf"({REPOSITORY})(?:@([\w./-]+))?", re.ASCII)
MOST_WEIGHTS_BYTES = 8 << 30
LOG_IN = "log in with `hf auth login`, or set HF_TOKEN"
MEANINGS = {  # of errors of huggingface_hub; the first is a case of the second
    "GatedRepoError": f"its owner grants access; ask for it on its page, then {LOG_IN}",
    "RepositoryNotFoundError": f"no such repository, or a private one; check it, or {LOG_IN}",
    "RevisionNotFoundError": "no such revision; name a branch, a tag or a commit",
    "HFValidationError": "no repository can have this name; expected OWNER/NAME",
}


class HubModel(NamedTuple):
    """A model on the Hub: its repository, and a branch, tag or commit of it."""

    repository: str  # OWNER/NAME
    revision: str | None = None  # None for the main branch

    @classmethod
    def named(cls, text: str) -> "HubModel | None":
        """The model that `hf://…` names, None for other texts; CheckpointError if it is none."""
        if not (scheme := SCHEME.fullmatch(text)):
            return None
        if not (address := ADDRESS.fullmatch(scheme[1])):
            raise CheckpointError(
                f"{shortened(text)}: no model on the Hub; expected hf://OWNER/NAME, or "
                "hf://OWNER/NAME@REVISION for a branch, tag or commit"
            )
        return cls(address[1], address[2])

    def __str__(self) -> str:
        return f"hf://{self.repository}" + (f"@{self.revision}" if self.revision else "")


def download(model: HubModel) -> Path:
    """The directory of a model in the cache of `huggingface_hub`, downloaded if it is not there.

    Without a connection, a model that was downloaded before is used with a warning.
    """
    api = hub_api()
    try:
        with explaining_hub_errors(str(model)):
            listing = api.model_info(model.repository, revision=model.revision, files_metadata=True)
    except CheckpointError as failure:
        return _cached(api, model, failure)
    sizes = {file.rfilename: file.size for file in listing.siblings or []}
    with explaining_hub_errors(str(model)):
        _require_sizes(model, {MANIFEST: sizes.get(MANIFEST)})
        names = list(read_manifest(_snapshot(api, model, [MANIFEST]) / MANIFEST))
        _require_sizes(model, {name: sizes.get(name) for name in names})
        return _snapshot(api, model, [MANIFEST, *names])


def hub_api() -> "HfApi":
    """The client of the Hub; ConfigError if the extra is not installed."""
    try:
        from huggingface_hub import HfApi
    except ImportError as error:
        raise ConfigError(
            f"huggingface_hub is not installed ({error}), which models on the Hub need; install "
            'it: pip install "dyparse[hub]"'
        ) from error
    for client in ("httpx", "httpx2"):  # every request is a line in the log of Hydra's commands
        logging.getLogger(client).setLevel(logging.WARNING)
    return HfApi(library_name="dyparse", library_version=__version__)


@contextmanager
def explaining_hub_errors(place: str) -> Iterator[None]:
    """Turns the errors of `huggingface_hub` into one CheckpointError about this place."""
    try:
        yield
    except DyparseError:
        raise
    except Exception as error:  # its own, those of its HTTP client, and those of its storage
        raise CheckpointError(f"{place}: {_finding(error)}") from error


def _finding(error: Exception) -> str:
    """What an error of `huggingface_hub` means, and the remedy."""
    from huggingface_hub import errors

    for kind, finding in MEANINGS.items():
        if isinstance(error, getattr(errors, kind)):
            return finding
    if isinstance(error, errors.HfHubHTTPError) and error.response.status_code in (401, 403):
        return f"the Hub does not allow it ({error.response.status_code}); {LOG_IN}"
    what = shortened(f"{type(error).__name__}: {error}")
    if isinstance(error, errors.HfHubHTTPError | ValueError):
        return f"the Hub answers with an error ({what}); correct it, or try again later"
    return f"the Hub cannot be reached ({what}); check the network, or try again later"


def _cached(api: "HfApi", model: HubModel, failure: CheckpointError) -> Path:
    """The directory of a model that was downloaded before; else the failure."""
    try:
        folder = _snapshot(api, model, [MANIFEST, *LISTED], local_files_only=True)
    except (OSError, ValueError):  # not there; no name of a repository
        raise failure from None
    warnings.warn(
        f"{failure}; using the copy that was downloaded before", DyparseWarning, stacklevel=3
    )
    return folder


class _Bar(tqdm):  # type: ignore[type-arg]  # it takes no argument when it runs
    """A progress bar on terminals only, as all of ours are."""

    def __init__(self, *given: Any, **options: Any) -> None:
        options.pop("name", None)  # of the library's own bars
        super().__init__(*given, **{**options, "disable": None})


def _snapshot(
    api: "HfApi", model: HubModel, names: list[str], *, local_files_only: bool = False
) -> Path:
    """The directory of a repository in the cache, with these files."""
    return Path(
        api.snapshot_download(
            model.repository,
            revision=model.revision,
            allow_patterns=names,
            local_files_only=local_files_only,
            tqdm_class=_Bar,
        )
    )


def _require_sizes(model: HubModel, sizes: Mapping[str, int | None]) -> None:
    """CheckpointError if a file is missing, or larger than what would be read."""
    left = MOST_OWN_BYTES
    for name, size in sizes.items():
        most = {**MOST_BYTES, WEIGHTS: MOST_WEIGHTS_BYTES}.get(name, left)
        if size is None:
            raise CheckpointError(
                f"{model}: no {name} in it, so it is no model of dyparse; check the name"
            )
        if size > most:
            raise CheckpointError(
                f"{model}: {name} has {size} bytes, expected at most {most}; nothing of it was "
                "downloaded: check the name, and whom the model is from"
            )
        left -= size if OWN_FILE.fullmatch(name) else 0
