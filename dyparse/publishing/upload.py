"""Uploads a model with its card to the Hugging Face Hub, in one commit."""

import re
from collections.abc import Mapping

from dyparse.errors import ConfigError
from dyparse.model.hub import REPOSITORY, HubModel, explaining_hub_errors, hub_api

CARD = "README.md"


def require_repository(name: str) -> str:
    """The name if it can be that of a repository; else ConfigError."""
    if not re.fullmatch(REPOSITORY, name, re.ASCII):
        raise ConfigError(
            f"{name!r} is not the name of a repository; expected OWNER/NAME, such as "
            "me/dyparse-en-lines"
        )
    return name


def upload(target: HubModel, files: Mapping[str, bytes], *, private: bool) -> str:
    """Upload files to a repository, which is made if there is none; the address of the commit.

    CheckpointError if the Hub does not allow it or cannot be reached.
    """
    api = hub_api()
    from huggingface_hub import CommitOperationAdd

    repository, revision = target
    with explaining_hub_errors(str(target)):
        api.create_repo(repository, private=private or None, exist_ok=True)
        if revision:
            api.create_branch(repository, branch=revision, exist_ok=True)
        commit = api.create_commit(
            repository,
            [CommitOperationAdd(name, content) for name, content in files.items()],
            commit_message="Upload a model of dyparse",
            revision=revision,
        )
    return str(commit.commit_url)
