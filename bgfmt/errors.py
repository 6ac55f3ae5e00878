"""All errors that bgfmt raises itself.

BgfmtError
├─ FormatError (ValueError)        these bytes are not what they claim
│  ├─ UnknownFormatError           no format recognises them         .asked .readings
│  ├─ AmbiguousFormatError         more than one format does         .claimed_by
│  ├─ HeaderError                  a header field is wrong           .field .offset .expected .found
│  ├─ TruncatedError               shorter than the header promises  .expected_size .found_size
│  └─ CorruptError                 an entry breaks its own rules     .offset .position_number
├─ CapabilityError (ValueError)    that format cannot hold this table, or not without loss
│  ├─ FormatNeededError            the format to write must be named
│  ├─ OptionError                  it has no such option             .format .option .value .offered
│  └─ LossError                    .lost
├─ PositionError (ValueError)      not a legal side, position or identifier
├─ NotCoveredError (LookupError)   a legal position outside the database
│  ├─ BeyondMetError               a score beyond the match equity table    .longest .extended
│  └─ TooMuchWorkError             calculating it is beyond the limit set   .work .limit
├─ OutputExistsError (ValueError)  the output exists already
├─ SolverError (RuntimeError)      too little memory or disk space, or no solver for a size or recipe
│  └─ ScratchError                 a scratch file that cannot be used   .path .state
├─ EngineError (RuntimeError)      a plugin's engine failed   .engine
├─ ClusterError (RuntimeError)     the workers of a cluster, or the connection to them, failed   .address
├─ NetworkError (OSError)          a server or the connection failed      .status
├─ RangeNotSupportedError          a server sends whole files only, and this one is too large for that
├─ SourceChangedError              a file was replaced while it was read
├─ VerificationError               .report
├─ ClosedError (ValueError)        used after close
└─ MissingExtraError (ImportError) .install

Each message is one line of text; details are attributes. An `OSError` of the operating system is passed through
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

__all__ = [
    "CONTACT",
    "WHO_ANSWERS_CONTACT",
    "AmbiguousFormatError",
    "BeyondMetError",
    "BgfmtError",
    "CapabilityError",
    "ClosedError",
    "ClusterError",
    "CorruptError",
    "EngineError",
    "FormatError",
    "FormatNeededError",
    "HeaderError",
    "LossError",
    "MissingExtraError",
    "NetworkError",
    "NotCoveredError",
    "OptionError",
    "OutputExistsError",
    "PositionError",
    "RangeNotSupportedError",
    "ScratchError",
    "SolverError",
    "SourceChangedError",
    "TooMuchWorkError",
    "TruncatedError",
    "UnknownFormatError",
    "VerificationError",
    "end_lost",
    "extra",
    "format_bytes",
    "install_hint",
    "require",
    "suggest_nearest",
]


#: Called with the name of a mapped file whose pages are lost, to end a command; if None, SIGBUS kills the process.
end_lost: Callable[[str], None] | None = None


def format_bytes(data: object, most: int = 16) -> str:
    """Format bytes for a message: as text if all shown are printable, else hexadecimal; other objects by `str`.

    most : number of bytes shown; " ..." stands for the rest. No bytes at all are "the end".
    """
    if not isinstance(data, bytes):
        return str(data)
    if not data:
        return "the end"
    part = data[:most]
    text = repr(part)[1:] if all(32 <= b < 127 or b == 10 for b in part) else part.hex(" ")
    return text + (" ..." if len(data) > most else "")


class BgfmtError(Exception):
    """Base class of every error raised by bgfmt itself. All of them can be pickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (type(self), self.args, self.__dict__)


def _unpickle(kind: type[BgfmtError], args: tuple[Any, ...], facts: dict[str, Any]) -> BgfmtError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(facts)
    return error


class FormatError(BgfmtError, ValueError):
    """The bytes of a file are not what they claim to be."""


