"""The description of the service as an OpenAPI 3.1 document, with the limits in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bgfmt import __version__
from bgfmt.analysis.questions import MOST_TEXT, QUESTIONS
from bgfmt.analysis.shapes import Schema, options, ref, schema_of, shapes
from bgfmt.extras.serve.refusals import STATUSES

if TYPE_CHECKING:
    from bgfmt.extras.serve.app import Settings


SUMMARIES = {
    "lookup": "What a table says of a position",
    "race": "Rolls, effective pips and wastage",
    "cube": "Whether to double, and whether to take",
    "play": "The plays of a roll, ranked",
    "probe": "All of it for one position",
}


NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}


def or_null(schema: Schema) -> Schema:
    """A schema or null."""
    return {**schema, "type": [schema["type"], "null"]}


def shape(needed: Schema, more: Schema | None = None) -> Schema:
    """An object with these properties, and perhaps more."""
    return {"type": "object", "properties": {**needed, **(more or {})}, "required": list(needed)}


def array(of: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": of}


_SOURCED: Schema = {
    "table": or_null(TEXT),
    "max_error": or_null({"type": "object", "additionalProperties": or_null(NUMBER)}),
}
_PLAYER = {**TEXT, "enum": ["on roll", "other side"]}
_STEP = shape({"from": WHOLE, "to": WHOLE})
_ERROR = shape(
    {"status": WHOLE, "code": {**TEXT, "enum": list(STATUSES)}, "message": TEXT},
    {"parameter": TEXT, "row": WHOLE},
)
_TABLE: Schema = dict.fromkeys(("name", "title", "format", "kind"), TEXT)
_TABLE |= dict.fromkeys(("points", "chequers", "positions", "size"), WHOLE)
_TABLE |= {"max_error": _SOURCED["max_error"], "fingerprint": {**TEXT, "pattern": "^[0-9a-f]{32}$"}}
_TABLE |= dict.fromkeys(("sha256", "url"), or_null(TEXT))
SCHEMAS: dict[str, Schema] = {name: schema_of(one) for name, one in shapes().items()} | {
    "Error": shape({"error": _ERROR}),
    "Lookup": shape(
        {
            **_SOURCED,
            "asked": TEXT,
            "answers": {**array(shape({"position_number": WHOLE}, {"player": _PLAYER})), "minItems": 1},
        }
    ),
    "Tables": shape(
        {"version": TEXT, "features": array(TEXT), "tables": array(ref("Table"))}, {"mets": array(TEXT)}
    ),
    "Table": shape(_TABLE, dict.fromkeys(("cubeful", "gammon", "compressed"), TRUTH)),
    "Health": shape({"status": TEXT, "version": TEXT, "tables": WHOLE}),
    "Chances": shape(dict.fromkeys(("win", "winG", "winBg", "loseG", "loseBg"), NUMBER)),
    "Eval": shape({"cube": shape({"double": TRUTH, "accept": TRUTH}), "probabilities": ref("Chances")}),
    "Moves": shape({"moves": array(shape({"play": array(_STEP), "probabilities": ref("Chances")}))}),
    "Foreign": shape({"message": TEXT, "error": {"type": "object"}}),
}
#: the shapes of the answers of each question, which all have `asked` beside them but that of a probe
ANSWERS = {
    "lookup": ("Lookup",),
    "race": ("SideRace", "TwoRaces"),
    "cube": ("CubeAnswer", "MatchCubeAnswer", "ScoresAnswer"),
    "play": ("PlayAnswer",),
    "probe": ("ProbeAnswer",),
}


def _answer(route: str) -> Schema:
    several = [ref(name) for name in ANSWERS[route]]
    one = several[0] if len(several) == 1 else {"anyOf": several}
    return one if route == "probe" else {"allOf": [one, shape({"asked": TEXT})]}


def _body(kind: str, schema: Schema) -> Schema:
    return {kind: {"schema": schema}}


def _statuses(*more: int, errors: str = "Error") -> Schema:
    """Errors that a route can answer by; those of the connection are everywhere."""
    said = {
        400: "Bad parameter, position or body",
        404: "Not covered, or no such thing",
        405: "Another method",
        413: "Too large",
        415: "Another type of body",
        416: "Beyond the file",
        421: "Another Host",
        431: "Head too large",
        500: "A bug",
        503: "Too busy; see Retry-After",
    }
    found = sorted({405, 421, 431, 500, 503, *more})
    return {
        str(s): {
            "description": said[s],
            "content": _body("application/json", ref(errors if s in (400, 404) else "Error")),
        }
        for s in found
    }


def _ok(kind: str, schema: Schema, *, kept: bool = False) -> Schema:
    out: Schema = {"200": {"description": "The answer", "content": _body(kind, schema)}}
    if kept:
        out["304"] = {"description": "Unchanged (If-None-Match)"}
    return out


def _parameter(name: str, *, path: bool = False) -> Schema:
    return {
        "name": name,
        "in": "path" if path else "query",
        "required": path,
        "description": options()[name].about,
        "schema": options()[name].schema,
    }


def _question(route: str, settings: Settings) -> tuple[Schema, Schema]:
    """The path items of a question: with the position as parameter, and in the path."""
    answer = _ok("application/json", _answer(route), kept=True)
    names = QUESTIONS[route]
    get: Schema = {
        "summary": SUMMARIES[route],
        "operationId": route,
        "parameters": [{**_parameter(n), "required": n == "position"} for n in names],
        "responses": answer | _statuses(400, 404),
    }
    second: Schema = {
        "summary": f"{SUMMARIES[route]}, the position in the path (it may contain /)",
        "operationId": f"{route}_in_path",
        "parameters": [_parameter(n, path=n == "position") for n in names],
        "responses": answer | _statuses(400, 404),
    }
    item: Schema = {"get": get}
    if route != "probe":
        item["post"] = _many(route, settings)
    return item, {"get": second}


def _many(route: str, settings: Settings) -> Schema:
    names = [n for n in QUESTIONS[route] if n != "position"]
    one = {
        "anyOf": [
            TEXT,
            {
                "type": "object",
                "properties": {n: options()[n].schema for n in QUESTIONS[route]},
                "required": ["position"],
            },
        ]
    }
    body: Schema = _body(
        "application/json",
        {
            "type": "object",
            "required": ["positions"],
            "properties": {
                "positions": {"type": "array", "maxItems": settings.max_rows, "items": one},
                **{n: options()[n].schema for n in names},
            },
        },
    )
    body |= _body(
        "application/x-ndjson", {**TEXT, "description": f"An item a line, at most {settings.max_rows}."}
    )
    entry = {"anyOf": [_answer(route), shape({"asked": or_null(TEXT), "error": {"type": "object"}})]}
    content = _body("application/json", shape({"results": {"type": "array", "items": entry}}))
    content |= _body("application/x-ndjson", TEXT)
    parameters = [_parameter(n) for n in names]
    if route == "lookup":
        body |= _body("application/octet-stream", {**TEXT, "contentEncoding": "binary"})
        content |= _body("application/octet-stream", {**TEXT, "contentEncoding": "binary"})
        parameters += [
            {
                "name": "rows",
                "in": "query",
                "schema": {**TEXT, "enum": ["counts", "numbers"]},
                "description": "What the bytes are.",
            },
            {
                "name": "column",
                "in": "query",
                "schema": {**TEXT, "enum": ["bearoff", "gammon"]},
                "description": "Which distribution.",
            },
        ]
    return {
        "summary": f"{SUMMARIES[route]}, many at once",
        "description": f"At most {settings.max_rows:,} items and {settings.max_body:,} bytes. Parameters in the "
        "query are for lines and bytes; an object of JSON has its own.",
        "operationId": f"{route}_many",
        "parameters": parameters,
        "requestBody": {"required": True, "content": body},
        "responses": {"200": {"description": "An entry an item, in order", "content": content}}
        | _statuses(400, 404, 413, 415),
    }


def document(settings: Settings, names: Sequence[str]) -> Schema:
    """The document."""
    paths: Schema = {}
    for route in QUESTIONS:
        first, second = _question(route, settings)
        paths[f"/v1/{route}"] = first
        paths[f"/v1/{route}/{{position}}"] = second
    plain = {
        "/v1/tables": ("The tables", _ok("application/json", ref("Tables"), kept=True), (400,)),
        "/healthz": ("Whether it serves", _ok("application/json", ref("Health")), ()),
        "/metrics": ("Counters for Prometheus", _ok("text/plain", TEXT), ()),
        "/openapi.json": ("This document", _ok("application/json", {"type": "object"}, kept=True), ()),
        "/": ("The probe page", _ok("text/html", TEXT, kept=True), ()),
    }
    for path, (summary, answer, more) in plain.items():
        paths[path] = {"get": {"summary": summary, "responses": answer | _statuses(*more)}}
    binary = {"application/octet-stream": {"schema": {**TEXT, "contentEncoding": "binary"}}}
    name: Schema = {
        "name": "name",
        "in": "path",
        "required": True,
        "schema": {**TEXT, "examples": list(names)},
    }
    paths["/tables/{name}"] = {
        "get": {
            "summary": "A table's file, whole or one byte range",
            "parameters": [name, {"name": "Range", "in": "header", "schema": TEXT}],
            "responses": {
                "200": {"description": "The file", "content": binary},
                "206": {"description": "The range", "content": binary},
                "304": {"description": "Unchanged"},
            }
            | _statuses(404, 416),
        }
    }
    paths["/assets/{hash}/{name}"] = {
        "get": {
            "summary": "A file of the page",
            "parameters": [{**name, "name": "hash", "schema": TEXT}, {**name, "schema": TEXT}],
            "responses": {"200": {"description": "The file"}} | _statuses(404),
        }
    }
    points = [
        {"name": f"p{k}", "in": "query", "schema": {**WHOLE, "minimum": -15, "maximum": 15}}
        for k in range(26)
    ]
    away = [{"name": n, "in": "query", "schema": {**WHOLE, "enum": [0, 1]}} for n in ("x_away", "o_away")]
    dice = [
        {"name": n, "in": "query", "required": True, "schema": {**WHOLE, "minimum": 1, "maximum": 6}}
        for n in ("die1", "die2")
    ]
    foreign: list[tuple[str, list[Schema], str]] = [("/eval", [], "Eval"), ("/move", dice, "Moves")]
    for path, needed, schema in foreign:
        answer = _ok("application/json", ref(schema), kept=True) | _statuses(400, 404, errors="Foreign")
        paths[path] = {
            "get": {
                "summary": "wildbg's question of that name",
                "parameters": [*needed, *away, *points],
                "responses": answer,
            }
        }
    limits = {
        "max_rows": settings.max_rows,
        "max_body": settings.max_body,
        "connections": settings.connections,
        "head_bytes": 32 << 10,
        "head_seconds": 15,
        "body_seconds": 30,
        "text_characters": MOST_TEXT,
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "bgfmt",
            "version": __version__,
            "description": "Backgammon bearoff tables. Equities are points for a cube at 1, seen by the side on "
            "roll; chances run from 0 to 1; null is not known. HEAD works wherever GET does.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "x-limits": limits,
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }
