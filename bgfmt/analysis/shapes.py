"""The shapes of queries and answers: an answer as JSON, and the options of a query.

The class of an answer defines its JSON: `FIELDS` names the fields; the type and a one-sentence description of each
are its annotation, or the signature and docstring of its property. docs/make_shapes.py writes them into the
documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Annotated, Any, ClassVar, NamedTuple

from bgfmt.game.display import html, picture

__all__ = [
    "CHANCE",
    "MAX_REPR_FIELDS",
    "MAX_TEXT",
    "AnswerField",
    "Chance",
    "Plain",
    "QuestionOption",
    "fields_at",
    "option",
    "to_plain",
]


CHANCE = "a number from 0 to 1"  # marks a field as a probability
Chance = Annotated[float, CHANCE]
MAX_REPR_FIELDS = 5  # fields in the repr of an answer
MAX_TEXT = 400  # characters of a text parameter of HTTP


# -- an answer as plain values -------------------------------------------------------------------------------


class AnswerField(NamedTuple):
    """One field of an answer in JSON.

    name : the key in JSON.
    path : the attribute that has the value, with dots for one of another object.
    optional : the key is left out if the value is None.
    get : returns the value, given the answer.
    """

    name: str
    path: str
    optional: bool
    get: Callable[[Any], Any]


class Plain:
    """Base class of answers: objects that convert to JSON, as `--json` and the HTTP service print it.

    FIELDS : names of the fields, separated by blanks; if empty, all annotated attributes. ``name=path`` takes an
        attribute of another name, or of another object; a name with "?" is omitted if its value is None.
    TITLE : the heading on docs/json.md if it is not the name of the shape.
    """

    FIELDS: ClassVar[str] = ""
    TITLE: ClassVar[str] = ""
    fields: ClassVar[tuple[AnswerField, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.fields = tuple(map(_field, cls.FIELDS.split() or cls.__annotations__))
        cls.__repr__ = Plain.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        texts = []
        for name, _, _, get in self.fields:
            value = get(self)
            shown = None if isinstance(value, (Plain, Mapping, list, tuple)) else to_plain(value)
            if isinstance(shown, (str, int, float)):
                texts.append(f"{name} {shown:.4f}" if isinstance(shown, float) else f"{name} {shown}")
        return f"<{type(self).__name__} {', '.join(texts[:MAX_REPR_FIELDS])}>"

    def _repr_html_(self) -> str:
        about: Iterator[Any] = (getattr(self, name, None) for name in ("state", "position", "asked"))
        boards = (
            f'<div style="max-width:26rem">{picture(one)}</div>'
            for one in about
            if hasattr(one, "_repr_svg_")
        )
        board = next(boards, "")
        return board + html(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict that `json.dumps` accepts; optional fields that are None are missing."""
        out = {}
        for name, _, optional, get in self.fields:
            value = get(self)
            if value is not None or not optional:
                out[name] = to_plain(value)
        return out


def _field(word: str) -> AnswerField:
    """Parse one word of `FIELDS`: ``name``, ``name?`` or ``name=path``."""
    name, _, path = word.partition("=")
    bare = name.rstrip("?")
    path = path or bare

    def of_any(owner: Any) -> Any:
        """Return the attribute at the path, None if an object on the way there is None."""
        for part in path.split("."):
            owner = None if owner is None else getattr(owner, part)
        return owner

    optional = bare != name
    return AnswerField(bare, path, optional, of_any if optional and "." in path else attrgetter(path))


def fields_at(path: str, names: str, but: str = "") -> str:
    """Return words for an answer's `FIELDS` that take over the fields of another object, its attribute `path`.

    Parameters
    ----------
    path
        The attribute of the answer that has the other object.
    names
        The `FIELDS` of the other object, separated by blanks.
    but
        The name of a field to skip.

    Returns
    -------
    Words as ``name=path.name``, with a blank before each.
    """
    words = [word.partition("=") for word in names.split()]
    return "".join(
        f" {name}={path}.{attribute or name.rstrip('?')}" for name, _, attribute in words if name != but
    )


def to_plain(value: Any) -> Any:
    """Convert a value to what `json.dumps` accepts: positions become text, arrays and tuples lists."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Plain):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else str(value)


# -- an option of a question ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class QuestionOption:
    """One option of a query: its documentation and the values that it allows.

    about : one sentence.
    choices : the texts or numbers allowed.
    range : least and greatest value of a number.
    pattern : regular expression of a text; `words` explains it in error messages.
    metavar : what the command line's help calls the value.
    longest : most characters of a text sent by HTTP.
    kind : str, int or bool.
    """

    about: str
    choices: tuple[Any, ...] = ()
    range: tuple[int, int] = (0, 0)
    pattern: str = ""
    words: str = ""
    metavar: str | None = None
    longest: int = MAX_TEXT
    kind: type = str


def option(about: str, *, usual: Any = None, **more: Any) -> Any:
    """Return a dataclass field for an option of `bgfmt.analysis.questions.Question`.

    about : one sentence about the option. usual : its default. more : other arguments of `QuestionOption`.
    """
    return field(default=usual, metadata={"about": about, **more})
