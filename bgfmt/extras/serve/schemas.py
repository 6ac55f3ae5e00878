"""The shapes of parameters and answers, as JSON Schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bgfmt.extras.serve.parameters import CUBES, MOST_TEXT, MOST_TOP
from bgfmt.extras.serve.refusals import STATUSES

Schema = dict[str, Any]
NUMBER: Schema = {"type": "number"}
WHOLE: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
CHANCES: Schema = {"type": "array", "items": NUMBER}


def or_null(schema: Schema) -> Schema:
    """A schema or null."""
    if "type" in schema and isinstance(schema["type"], str) and "enum" not in schema:
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]}


def shape(needed: Schema, more: Schema | None = None) -> Schema:
    """An object with these properties, and perhaps more."""
    return {"type": "object", "properties": {**needed, **(more or {})}, "required": list(needed)}


def ref(name: str) -> Schema:
    """One of `SCHEMAS` by name."""
    return {"$ref": f"#/components/schemas/{name}"}


PARAMETERS: dict[str, tuple[Schema, str]] = {
    "position": (
        {**TEXT, "maxLength": MOST_TEXT},
        "Counts of one or two sides from the ace point up, the side on roll first, or any identifier.",
    ),
    "table": (TEXT, "Ask this table only; #N as position (a position number) needs it."),
    "roll": (
        {**TEXT, "pattern": "^([1-6][-, /]?[1-6]|all)$"},
        "The dice, or all; by default the identifier's.",
    ),
    "cube": (
        {**TEXT, "enum": list(CUBES)},
        "Where the cube lies for the side on roll; by default the identifier's, else centered.",
    ),
    "measure": ({**TEXT, "pattern": "^(money|cubeless|mean|off:[0-9]{1,3})$"}, "What plays are ranked by."),
    "top": ({**WHOLE, "minimum": 1, "maximum": MOST_TOP}, "The most plays of each roll."),
    "settle": (
        TRUTH,
        "Calculate exactly what is too close; by default true for one question, false in bulk.",
    ),
    "away": (
        {**TEXT, "pattern": "^[0-9]{1,2}-[0-9]{1,2}$"},
        "Match play: points that the side on roll and the other need.",
    ),
    "crawford": (TRUTH, "Whether this is the Crawford game."),
    "cube_value": ({**WHOLE, "enum": [1 << k for k in range(11)]}, "What the cube shows."),
    "met": (TEXT, "Name of a match equity table."),
}
SOURCED: Schema = {
    "table": or_null(TEXT),
    "max_error": or_null({"type": "object", "additionalProperties": or_null(NUMBER)}),
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
        ("no_double", "double_take", "double_pass", "best", "double_margin", "take_margin"), NUMBER
    )
    kinds |= {
        "cube": {**TEXT, "enum": list(CUBES)},
        "action": TEXT,
        "certainty": TEXT,
        "error": or_null(NUMBER),
    }
    return shape({name: kinds[name] for name in needed}, kinds)


ACTION = _action(
    [
        "cube",
        "action",
        "no_double",
        "double_take",
        "double_pass",
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
SIDE = shape(
    {"side": TEXT, "pips": WHOLE, "mean_rolls": NUMBER, "epc": NUMBER, "wastage": NUMBER},
    {
        "position_number": WHOLE,
        "std_rolls": NUMBER,
        "bearoff": CHANCES,
        "off_within": CHANCES,
        "gammon": CHANCES,
        "gammon_mean_rolls": NUMBER,
        "gammon_std_rolls": NUMBER,
        "gammon_saved_within": CHANCES,
        **ORIGIN,
    },
)
PLAY = shape(
    {"play": TEXT, "result": TEXT, "value": NUMBER, "loss": NUMBER, "close": TRUTH},
    {"mwc": NUMBER, "loss_mwc": NUMBER, "loss_emg": NUMBER},
)
PLAYS: Schema = {"type": "array", "items": ref("Play")}
MET = shape({"name": TEXT, "digest": TEXT})
NUMBERS: Schema = {"type": "object", "additionalProperties": or_null(NUMBER)}
SCHEMAS: dict[str, Schema] = {
    "Error": shape(
        {
            "error": shape(
                {"status": WHOLE, "code": {**TEXT, "enum": list(STATUSES)}, "message": TEXT},
                {"parameter": TEXT, "row": WHOLE},
            )
        }
    ),
    "Lookup": shape(
        {
            **SOURCED,
            "asked": TEXT,
            "answers": {
                "type": "array",
                "minItems": 1,
                "items": shape(
                    {"position_number": WHOLE}, {"player": {**TEXT, "enum": ["on roll", "other side"]}}
                ),
            },
        }
    ),
    "Side": SIDE,
    "Race": {
        "anyOf": [
            shape({"asked": TEXT, **SIDE["properties"]})
            | {"required": ["asked", *SIDE["required"], *SOURCED]},
            shape(
                {
                    "asked": TEXT,
                    "on_roll": ref("Side"),
                    "other_side": ref("Side"),
                    "two_sided": or_null(ref("Estimate")),
                    **SOURCED,
                }
            ),
        ]
    },
    "Estimate": shape(
        {
            "win": NUMBER,
            "win_gammon": or_null(NUMBER),
            "lose_gammon": or_null(NUMBER),
            "cubeless": NUMBER,
            "worst_error": NUMBER,
            "mean_error": NUMBER,
        }
    ),
    "Action": ACTION,
    "Cube": {"anyOf": [ref("MoneyCube"), ref("MatchCube")]},
    "MoneyCube": shape(
        {
            "asked": TEXT,
            "position": TEXT,
            "win": or_null(NUMBER),
            "cubeless": NUMBER,
            "owned": NUMBER,
            "centered": NUMBER,
            "opponent": NUMBER,
            "approximate": TRUTH,
            "label": {**WHOLE, "minimum": 1, "maximum": 5},
            "label_text": TEXT,
            "centered_cube": ref("Action"),
            "owned_cube": ref("Action"),
            **SOURCED,
        }
    ),
    "MatchCube": shape(
        {
            "asked": TEXT,
            "position": TEXT,
            "away": {"type": "array", "items": WHOLE},
            "crawford": TRUTH,
            "cube": {**TEXT, "enum": list(CUBES)},
            "cube_value": WHOLE,
            "action": TEXT,
            "mwc": NUMBERS,
            "emg": NUMBERS,
            "met": ref("Met"),
            **SOURCED,
        }
    ),
    "Met": MET,
    "Play": PLAY,
    "Plays": {
        "anyOf": [
            shape(
                {
                    "asked": TEXT,
                    "position": TEXT,
                    "measure": TEXT,
                    "approximate": TRUTH,
                    "roll": TEXT,
                    "plays": PLAYS,
                    **SOURCED,
                },
                {"cube": {**TEXT, "enum": list(CUBES)}, "count": WHOLE},
            ),
            shape(
                {
                    "asked": TEXT,
                    "position": TEXT,
                    "measure": TEXT,
                    "approximate": TRUTH,
                    **SOURCED,
                    "rolls": {
                        "type": "array",
                        "minItems": 21,
                        "maxItems": 21,
                        "items": shape({"roll": TEXT, "plays": PLAYS}, {"count": WHOLE}),
                    },
                }
            ),
        ]
    },
    "Position": shape(
        {
            "us": {"type": "array", "items": WHOLE},
            "them": or_null({"type": "array", "items": WHOLE}),
            "counts": TEXT,
            "position_id": TEXT,
            "xgid": TEXT,
            "pips": {"type": "array", "items": WHOLE},
            "chequers": {"type": "array", "items": WHOLE},
            "contact": TRUTH,
        }
    ),
    "Probe": shape(
        {
            "question": shape(
                {
                    "position": TEXT,
                    "roll": or_null(TEXT),
                    "cube": TEXT,
                    "measure": TEXT,
                    "table": or_null(TEXT),
                }
            ),
            "position": ref("Position"),
            "cube": {"type": ["object", "null"]},
            "race": {"type": ["object", "null"]},
            "play": {"type": ["object", "null"]},
            "not_covered": {"type": "object", "additionalProperties": TEXT},
        }
    ),
    "Tables": shape(
        {
            "version": TEXT,
            "features": {"type": "array", "items": TEXT},
            "tables": {"type": "array", "items": ref("Table")},
        },
        {"mets": {"type": "array", "items": TEXT}},
    ),
    "Table": shape(
        {
            "name": TEXT,
            "title": TEXT,
            "format": TEXT,
            "kind": TEXT,
            "points": WHOLE,
            "chequers": WHOLE,
            "positions": WHOLE,
            "size": WHOLE,
            "max_error": SOURCED["max_error"],
            "fingerprint": {**TEXT, "pattern": "^[0-9a-f]{32}$"},
            "sha256": or_null(TEXT),
            "url": or_null(TEXT),
        },
        {"cubeful": TRUTH, "gammon": TRUTH, "compressed": TRUTH},
    ),
    "Health": shape({"status": TEXT, "version": TEXT, "tables": WHOLE}),
    "Chances": shape(dict.fromkeys(("win", "winG", "winBg", "loseG", "loseBg"), NUMBER)),
    "Eval": shape({"cube": shape({"double": TRUTH, "accept": TRUTH}), "probabilities": ref("Chances")}),
    "Moves": shape(
        {
            "moves": {
                "type": "array",
                "items": shape(
                    {
                        "play": {"type": "array", "items": shape({"from": WHOLE, "to": WHOLE})},
                        "probabilities": ref("Chances"),
                    }
                ),
            }
        }
    ),
    "Foreign": shape({"message": TEXT, "error": {"type": "object"}}),
}
