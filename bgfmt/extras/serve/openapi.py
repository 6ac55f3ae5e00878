"""The description of the service as an OpenAPI 3.1 document, with the limits in force."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus

from bgfmt import __version__
from bgfmt.analysis.questions import MAX_AWAY, QUESTIONS, options
from bgfmt.analysis.shapes import MAX_TEXT
from bgfmt.extras.serve.parameters import Settings
from bgfmt.extras.serve.refusals import STATUSES
from bgfmt.extras.serve.shapes import SHAPES, Schema, ref, schema_of, schema_of_option

#: of each question what it says, and the shapes of its answers, which have `asked` beside them but that of a probe
ROUTES = {
    "lookup": ("Look up a position in a table", "Lookup"),
    "race": ("Mean rolls, effective pips and wastage of a race", "SideRace", "TwoRaces"),
    "cube": ("Cube action: double, take, pass", "CubeAnswer", "MatchCubeAnswer", "ScoresAnswer"),
    "play": ("The plays of a roll, ranked", "PlayAnswer"),
    "probe": ("All answers for one position", "ProbeAnswer"),
}
EVERYWHERE = (405, 421, 431, 500, 503)  # what every route can answer by
JSON = "application/json"
LINES = "application/x-ndjson"
BYTES = "application/octet-stream"

NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
#: by parameter; a test asks every route by them
EXAMPLES: Schema = {"position": "0,1,0,0,1/0,1,1", "roll": "61", "die1": 6, "die2": 1}
EXAMPLES |= {"p2": 1, "p5": 1, "p22": -1, "p23": -1}
BINARY: Schema = {**TEXT, "contentEncoding": "binary"}


def or_null(schema: Schema) -> Schema:
    """Return a JSON Schema that allows what the given one allows, and null."""
    return {**schema, "type": [schema["type"], "null"]}


def shape(needed: Schema, more: Schema | None = None) -> Schema:
    """Return the JSON Schema of an object.

    needed : schemas of the required properties by name. more : those of optional ones.
    """
    return {"type": "object", "properties": {**needed, **(more or {})}, "required": list(needed)}


def array(of: Schema) -> Schema:
    """Return the JSON Schema of an array whose items have the given one."""
    return {"type": "array", "items": of}


_SOURCED: Schema = {
    "table": or_null(TEXT),
    "max_error": or_null({"type": "object", "additionalProperties": or_null(NUMBER)}),
}
_LOOKED_UP = shape({"position_number": WHOLE}, {"player": {**TEXT, "enum": ["on roll", "other side"]}})
_TABLE: Schema = dict.fromkeys(("name", "title", "format", "kind"), TEXT)
_TABLE |= dict.fromkeys(("points", "chequers", "positions", "size"), WHOLE)
_TABLE |= {"max_error": _SOURCED["max_error"], "fingerprint": {**TEXT, "pattern": "^[0-9a-f]{32}$"}}
_TABLE |= dict.fromkeys(("sha256", "url"), or_null(TEXT))
_ERROR: Schema = {"status": WHOLE, "code": {**TEXT, "enum": list(STATUSES)}, "message": TEXT}
_CUBE = shape({"double": TRUTH, "accept": TRUTH})
_EQUITY = shape(dict.fromkeys(("cubeless", "centered", "best"), NUMBER))
_STEPS = array(shape({"from": WHOLE, "to": WHOLE}))
SCHEMAS: dict[str, Schema] = {name: schema_of(one) for name, one in SHAPES.items()} | {
    "Error": shape({"error": shape(_ERROR, {"parameter": TEXT, "row": WHOLE})}),
    "Lookup": shape({**_SOURCED, "asked": TEXT, "answers": {**array(_LOOKED_UP), "minItems": 1}}),
    "Tables": shape(
        {"version": TEXT, "features": array(TEXT), "tables": array(ref("Table"))}, {"mets": array(TEXT)}
    ),
    "Table": shape(_TABLE, dict.fromkeys(("cubeful", "gammon", "compressed"), TRUTH)),
    "Health": shape({"status": TEXT, "version": TEXT, "tables": WHOLE}),
    "Chances": shape(dict.fromkeys(("win", "winG", "winBg", "loseG", "loseBg"), NUMBER)),
    "Eval": shape({"cube": _CUBE, "equity": _EQUITY, "probabilities": ref("Chances")}),
    "Moves": shape({"moves": array(shape({"play": _STEPS, "probabilities": ref("Chances")}))}),
    "Foreign": shape({"message": TEXT, "error": {"type": "object"}}),
}


def _answer(route: str) -> Schema:
    several = [ref(name) for name in ROUTES[route][1:]]
    one = several[0] if len(several) == 1 else {"anyOf": several}
    beside = shape({} if route == "probe" else {"asked": TEXT}, {"notes": array(TEXT)})
    return {"allOf": [one, beside]}


def _content(schemas: Schema) -> Schema:
    """Return the content of a body for each media type."""
    return {kind: {"schema": schema} for kind, schema in schemas.items()}


def _responses(
    schemas: Schema, *statuses: int, kept: bool = False, about: str = "The answer", errors: str = "Error"
) -> Schema:
    """Return the responses of a route: the answer, 304 if it may be cached (`kept`), and the errors."""
    out: Schema = {"200": {"description": about} | ({"content": _content(schemas)} if schemas else {})}
    if kept:
        out["304"] = {"description": "Unchanged (If-None-Match)"}
    for status in sorted({*EVERYWHERE, *statuses}):
        said = ref(errors if status in (400, 404) else "Error")
        out[str(status)] = {"description": HTTPStatus(status).phrase, "content": _content({JSON: said})}
    return out


def _parameters(names: Iterable[str]) -> list[Schema]:
    """Return the options of a query as parameters of the query string."""
    out: list[Schema] = []
    for name in names:
        one = {"name": name, "in": "query", "required": name == "position"} | _example(name)
        out.append(one | {"description": options()[name].about, "schema": schema_of_option(options()[name])})
    return out


def _example(name: str) -> Schema:
    """Return an example value under `example`; nothing for a parameter better not set."""
    return {"example": EXAMPLES[name]} if name in EXAMPLES else {}


def _question(route: str, settings: Settings) -> Iterator[tuple[str, Schema]]:
    """Yield the paths of a query, with the position in the query string and in the path."""
    position, *others = _parameters(QUESTIONS[route])
    get: Schema = {
        "summary": ROUTES[route][0],
        "operationId": route,
        "parameters": [position, *others],
        "responses": _responses({JSON: _answer(route)}, 400, 404, kept=True),
    }
    yield (
        f"/v1/{route}",
        {"get": get} | ({} if route == "probe" else {"post": _bulk_operation(route, settings)}),
    )
    summary = f"{ROUTES[route][0]}, the position in the path (it may contain /)"
    parameters = [{**position, "in": "path"}, *others]
    in_path = {"summary": summary, "operationId": f"{route}_in_path", "parameters": parameters}
    yield f"/v1/{route}/{{position}}", {"get": get | in_path}


def _bulk_operation(route: str, settings: Settings) -> Schema:
    names = [n for n in QUESTIONS[route] if n != "position"]
    one = {"type": "object", "properties": {n: schema_of_option(options()[n]) for n in QUESTIONS[route]}}
    items = {"anyOf": [TEXT, {**one, "required": ["position"]}]}
    positions = {"positions": {**array(items), "maxItems": settings.max_rows}}
    entry = {"anyOf": [_answer(route), shape({"asked": or_null(TEXT), "error": {"type": "object"}})]}
    lines = {**TEXT, "description": f"An item a line, at most {settings.max_rows}."}
    binary = {BYTES: BINARY} if route == "lookup" else {}
    parameters = _parameters(names)
    if binary:
        bytes_are = ("rows", "What the bytes are.", ["counts", "numbers"])
        for name, about, words in (bytes_are, ("column", "Which distribution.", ["bearoff", "gammon"])):
            schema = {**TEXT, "enum": words}
            parameters.append({"name": name, "in": "query", "schema": schema, "description": about})
    one_body = shape(positions, {n: schema_of_option(options()[n]) for n in names})
    example = {"positions": [EXAMPLES["position"]]} | ({"roll": EXAMPLES["roll"]} if "roll" in names else {})
    answers = {JSON: shape({"results": array(entry)}), LINES: TEXT, **binary}
    return {
        "summary": f"{ROUTES[route][0]}, many at once",
        "description": f"At most {settings.max_rows:,} items and {settings.max_body:,} bytes. Parameters in the "
        "query are for lines and bytes; an object of JSON has its own.",
        "operationId": f"{route}_many",
        "parameters": parameters,
        "requestBody": {
            "required": True,
            "content": _content({JSON: one_body | {"examples": [example]}, LINES: lines, **binary}),
        },
        "responses": _responses(answers, 400, 404, 413, 415, about="An entry an item, in order"),
    }


def document(settings: Settings, names: Sequence[str]) -> Schema:
    paths: Schema = {}

    def add(path: str, summary: str, responses: Schema, *parameters: Schema) -> None:
        more = {"parameters": list(parameters)} if parameters else {}
        paths[path] = {"get": {"summary": summary, **more, "responses": responses}}

    for route in QUESTIONS:
        paths |= dict(_question(route, settings))
    add("/v1/tables", "The tables", _responses({JSON: ref("Tables")}, 400, kept=True))
    add("/healthz", "Whether the server runs", _responses({JSON: ref("Health")}))
    add("/readyz", "Whether all kernels are compiled", _responses({JSON: ref("Health")}))
    add("/metrics", "Counters for Prometheus", _responses({"text/plain": TEXT}))
    for path in ("/openapi.json", "/v1/openapi.json"):
        add(path, "This document", _responses({JSON: {"type": "object"}}, kept=True))
    add("/", "The probe page", _responses({"text/html": TEXT}, kept=True))
    named: Schema = {"name": "name", "in": "path", "required": True, "schema": TEXT}
    file = _responses({BYTES: BINARY}, 404, 416, kept=True, about="The file")
    file["206"] = {**file["200"], "description": "The range"}
    table = {**named, "schema": {**TEXT, "examples": list(names)}}
    ranges = {"name": "Range", "in": "header", "schema": TEXT}
    add("/tables/{name}", "A table's file, whole or one byte range", file, table, ranges)
    asset = _responses({}, 404, about="The file")
    add("/assets/{hash}/{name}", "A file of the page", asset, {**named, "name": "hash"}, named)
    point = {**WHOLE, "minimum": -15, "maximum": 15}
    board = {name: {**WHOLE, "minimum": 0, "maximum": MAX_AWAY} for name in ("x_away", "o_away")}
    board |= dict.fromkeys((f"p{k}" for k in range(26)), point)
    counts = [
        {"name": name, "in": "query", "schema": schema} | _example(name) for name, schema in board.items()
    ]
    die = {"in": "query", "required": True, "schema": {**WHOLE, "minimum": 1, "maximum": 6}}
    dice = [{"name": one, **die} | _example(one) for one in ("die1", "die2")]
    for path, answer, asked in (("/eval", "Eval", counts), ("/move", "Moves", [*dice, *counts])):
        responses = _responses({JSON: ref(answer)}, 400, 404, kept=True, errors="Foreign")
        add(path, "wildbg's route of that name", responses, *asked)
    limits = {name: getattr(settings, name) for name in ("max_rows", "max_body", "connections")}
    limits |= {"head_bytes": 32 << 10, "head_seconds": 15, "body_seconds": 30, "text_characters": MAX_TEXT}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "bgfmt",
            "version": __version__,
            "description": "Backgammon bearoff tables. Routes below /v1 keep their parameters, and their answers "
            "may gain fields; incompatible changes go below /v2. Equities are points for a cube at 1, "
            "seen by the side on roll; chances run from 0 to 1; null is not known. HEAD works wherever GET does.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "x-limits": limits,
        "paths": paths,
        "components": {"schemas": SCHEMAS},
    }
