"""bgfmt from Python's ctypes: python with_ctypes.py libbgfmt.so gnubg_os0.bd 1 3 4"""

import ctypes as ct
import sys


class Side(ct.Structure):
    _fields_ = [
        ("number", ct.c_uint64),
        ("has_bearoff", ct.c_int32),
        ("has_gammon", ct.c_int32),
        ("bearoff", ct.c_uint16 * 32),
        ("gammon", ct.c_uint16 * 32),
        ("mean_rolls", ct.c_float),
        ("std_rolls", ct.c_float),
        ("gammon_mean_rolls", ct.c_float),
        ("gammon_std_rolls", ct.c_float),
    ]


def main(library: str, path: str, *counts: str) -> None:
    lib = ct.CDLL(library)
    lib.bgfmt_strerror.restype = ct.c_char_p
    lib.bgfmt_lookup_side.argtypes = [ct.c_void_p, ct.c_char_p, ct.c_size_t, ct.POINTER(Side)]
    lib.bgfmt_close.argtypes = [ct.c_void_p]
    db, side = ct.c_void_p(), Side()
    status = lib.bgfmt_open(path.encode(), ct.byref(db))
    if not status:
        status = lib.bgfmt_lookup_side(db, bytes(map(int, counts)), len(counts), ct.byref(side))
        lib.bgfmt_close(db)
    if status:
        sys.exit(lib.bgfmt_strerror(status).decode())
    print(f"position {side.number}: {side.mean_rolls:.4f} rolls, EPC {side.mean_rolls * 49 / 6:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
