"""The description of the service as an OpenAPI 3.1 document, with the limits in force.

`openapi.json` has what is the same for every service. Queries and shapes are added here, and the errors: a response
that is null there is an error with the usual body.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from http import HTTPStatus
from pathlib import Path

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

WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
#: by parameter; a test asks every route by them
EXAMPLES: Schema = {"position": "0,1,0,0,1/0,1,1", "roll": "61", "p2": 1, "p5": 1, "p22": -1, "p23": -1}
BINARY: Schema = {**TEXT, "contentEncoding": "binary"}


def _answer(route: str) -> Schema:
    several = [ref(name) for name in ROUTES[route][1:]]
    one = several[0] if len(several) == 1 else {"anyOf": several}
    notes = {"notes": {"type": "array", "items": TEXT}}
    asked = {} if route == "probe" else {"asked": TEXT}
    return {"allOf": [one, {"type": "object", "properties": asked | notes, "required": list(asked)}]}


def _content(schemas: Schema) -> Schema:
    """Return the content of a body for each media type."""
    return {kind: {"schema": schema} for kind, schema in schemas.items()}


def _parameters(names: Iterable[str]) -> list[Schema]:
    """Return the options of a query as parameters of the query string."""
    out: list[Schema] = []
    for name in names:
        one = {"name": name, "in": "query", "required": name == "position"} | _example(name)
        out.append(one | {"description": options()[name].about, "schema": schema_of_option(options()[name])})
    return out


def _choice(name: str, about: str, *words: str) -> Schema:
    """Return a parameter of the query string that is one of these words."""
    return {"name": name, "in": "query", "schema": TEXT | {"enum": list(words)}, "description": about}


def _example(name: str) -> Schema:
    """Return an example value under `example`; nothing for a parameter better not set."""
    return {"example": EXAMPLES[name]} if name in EXAMPLES else {}


def _question(route: str, settings: Settings) -> Iterator[tuple[str, Schema]]:
    """Yield the paths of a query, with the position in the query string and in the path."""
    position, *others = _parameters(QUESTIONS[route])
    answer = {"description": "The answer", "content": _content({JSON: _answer(route)})}
    unchanged = {"description": "Unchanged (If-None-Match)"}
    get: Schema = {
        "summary": ROUTES[route][0],
        "operationId": route,
        "parameters": [position, *others],
        "responses": {"200": answer, "304": unchanged, "400": None, "404": None},
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
    schemas = {name: schema_of_option(options()[name]) for name in QUESTIONS[route]}
    common = {name: schema for name, schema in schemas.items() if name != "position"}
    items = {"anyOf": [TEXT, {"type": "object", "properties": schemas, "required": ["position"]}]}
    positions = {"positions": {"type": "array", "items": items, "maxItems": settings.max_rows}}
    example = {"positions": [EXAMPLES["position"]]} | ({"roll": EXAMPLES["roll"]} if "roll" in common else {})
    body = {
        "type": "object",
        "properties": positions | common,
        "required": ["positions"],
        "examples": [example],
    }
    failed = {"asked": {"type": ["string", "null"]}, "error": {"type": "object"}}
    entry = {"anyOf": [_answer(route), {"type": "object", "properties": failed, "required": list(failed)}]}
    results = {"results": {"type": "array", "items": entry}}
    answers = {JSON: {"type": "object", "properties": results, "required": ["results"]}, LINES: TEXT}
    lines = {**TEXT, "description": f"An item a line, at most {settings.max_rows}."}
    parameters = _parameters(common)
    binary = {}
    if route == "lookup":
        binary = {BYTES: BINARY}
        parameters.append(_choice("rows", "What the bytes are.", "counts", "numbers"))
        parameters.append(_choice("column", "Which distribution.", "bearoff", "gammon"))
    answer = {"description": "An entry an item, in order", "content": _content({**answers, **binary})}
    return {
        "summary": f"{ROUTES[route][0]}, many at once",
        "description": f"At most {settings.max_rows:,} items and {settings.max_body:,} bytes. Parameters in the "
        "query are for lines and bytes; an object of JSON has its own.",
        "operationId": f"{route}_many",
        "parameters": parameters,
        "requestBody": {"required": True, "content": _content({JSON: body, LINES: lines, **binary})},
        "responses": {"200": answer, "400": None, "404": None, "413": None, "415": None},
    }


def _board() -> list[Schema]:
    """Return the parameters of wildbg's routes that state a score and a board."""
    away = {**WHOLE, "minimum": 0, "maximum": MAX_AWAY}
    point = {**WHOLE, "minimum": -15, "maximum": 15}
    schemas = {"x_away": away, "o_away": away} | dict.fromkeys((f"p{k}" for k in range(26)), point)
    return [
        {"name": name, "in": "query", "schema": schema} | _example(name) for name, schema in schemas.items()
    ]


def _error(status: str) -> Schema:
    """Return the response of an error."""
    return {"description": HTTPStatus(int(status)).phrase, "content": _content({JSON: ref("Error")})}


def document(settings: Settings, names: Sequence[str]) -> Schema:
    out: Schema = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
    out["info"]["version"] = __version__
    limits = {name: getattr(settings, name) for name in ("max_rows", "max_body", "connections")}
    out["x-limits"] |= limits | {"text_characters": MAX_TEXT}
    schemas = out["components"]["schemas"]
    schemas["Error"]["properties"]["error"]["properties"]["code"]["enum"] = list(STATUSES)
    schemas |= {name: schema_of(one) for name, one in SHAPES.items()}
    paths = out["paths"]
    paths["/tables/{name}"]["get"]["parameters"][0]["schema"]["examples"] = list(names)
    for path in ("/eval", "/move"):
        paths[path]["get"]["parameters"] += _board()
    for route in QUESTIONS:
        paths |= _question(route, settings)
    for operations in paths.values():
        for operation in operations.values():
            responses = dict.fromkeys(map(str, EVERYWHERE)) | operation["responses"]
            operation["responses"] = {key: responses[key] or _error(key) for key in sorted(responses)}
    return out
