"""docs/notebook.ipynb is what its cells give when they are run."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from tests.conftest import ROOT


def test_the_notebook_shows_what_its_cells_give() -> None:
    spec: Any = spec_from_file_location("make_notebook", ROOT / "docs/make_notebook.py")
    maker: Any = module_from_spec(spec)
    spec.loader.exec_module(maker)
    stored = json.loads(maker.PATH.read_text("utf-8"))
    made = json.loads(json.dumps(maker.notebook()))
    assert len(made["cells"]) > 10
    for cell, kept in zip(made["cells"], stored["cells"], strict=True):
        for output in (*cell.get("outputs", []), *kept.get("outputs", [])):
            if 'class="dataframe"' in "".join(output.get("data", {}).get("text/html", "")):
                del output["data"]["text/html"]  # pandas' own
        assert cell == kept, "python docs/make_notebook.py"
    assert made | {"cells": []} == stored | {"cells": []}
