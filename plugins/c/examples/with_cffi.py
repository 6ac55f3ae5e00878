"""bgfmt from cffi, compared by header: python with_cffi.py libbgfmt.so gnubg_ts0.bd dwMAAN4FAAAAAA"""

import re
import sys
from pathlib import Path

from cffi import FFI

HEADER = Path(__file__).resolve().parent.parent / "bgfmt.h"


def declarations() -> str:
    """The header without what cffi does not read: preprocessor lines, and the braces for C++."""
    text = HEADER.read_text()
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for name, value in re.findall(r"^#define (BGFMT_\w+) (\d+)", text, flags=re.M):
        text = text.replace(f"[{name}]", f"[{value}]")
    return re.sub(r"^#.*$", "", text, flags=re.M)


def main(library: str, path: str, position_id: str) -> None:
    ffi = FFI()
    ffi.cdef(declarations())
    lib = ffi.dlopen(library)
    db, answer = ffi.new("bgfmt_db **"), ffi.new("bgfmt_answer *")
    status = lib.bgfmt_open(path.encode(), db)
    if not status:
        status = lib.bgfmt_lookup_id(db[0], position_id.encode(), answer)
        lib.bgfmt_close(db[0])
    if status:
        sys.exit(ffi.string(lib.bgfmt_strerror(status)).decode())
    equities = ", ".join(f"{x:+.4f}" for x in answer.equities[0 : answer.n_equities])
    print(f"win {answer.outcomes[0]:.4f}; equities {equities}")


if __name__ == "__main__":
    main(*sys.argv[1:])