class UnknownFormatError(FormatError):
    """No format recognises the file, or a file without header could be several tables, which `readings` lists."""

    def __init__(self, message: str, asked: tuple[str, ...] = (), readings: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.asked = asked
        self.readings = readings


class AmbiguousFormatError(FormatError):
    """More than one format recognises the file."""

    def __init__(self, message: str, claimed_by: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.claimed_by = claimed_by


class HeaderError(FormatError):
    """A field of a header holds something its format does not allow."""

    def __init__(self, name: str, field: str, offset: int, expected: object, found: object) -> None:
        super().__init__(
            f"{name}: {field} at byte {offset:,}: expected {expected}, found {format_bytes(found, 40)}"
        )
        self.field = field
        self.offset = offset
        self.expected = expected
        self.found = found


class TruncatedError(FormatError):
    """The file is shorter than its header promises; `expected_size` is 0 if the size is unknown."""

    def __init__(self, name: str, expected_size: int, found_size: int, what: str = "file") -> None:
        needs = f"{expected_size:,} bytes" if expected_size else "more bytes"
        super().__init__(
            f"{name}: cut short at byte {found_size:,}: the {what} needs {needs}, found {found_size:,}"
        )
        self.expected_size = expected_size
        self.found_size = found_size


class CorruptError(FormatError):
    """An entry breaks a rule of its format; `offset` is in bytes from the start of the file."""

    def __init__(
        self, name: str, offset: int, expected: object, found: object, position_number: int | None = None
    ) -> None:
        where = f"byte {offset:,}" + ("" if position_number is None else f" (position {position_number:,})")
        super().__init__(f"{name}: {where}: expected {expected}, found {format_bytes(found, 40)}")
        self.offset = offset
        self.expected = expected
        self.found = found
        self.position_number = position_number


class CapabilityError(BgfmtError, ValueError):
    """A format cannot hold this table, or not without the loss that the message names."""


class FormatNeededError(CapabilityError):
    """The format to write must be named: neither the file's name nor the table determines it."""


class OptionError(CapabilityError):
    """A format has no such option; `offered` are the names of those that it has."""

    def __init__(self, format: str, option: str, value: object, offered: tuple[str, ...] = ()) -> None:
        near = suggest_nearest(option, offered)
        super().__init__(f"{format} has no option {option!r}{near}; it has: {', '.join(offered) or 'none'}")
        self.format = format
        self.option = option
        self.value = value
        self.offered = offered


class LossError(CapabilityError):
    """The conversion would lose what `lost` lists, one line each, and that was not allowed.

    `several` says whether the file has several tables, of which all but the first would be lost.
    """

    def __init__(self, lost: list[str], *, several: bool = False) -> None:
        super().__init__(f"information would be lost ({'; '.join(lost)})")
        self.lost = tuple(lost)
        self.several = several


class PositionError(BgfmtError, ValueError):
    """Not a legal side, position or identifier."""


#: message for positions in which a chequer may still be hit, and which programs can answer them
CONTACT = "contact: the sides have not passed each other"
WHO_ANSWERS_CONTACT = "bgfmt answers races; GNU Backgammon and eXtreme Gammon answer contact"


class NotCoveredError(BgfmtError, LookupError):
    """A legal position that lies outside the database."""


class BeyondMetError(NotCoveredError):
    """A score beyond the match equity table, which goes to `longest`-away, `extended` or not."""

    def __init__(self, name: str, points: int, longest: int, extended: bool) -> None:
        super().__init__(f"match equity table {name} goes to {longest}-away, not {points}-away")
        self.longest = longest
        self.extended = extended


class TooMuchWorkError(NotCoveredError):
    """No table covers a position, and calculating it takes more `work` than the `limit` allows.

    Both count pairs of boards times cube states; `work` is None where it was not counted to the end.
    """

    def __init__(self, message: str, work: int | None, limit: int) -> None:
        what = "pairs of boards times cube states"
        needed = f"{limit:,} {what}" if work is None else f"{limit:,}"
        more = "more than" if work is None else f"{work:,} {what}, more than"
        super().__init__(f"{message}: exact play needs {more} the limit of {needed}")
        self.work = work
        self.limit = limit


class OutputExistsError(BgfmtError, ValueError):
    """The output file exists and was not to be replaced; `replaceable` says whether an option would allow that."""

    def __init__(self, message: str, *, replaceable: bool = True) -> None:
        super().__init__(message)
        self.replaceable = replaceable


class SolverError(BgfmtError, RuntimeError):
    """A solve cannot start or continue: too little memory or disk space, or no solver for a size or recipe."""


class ScratchError(SolverError):
    """A solve's scratch file cannot be used.

    `path` is the file. `state` is ``"busy"`` (another process uses it), ``"unfinished"`` (an interrupted run of
    this very solve left it, and resuming was not requested), ``"foreign"`` (it is something else) or
    ``"damaged"``.
    """

    def __init__(self, path: str, state: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.state = state


class VerificationError(BgfmtError):
    """A verification found a problem; `report` holds everything."""

    def __init__(self, message: str, report: object = None) -> None:
        super().__init__(message)
        self.report = report


class ClosedError(BgfmtError, ValueError):
    """A database or source was used after it was closed."""


class EngineError(BgfmtError, RuntimeError):
    """A plugin's engine, by name in `engine`, raised an error of its own, which is the cause of this one."""

    def __init__(self, engine: str, what: str, error: BaseException) -> None:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        super().__init__(f"engine {engine} failed on {what}: {reason}")
        self.engine = engine


class ClusterError(BgfmtError, RuntimeError):
    """The scheduler or the workers at `address` failed, or are not there."""

    def __init__(self, address: str, message: str) -> None:
        super().__init__(f"{address}: {message}")
        self.address = address


class NetworkError(BgfmtError, OSError):
    """A server, or the connection to it, failed.

    `status` is the HTTP status of its answer, None if there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class RangeNotSupportedError(BgfmtError):
    """The server sends whole files only, and this one is too large to be read whole."""


class SourceChangedError(BgfmtError):
    """The file was replaced by another while it was read."""


class MissingExtraError(BgfmtError, ImportError):
    """An optional dependency is not installed; `install` says what would provide it."""

    def __init__(self, message: str, install: str) -> None:
        super().__init__(message)
        self.install = install


def suggest_nearest(word: str, known: Iterable[str]) -> str:
    """Return " (did you mean NAME?)" with the known name that is nearest to `word`, "" if none is near.

    >>> suggest_nearest("nppz", ["csv", "npz"])
    ' (did you mean npz?)'
    """
    from difflib import get_close_matches  # here: it takes milliseconds to import

    near = get_close_matches(word, list(known), 1)
    return f" (did you mean {near[0]}?)" if near else ""


def install_hint(*extras: str) -> str:
    """Return the command that installs extras of this package.

    >>> install_hint("large", "numba")
    "pip install 'bgfmt[large,numba]'"
    """
    return f"pip install 'bgfmt[{','.join(dict.fromkeys(extras))}]'"


def require(what: str, *needed: tuple[str, str]) -> None:
    """Check that optional modules can be imported; one MissingExtraError names all that are missing.

    what : what needs them, for the message. needed : pairs (module, extra of this package that installs it).
    """
    missing = [pair for pair in needed if find_spec(pair[0]) is None]
    if missing:
        names = " and ".join(module.replace("_", "-") for module, _ in missing)
        install = install_hint(*(name for _, name in missing))
        raise MissingExtraError(f"{what} needs {names}: {install}", install)


def extra(module: str, need: str, install: str) -> Any:
    """Import a module that may not be installed; MissingExtraError if it is not.

    need : what needs the module, the beginning of the message. install : the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(f"{need}: {install}", install) from None
