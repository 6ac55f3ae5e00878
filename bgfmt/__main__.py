"""The command `bgfmt`, and `python -m bgfmt`."""

from __future__ import annotations

import gc
import os


def main() -> None:
    """Run the command line; an interrupt (Ctrl-C) while modules are loaded prints one line, no traceback."""
    try:
        import signal  # here, where an interrupt is caught already

        # interrupts may also be ignored, as in a job in the background
        interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if interruptible:  # an import may turn KeyboardInterrupt into another error
            signal.signal(signal.SIGINT, _end_interrupted)
        # imports make many objects that stay: to search them often takes long
        gc.set_threshold(100_000, 20, 50)
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy's threads wait busily for products
        from bgfmt.cli import main as command

        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:
        _end_interrupted()


def _end_interrupted(*_: object) -> None:
    """Say that the program was interrupted and end it."""
    os.write(2, b"bgfmt: interrupted\n")
    os._exit(130)  # a second interrupt can't break an exit in order


if __name__ == "__main__":
    main()
