"""JSON Schemas of the answers of MCP tools that have no shape of their own: look-ups, judgements, reports, plans.

The fields are those of docs/json.md; an answer may have more.
"""

from __future__ import annotations

from bgfmt.extras.serve.shapes import Schema

TEXT: Schema = {"type": "string"}
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}
TRUTH: Schema = {"type": "boolean"}
ERRORS: Schema = {"type": ["object", "null"], "additionalProperties": {"type": ["number", "null"]}}
PROBABILITIES: Schema = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}


def _list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def _object(needed: Schema, optional: Schema | None = None) -> Schema:
    return {"type": "object", "properties": needed | (optional or {}), "required": list(needed)}


_LOOKED_UP = _object(
    {"asked": TEXT, "position_number": WHOLE, "table": _or_null(TEXT), "max_error": ERRORS},
    dict.fromkeys(("player", "side", "position", "path"), TEXT)
    | {"pips": WHOLE, "win": NUMBER, "bearoff": PROBABILITIES, "gammon": PROBABILITIES}
    | dict.fromkeys(("mean_rolls", "std_rolls", "epc", "wastage"), NUMBER)
    | dict.fromkeys(("cubeless", "owned", "centered", "opponent"), NUMBER)
    | {"outcomes": {"type": "object"}, "equities": {"type": "object"}},
)
LOOK_UP = _object({"answers": {**_list_of(_LOOKED_UP), "minItems": 1}})

JUDGE = _object(
    dict.fromkeys(("asked", "decision", "kind", "position_id", "position", "did", "best", "verdict"), TEXT)
    | dict.fromkeys(("measure", "source", "method", "certainty", "text"), TEXT)
    | {"dice": _or_null(_list_of(WHOLE)), "away": _or_null(_list_of(WHOLE))}
    | {"cube": WHOLE, "cube_owner": TEXT, "crawford": TRUTH, "choices": WHOLE, "approximate": TRUTH}
    | dict.fromkeys(("equity", "best_equity", "equity_lost"), _or_null(NUMBER))
    | dict.fromkeys(("mwc", "best_mwc", "loss_mwc", "loss_emg"), _or_null(NUMBER))
    | {"table": _or_null(TEXT), "max_error": ERRORS, "insight": {"type": ["object", "null"]}},
    {"met": {"type": ["object", "null"]}, "action": _or_null(TEXT), "advice": _or_null(TEXT)},
)

_FINDING = _object(
    dict.fromkeys(("check", "rule", "kind", "message"), TEXT), {"offset": WHOLE, "board": TEXT}
)
VERIFY = _object(
    dict.fromkeys(("file", "verdict", "status", "format", "title", "kind", "recipe", "rung"), TEXT)
    | {"exit_code": WHOLE, "known_as": TEXT, "cause": TEXT}
    | dict.fromkeys(("entries", "checked", "wrong", "inherited"), WHOLE)
    | {"findings": _list_of(_FINDING), "notes": _list_of(TEXT), "seconds": {"type": "object"}},
    {"parts": _list_of({"type": "object"}), "differences": {"type": "object"}, "exact": {"type": "object"}},
)

CONVERT_PLAN = _object({"file": TEXT, "lost": _list_of(TEXT)})
