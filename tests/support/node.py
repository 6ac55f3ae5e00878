"""Tests written for node, run by ours."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path


def run_node(node: str, test: Path, **environment: str) -> None:
    """Run a file of node's tests and fail with what it says of those that failed."""
    run = subprocess.run(
        [node, "--test", str(test)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    failed = re.findall(r"^ *not ok .*?(?=^ *\.\.\.)", run.stdout, re.M | re.S)
    assert run.returncode == 0, (
        "\n".join(text[:1500] for text in failed[:6]) or run.stdout[-3000:] + run.stderr[-2000:]
    )
