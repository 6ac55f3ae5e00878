"""The description of the service as an OpenAPI 3.1 document, with the limits in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bgfmt import __version__
from bgfmt.service.parameters import CUBES, MOST_TEXT, MOST_TOP, ROUTES
from bgfmt.service.refusals import STATUSES

if TYPE_CHECKING:
    from bgfmt.service.app import Settings

Schema = dict[str, Any]
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
CHANCES: Schema = {"type": "array", "items": NUMBER}


def _or_null(schema: Schema) -> Schema:
    if "type" in schema and isinstance(schema["type"], str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def _object(needed: Schema, more: Schema | None = None) -> Schema:
    return {"type": "object", "properties": {**needed, **(more or {})}, "required": list(needed)}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


PARAMETERS: dict[str, tuple[Schema, str]] = {
    "position": ({**TEXT, "maxLength": MOST_TEXT}, "Counts of one or two sides from the ace point up, the side on roll first, or any identifier."),
    "table": (TEXT, "Ask this table only; #N as position (a position number) needs it."),
    "roll": ({**TEXT, "pattern": "^([1-6][-, /]?[1-6]|all)$"}, "The dice, or all; by default the identifier's."),
    "cube": ({**TEXT, "enum": list(CUBES)}, "Where the cube lies for the side on roll; by default the identifier's, else centered."),
    "measure": ({**TEXT, "pattern": "^(money|cubeless|mean|off:[0-9]{1,3})$"}, "What plays are ranked by."),
    "top": ({**WHOLE, "minimum": 1, "maximum": MOST_TOP}, "At most so many plays of each roll."),
    "settle": (TRUTH, "Calculate exactly what is too close; by default true for one question, false in bulk."),
    "away": ({**TEXT, "pattern": "^[0-9]{1,2}-[0-9]{1,2}$"}, "Match play: points that the side on roll and the other need."),
    "crawford": (TRUTH, "Whether this is the Crawford game."),
    "cube_value": ({**WHOLE, "enum": [1 << k for k in range(11)]}, "What the cube shows."),
    "met": (TEXT, "Name of a match equity table."),
}  # fmt: skip
SUMMARIES = {
    "lookup": "What a table says of a position",
    "race": "Rolls, effective pips and wastage",
    "cube": "Whether to double, and whether to take",
    "play": "The plays of a roll, ranked",
    "probe": "All of it for one position",
}
SOURCED: Schema = {
    "table": _or_null(TEXT),
    "max_error": _or_null({"type": "object", "additionalProperties": _or_null(NUMBER)}),
}
ORIGIN: Schema = {"source": TEXT, "approximate": TRUTH, **SOURCED}


def _action(needed: Sequence[str]) -> Schema:
    truths = (
        "doubles",
        "takes",
        "beavers",
        "tie_double",
        "tie_take",
        "sure_double",
        "sure_take",
        "sure",
        "settled",
        "approximate",
    )
    kinds: Schema = dict.fromkeys(truths, TRUTH)
    kinds |= dict.fromkeys(
        ("no_double", "double_take", "double_pass", "double", "best", "double_margin", "take_margin"), NUMBER
    )
    kinds |= {
        "cube": {**TEXT, "enum": list(CUBES)},
        "action": TEXT,
        "certainty": TEXT,
        "error": _or_null(NUMBER),
    }
    return _object({name: kinds[name] for name in needed}, kinds)


ACTION = _action(
    [
        "cube",
        "action",
        "no_double",
        "double_take",
        "double_pass",
        "double",
        "best",
        "doubles",
        "takes",
        "beavers",
        "double_margin",
        "take_margin",
        "tie_double",
        "tie_take",
        "sure_double",
        "sure_take",
        "sure",
        "error",
        "settled",
        "certainty",
        "approximate",
    ]
)
SIDE = _object(
    {"side": TEXT, "pips": WHOLE, "mean_rolls": NUMBER, "epc": NUMBER, "wastage": NUMBER},
    {
        "position_number": WHOLE, "std_rolls": NUMBER, "bearoff": CHANCES, "off_within": CHANCES, "gammon": CHANCES,
        "gammon_mean_rolls": NUMBER, "gammon_std_rolls": NUMBER, "gammon_saved_within": CHANCES, **ORIGIN,
    },
)  # fmt: skip
PLAY = _object(
    {"play": TEXT, "result": TEXT, "value": NUMBER, "loss": NUMBER, "close": TRUTH},
    {"mwc": NUMBER, "loss_mwc": NUMBER, "loss_emg": NUMBER},
)
PLAYS: Schema = {"type": "array", "items": _ref("Play")}
MET = _object({"name": TEXT, "digest": TEXT})
NUMBERS: Schema = {"type": "object", "additionalProperties": _or_null(NUMBER)}
SCHEMAS: dict[str, Schema] = {
    "Error": _object({"error": _object(
        {"status": WHOLE, "code": {**TEXT, "enum": list(STATUSES)}, "message": TEXT}, {"parameter": TEXT, "row": WHOLE})}),
    "Lookup": _object({**SOURCED, "asked": TEXT, "answers": {"type": "array", "minItems": 1, "items": _object(
        {"position_number": WHOLE}, {"player": {**TEXT, "enum": ["on roll", "other side"]}})}}),
    "Side": SIDE,
    "Race": {"anyOf": [
        _object({"asked": TEXT, **SIDE["properties"]}) | {"required": ["asked", *SIDE["required"], *SOURCED]},
        _object({"asked": TEXT, "on_roll": _ref("Side"), "other_side": _ref("Side"), "two_sided": _or_null(_ref("Estimate")), **SOURCED}),
    ]},
    "Estimate": _object({"win": NUMBER, "win_gammon": _or_null(NUMBER), "lose_gammon": _or_null(NUMBER), "cubeless": NUMBER,
                         "worst_error": NUMBER, "mean_error": NUMBER}),
    "Action": ACTION,
    "Cube": {"anyOf": [_ref("MoneyCube"), _ref("MatchCube")]},
    "MoneyCube": _object(
        {"asked": TEXT, "position": TEXT, "win": _or_null(NUMBER), "cubeless": NUMBER, "owned": NUMBER, "centered": NUMBER,
         "opponent": NUMBER, "approximate": TRUTH, "label": {**WHOLE, "minimum": 1, "maximum": 5}, "label_text": TEXT,
         "centered_cube": _ref("Action"), "owned_cube": _ref("Action"), **SOURCED}),
    "MatchCube": _object({"asked": TEXT, "position": TEXT, "away": {"type": "array", "items": WHOLE}, "crawford": TRUTH,
                          "cube": {**TEXT, "enum": list(CUBES)}, "cube_value": WHOLE, "action": TEXT, "mwc": NUMBERS, "emg": NUMBERS,
                          "met": _ref("Met"), **SOURCED}),
    "Met": MET,
    "Play": PLAY,
    "Plays": {"anyOf": [
        _object({"asked": TEXT, "position": TEXT, "measure": TEXT, "approximate": TRUTH, "roll": TEXT, "plays": PLAYS, **SOURCED},
                {"cube": {**TEXT, "enum": list(CUBES)}, "count": WHOLE}),
        _object({"asked": TEXT, "position": TEXT, "measure": TEXT, "approximate": TRUTH, **SOURCED, "rolls": {
            "type": "array", "minItems": 21, "maxItems": 21, "items": _object({"roll": TEXT, "plays": PLAYS}, {"count": WHOLE})}}),
    ]},
    "Position": _object({"us": {"type": "array", "items": WHOLE}, "them": _or_null({"type": "array", "items": WHOLE}), "counts": TEXT,
                         "position_id": TEXT, "xgid": TEXT, "pips": {"type": "array", "items": WHOLE},
                         "chequers": {"type": "array", "items": WHOLE}, "contact": TRUTH}),
    "Probe": _object({
        "question": _object({"position": TEXT, "roll": _or_null(TEXT), "cube": TEXT, "measure": TEXT, "table": _or_null(TEXT)}),
        "position": _ref("Position"), "cube": {"type": ["object", "null"]}, "race": {"type": ["object", "null"]},
        "play": {"type": ["object", "null"]}, "not_covered": {"type": "object", "additionalProperties": TEXT}}),
    "Tables": _object({"version": TEXT, "features": {"type": "array", "items": TEXT}, "tables": {"type": "array", "items": _ref("Table")}},
                      {"mets": {"type": "array", "items": TEXT}}),
    "Table": _object(
        {"name": TEXT, "title": TEXT, "format": TEXT, "kind": TEXT, "points": WHOLE, "chequers": WHOLE, "positions": WHOLE, "size": WHOLE,
         "max_error": SOURCED["max_error"], "fingerprint": {**TEXT, "pattern": "^[0-9a-f]{32}$"}, "sha256": _or_null(TEXT),
         "url": _or_null(TEXT)}, {"cubeful": TRUTH, "gammon": TRUTH, "compressed": TRUTH}),
    "Health": _object({"status": TEXT, "version": TEXT, "tables": WHOLE}),
    "Chances": _object(dict.fromkeys(("win", "winG", "winBg", "loseG", "loseBg"), NUMBER)),
    "Eval": _object({"cube": _object({"double": TRUTH, "accept": TRUTH}), "probabilities": _ref("Chances")}),
    "Moves": _object({"moves": {"type": "array", "items": _object({
        "play": {"type": "array", "items": _object({"from": WHOLE, "to": WHOLE})}, "probabilities": _ref("Chances")})}}),
    "Foreign": _object({"message": TEXT, "error": {"type": "object"}}),
}  # fmt: skip
ANSWERS = {"lookup": "Lookup", "race": "Race", "cube": "Cube", "play": "Plays", "probe": "Probe"}


def _body(kind: str, schema: Schema) -> Schema:
    return {kind: {"schema": schema}}


def _statuses(*more: int, errors: str = "Error") -> Schema:
    """Errors that a route can answer by; those of the connection are everywhere."""
    said = {400: "Bad parameter, position or body", 404: "Not covered, or no such thing", 405: "Another method",
            413: "Too large", 415: "Another type of body", 416: "Beyond the file", 421: "Another Host", 431: "Head too large",
            500: "A bug", 503: "Too busy; see Retry-After"}  # fmt: skip
    found = sorted({405, 421, 431, 500, 503, *more})
    return {
        str(s): {
            "description": said[s],
            "content": _body("application/json", _ref(errors if s in (400, 404) else "Error")),
        }
        for s in found
    }


def _ok(kind: str, schema: Schema, *, kept: bool = False) -> Schema:
    out: Schema = {"200": {"description": "The answer", "content": _body(kind, schema)}}
    if kept:
        out["304"] = {"description": "Unchanged (If-None-Match)"}
    return out


def _parameter(name: str, *, path: bool = False) -> Schema:
    schema, text = PARAMETERS[name]
    return {
        "name": name,
        "in": "path" if path else "query",
        "required": path,
        "description": text,
        "schema": schema,
    }


def _question(route: str, settings: Settings) -> tuple[Schema, Schema]:
    """The path items of a question: with the position as parameter, and in the path."""
    answer = _ok("application/json", _ref(ANSWERS[route]), kept=True)
    names = ROUTES[route]
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
    names = [n for n in ROUTES[route] if n != "position"]
    one = {
        "anyOf": [
            TEXT,
            {
                "type": "object",
                "properties": {n: PARAMETERS[n][0] for n in ROUTES[route]},
                "required": ["position"],
            },
        ]
    }
    body: Schema = _body("application/json", {
        "type": "object", "required": ["positions"],
        "properties": {"positions": {"type": "array", "maxItems": settings.max_rows, "items": one}, **{n: PARAMETERS[n][0] for n in names}}})  # fmt: skip
    body |= _body(
        "application/x-ndjson", {**TEXT, "description": f"An item a line, at most {settings.max_rows}."}
    )
    entry = {"anyOf": [_ref(ANSWERS[route]), _object({"asked": _or_null(TEXT), "error": {"type": "object"}})]}
    content = _body("application/json", _object({"results": {"type": "array", "items": entry}}))
    content |= _body("application/x-ndjson", TEXT)
    parameters = [_parameter(n) for n in names]
    if route == "lookup":
        body |= _body("application/octet-stream", {**TEXT, "contentEncoding": "binary"})
        content |= _body("application/octet-stream", {**TEXT, "contentEncoding": "binary"})
        parameters += [
            {"name": "rows", "in": "query", "schema": {**TEXT, "enum": ["counts", "numbers"]}, "description": "What the bytes are."},
            {"name": "column", "in": "query", "schema": {**TEXT, "enum": ["bearoff", "gammon"]}, "description": "Which distribution."},
        ]  # fmt: skip
    return {
        "summary": f"{SUMMARIES[route]}, many at once",
        "description": f"At most {settings.max_rows:,} items and {settings.max_body:,} bytes. Parameters in the query "
        "are for lines and bytes; an object of JSON has its own.",
        "operationId": f"{route}_many",
        "parameters": parameters,
        "requestBody": {"required": True, "content": body},
        "responses": {"200": {"description": "An entry an item, in order", "content": content}}
        | _statuses(400, 404, 413, 415),
    }


def document(settings: Settings, names: Sequence[str]) -> Schema:
    """The document."""
    paths: Schema = {}
    for route in ROUTES:
        first, second = _question(route, settings)
        paths[f"/v1/{route}"] = first
        paths[f"/v1/{route}/{{position}}"] = second
    plain = {
        "/v1/tables": ("The tables", _ok("application/json", _ref("Tables"), kept=True), (400,)),
        "/healthz": ("Whether it serves", _ok("application/json", _ref("Health")), ()),
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
    paths["/tables/{name}"] = {"get": {
        "summary": "A table's file, whole or one byte range",
        "parameters": [name, {"name": "Range", "in": "header", "schema": TEXT}],
        "responses": {"200": {"description": "The file", "content": binary}, "206": {"description": "The range", "content": binary},
                      "304": {"description": "Unchanged"}} | _statuses(404, 416)}}  # fmt: skip
    paths["/assets/{hash}/{name}"] = {"get": {
        "summary": "A file of the page",
        "parameters": [{**name, "name": "hash", "schema": TEXT}, {**name, "schema": TEXT}],
        "responses": {"200": {"description": "The file"}} | _statuses(404)}}  # fmt: skip
    points = [
        {"name": f"p{k}", "in": "query", "schema": {**WHOLE, "minimum": -15, "maximum": 15}}
        for k in range(26)
    ]
    away = [{"name": n, "in": "query", "schema": {**WHOLE, "enum": [0, 1]}} for n in ("x_away", "o_away")]
    dice = [
        {"name": n, "in": "query", "required": True, "schema": {**WHOLE, "minimum": 1, "maximum": 6}}
        for n in ("die1", "die2")
    ]
    for path, more, schema in (("/eval", [], "Eval"), ("/move", dice, "Moves")):
        answer = _ok("application/json", _ref(schema), kept=True) | _statuses(400, 404, errors="Foreign")
        paths[path] = {
            "get": {
                "summary": "wildbg's question of that name",
                "parameters": [*more, *away, *points],
                "responses": answer,
            }
        }
    limits = {"max_rows": settings.max_rows, "max_body": settings.max_body, "connections": settings.connections,
              "head_bytes": 32 << 10, "head_seconds": 15, "body_seconds": 30, "text_characters": MOST_TEXT}  # fmt: skip
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "bgfmt",
            "version": __version__,
            "description": "Backgammon bearoff tables. Equities are points for a cube at 1, seen by the side on roll; chances "
            "run from 0 to 1; null is not known. HEAD works wherever GET does.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "x-limits": limits,
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }
