"""docs/extend.md is true: followed from an empty directory, every block works."""

import os
import re
import subprocess
import sys

import pytest
from helpers.extend_page import BLOCKS, file_of
from helpers.tiny import PROJECT

SMALL = "trainer=debug trainer.max_sentences=12 encoder.hidden=8 encoder.layers=1 threads=1"


@pytest.mark.slow  # minutes; the files of the page take part in the other tests of this folder
def test_the_page_can_be_followed_from_an_empty_directory(tmp_path):
    (tmp_path / "sentences.txt").write_text("The dog barks.\nA cat sleeps.\n" * 10)
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    shell = environment | {"PYTHONSAFEPATH": "1"}  # as `dyparse` does not look where it is started
    for language, block in BLOCKS:
        if name := file_of(block):
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block)
        elif language == "python":
            run([sys.executable, "-c", block], tmp_path, environment)
        else:
            commands = re.sub(r"^python ", f"{sys.executable} ", block, flags=re.MULTILINE)
            commands = re.sub(r"^dyparse", f"{sys.executable} -m dyparse", commands, flags=re.M)
            commands = commands.replace("trainer=debug", SMALL).replace("--seeds 1-2", "--seeds 1")
            run(["bash", "-e", "-c", commands], tmp_path, shell)
    assert (tmp_path / "compare" / "report.html").exists()


def run(command, directory, environment):
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
