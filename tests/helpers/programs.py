"""Python programs in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from helpers.tiny import PROJECT


def python(program: str, cwd: Path = PROJECT, **environment: str) -> Any:
    """What a program prints, as JSON; it can import this project and modules in its directory."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(PROJECT)} | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
