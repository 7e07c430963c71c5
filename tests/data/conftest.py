"""Fixtures of the tests that read malformed files."""

import pytest

from dyparse.parsing.ray_pool import Outcome, ParserActor


@pytest.fixture
def ray_in_this_process(monkeypatch):
    """`parse-corpus` parses in this process, by the actor that otherwise runs on Ray."""

    def parse_here(jobs, *settings_and_pool):
        actor = ParserActor(*settings_and_pool[:-1])
        for job in jobs:
            columns = actor({"source": [job.source], "output": [job.output]})
            yield Outcome(**{name: column[0] for name, column in columns.items()})

    monkeypatch.setattr("dyparse.cli.parse_corpus.parse_on_ray", parse_here)
