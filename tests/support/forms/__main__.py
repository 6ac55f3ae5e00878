"""`python -m tests.support.forms`: writes `bgfmt/jit/forms.txt`, the kernels and forms of arguments that the test
suite calls. Run it when a kernel gets another form of arguments."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[3]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "forms")
        environment = {**os.environ, "FORMS": str(found), "PYTHONPATH": str(Path(__file__).parent)}
        suite = [sys.executable, "-m", "pytest", "-n", "logical", "--dist", "worksteal", *sys.argv[1:]]
        subprocess.run(suite, env=environment, cwd=ROOT, check=True)
        lines = sorted(set(found.read_text("ascii").splitlines()))
    ours = [line for line in lines if line.startswith("bgfmt.")]
    (ROOT / "bgfmt" / "jit" / "forms.txt").write_text("\n".join(ours) + "\n", "ascii")


if __name__ == "__main__":
    main()
