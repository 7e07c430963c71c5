"""`dyparse serve` as a program: its address, its end, the names of its models."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from helpers.tiny import PROJECT, sample


@contextmanager
def served(*arguments: str, cwd: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server in a process of its own, and its address."""
    command = [sys.executable, "-m", "dyparse", "serve", "--port=0", "--threads=1", *arguments]
    with (cwd / "log").open("w") as log:  # a pipe that nobody reads would stop the server
        process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout
        line = process.stdout.readline()
        found = re.search(r"dyparse serves on (http://127\.0\.0\.1:\d+) ", line)
        assert found, line
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


def post(address: str, path: str, body: dict[str, Any]) -> bytes:
    request = urllib.request.Request(
        address + path, json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:
        content: bytes = answer.read()
        return content


def test_a_server_that_is_told_to_end_answers_first(model_directory, tmp_path):
    """SIGTERM while a request is parsed: it is answered whole, the exit status is 0."""
    text = "".join(sentence.to_conllu() for sentence in sample("dev")[:100] * 3)
    with served(str(model_directory), cwd=tmp_path) as (process, address):
        (model,) = json.loads(urllib.request.urlopen(f"{address}/api/models").read())
        assert (model["name"], model["system"], model["default"]) == ("tiny", "arc_eager", True)
        answers: list[bytes] = []
        body = {"conllu": text, "format": "conllu"}
        asking = threading.Thread(target=lambda: answers.append(post(address, "/api/parse", body)))
        asking.start()
        while True:  # until the request is being parsed
            metrics = urllib.request.urlopen(f"{address}/metrics").read().decode()
            if 'dyparse_batch_sentences_sum{model="tiny"} 300' in metrics or not asking.is_alive():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        asking.join(120)
        assert process.wait(60) == 0
        assert answers[0].decode().count("# sent_id") == 300
        log = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        assert {"method": "POST", "route": "/api/parse", "status": 200}.items() <= max(
            log, key=lambda line: line["bytes"]
        ).items()


def test_neither_the_package_nor_its_help_imports_the_server():
    program = (
        "import sys, dyparse, dyparse.cli.main\n"
        "dyparse.cli.main.command_line().format_help()\n"
        "print([name for name in ('starlette', 'uvicorn', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(("given", "name"), [("x=MODEL", "x"), ("MODEL", "tiny")])
def test_models_are_named_after_their_runs_or_as_given(model_directory, given, name):
    from dyparse.web.models import names_and_places

    text = given.replace("MODEL", str(model_directory))
    assert names_and_places([text]) == {name: str(model_directory)}
