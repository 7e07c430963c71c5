"""A stand-in for wandb that records what it is given."""

from pathlib import Path
from types import SimpleNamespace


class FakeRun:
    """Records what a wandb run is given."""

    id = "abc"
    resumed = False

    def __init__(self):
        self.logged, self.summary, self.artifacts, self.exit_code = [], {}, [], None

    def define_metric(self, *_, **__):
        pass

    def log(self, figures):
        self.logged.append(figures)

    def log_artifact(self, artifact):
        self.artifacts.append(artifact)

    def finish(self, exit_code=0):
        self.exit_code = exit_code


class FakeError(Exception):
    """Base class of wandb's errors."""


class FakeCommError(FakeError):
    """The server cannot be reached."""


class FakeWandb:
    """The part of wandb that we use."""

    errors = SimpleNamespace(Error=FakeError, CommError=FakeCommError)
    unreachable: Exception | None = None
    Settings = staticmethod(SimpleNamespace)

    def __init__(self, key):
        self.api, self.run, self.options = SimpleNamespace(api_key=key), FakeRun(), None

    def init(self, **options):
        self.options = options
        if self.unreachable and options["mode"] == "online":
            raise self.unreachable
        return self.run

    @staticmethod
    def Table(columns, data):  # noqa: N802 - wandb's name
        return columns, data

    @staticmethod
    def Artifact(name, type):  # noqa: N802 - wandb's name
        files = []
        return SimpleNamespace(name=name, type=type, files=files, add_dir=files.append)

    Image = Html = staticmethod(Path)
