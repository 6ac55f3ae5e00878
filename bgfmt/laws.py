"""Conformance tests for every format and every kind of table: `pytest --pyargs bgfmt.laws -k NAME`.

They are those of a checkout's `tests/laws`, which a wheel contains too.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

_HERE = Path(__file__).parent
_FOLDERS = (_HERE / "data" / "laws", _HERE.parent / "tests" / "laws")
__path__ = [str(folder) for folder in _FOLDERS if folder.is_dir()]

for _name in ("test_format_law", "test_table_law"):
    for _test, _law in vars(import_module(f"{__name__}.{_name}")).items():
        if _test.startswith("test_"):
            globals()[f"{_test}"] = _law
