"""bgfmt's questions as tools of the Model Context Protocol, over standard input and output, by its own SDK.

A tool is a command with `--json`, run in a process of its own; its input and output have the schemas of questions and
answers. What a command refuses is an error of the tool, one line.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bgfmt import __version__
from bgfmt.analysis.questions import MET, STATE
from bgfmt.analysis.shapes import Schema, options, schema_of, shapes
from bgfmt.cli.verify import RUNGS

ABOUT = (
    "Exact answers about backgammon bearoffs and races. A position is two sides, the one on roll first, as counts "
    "from the ace point up (0 1 0 0 1 / 0 1 1), or any identifier: XGID, GNUbg ID, OGID. "
    "Equities are points for a cube at 1."
)
TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 8000}
FILE = TEXT | {"description": "The path of a file."}
MORE: dict[str, Schema] = {
    "file": FILE,
    "played": TEXT | {"description": "The play that was made, such as `6/5 6/off`."},
    "did": {
        "enum": ["double", "no-double", "take", "pass", "beaver"],
        "description": "The cube decision that was taken.",
    },
    "until": {
        "enum": list(RUNGS),
        "description": "The last step to take; by default `recurrence`, the proof.",
    },
    "to": TEXT | {"description": "The format to convert to, by its name."},
}


@dataclass(frozen=True)
class Command:
    """A tool: what it says of itself, its options, those that it needs, the shapes of its answer.

    words : the arguments of the command, from the databases and the tool's arguments, which those leave out that are
    options.
    """

    about: str
    takes: Sequence[str]
    needs: Sequence[str]
    words: Callable[[Sequence[str], dict[str, Any]], list[str]]
    answers: Sequence[str] = ()


def _asked(verb: str, *names: str) -> Callable[[Sequence[str], dict[str, Any]], list[str]]:
    """A command that takes databases, then these arguments."""

    def words(databases: Sequence[str], given: dict[str, Any]) -> list[str]:
        last = [given.pop(name) for name in names if name in given]
        return [verb, *_switches(given), "--", *databases, *last]

    return words


def _judge(databases: Sequence[str], given: dict[str, Any]) -> list[str]:
    did = [f"--{given.pop('did')}"] if "did" in given else []
    position = given.pop("position")
    return ["judge", *did, *_switches(given), "--", *databases, position]


def _look_up(databases: Sequence[str], given: dict[str, Any]) -> list[str]:
    return ["lookup", "--", given.get("file") or (databases or [""])[0], given["position"]]


def _plan(_: Sequence[str], given: dict[str, Any]) -> list[str]:
    return ["convert", "--plan", "--to", given["to"], "--", given["file"], "planned"]


def _switches(given: Mapping[str, Any]) -> list[str]:
    """Options of a command line."""
    out = []
    for name, value in given.items():
        switch = name.replace("_", "-")
        out += (
            [f"--{switch}" if value else f"--no-{switch}"]
            if isinstance(value, bool)
            else [f"--{switch}={value}"]
        )
    return out


ASKED = ("position", *STATE, *MET, "settle", "oracle")
TOOLS = {
    "look_up": Command("What a table says of a position.", ("position", "file"), ("position",), _look_up),
    "race": Command(
        "When a side, or each of two, bears off: mean rolls, EPC, wastage, chances.",
        ("position",), ("position",), _asked("race", "position"), ("SideRace", "TwoRaces"),
    ),
    "cube": Command(
        "Whether to double, take or pass, for money or at a score; exact in bearoffs, estimated in other races.",
        (*ASKED, "insight"), ("position",), _asked("cube", "position"), ("CubeAnswer", "MatchCubeAnswer"),
    ),
    "grid": Command(
        "The cube action at every match score up to N-away.",
        (*ASKED, "scores"), ("position", "scores"), _asked("cube", "position"), ("ScoresAnswer",),
    ),
    "play": Command(
        "The plays of a roll, best first, with what each loses.",
        (*ASKED, "roll", "measure", "top"), ("position",), _asked("play", "position", "roll"), ("PlayAnswer",),
    ),
    "judge": Command(
        "Whether a play or a cube decision that somebody has made was right, and what it cost.",
        (*ASKED, "roll", "played", "did"), ("position",), _judge,
    ),
    "verify": Command(
        "Whether a bearoff database is right: every byte, every entry.", ("file", "until"), ("file",),
        lambda _, given: _asked("verify", "file")((), given),
    ),
    "convert_plan": Command(
        "What a database would lose in another format; nothing is written.", ("file", "to"), ("file", "to"), _plan
    ),
}  # fmt: skip


def tool(name: str, command: Command) -> types.Tool:
    """A tool as it is listed."""
    known = {key: one.schema | {"description": one.about} for key, one in options().items()} | MORE
    taken: Schema = {"type": "object", "properties": {key: known[key] for key in command.takes}}
    taken |= {"required": list(command.needs), "additionalProperties": False}
    return types.Tool(
        name=name,
        description=command.about,
        input_schema=taken,
        output_schema=_answer(command.answers) if command.answers else None,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _answer(names: Sequence[str]) -> Schema:
    """The schema of an answer of one of these shapes, with all that they refer to."""
    known: dict[str, Schema] = {}
    waiting = list(names)
    for name in waiting:  # grows while it is walked
        if name not in known:
            text = json.dumps(schema_of(shapes()[name])).replace("#/components/schemas/", "#/$defs/")
            waiting += re.findall(r'"#/\$defs/(\w+)"', text)
            known[name] = json.loads(text)
    return {"type": "object", "anyOf": [{"$ref": f"#/$defs/{name}"} for name in names], "$defs": known}


async def call(name: str, arguments: dict[str, Any], databases: Sequence[str]) -> types.CallToolResult:
    """The answer of a tool, or its error."""
    import jsonschema

    command = TOOLS.get(name)
    if command is None:
        return _refused(f"there is no tool {name[:40]!r}")
    worst = jsonschema.Draft202012Validator(tool(name, command).input_schema)
    for error in worst.iter_errors(arguments):
        return _refused(f"{'.'.join(map(str, error.path)) or name}: {error.message}")
    words = command.words(databases, dict(arguments))
    line = [sys.executable, "-m", "bgfmt", words[0], "--json", *words[1:]]
    done = await anyio.run_process(line, stdin=DEVNULL, stdout=PIPE, stderr=PIPE, check=False)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return _refused(done.stderr.decode("utf-8", "replace").strip() or f"bgfmt {words[0]} gave no answer")
    answer = answer if isinstance(answer, dict) else {"answers": answer}
    first = answer.get("answers", [answer])[0]
    if "error" in first:
        return _refused(first["error"]["message"])
    text = json.dumps(answer, ensure_ascii=False)
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=answer
    )


def _refused(message: str) -> types.CallToolResult:
    text = " ".join(message.split())
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def serve(databases: Sequence[str]) -> None:
    """Answer on standard input and output until it ends."""

    async def listed(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool(name, command) for name, command in TOOLS.items()])

    async def called(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        return await call(asked.name, asked.arguments or {}, databases)

    server = Server(
        "bgfmt", version=__version__, instructions=ABOUT, on_list_tools=listed, on_call_tool=called
    )

    async def main() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(main)
