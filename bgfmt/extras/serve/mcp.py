"""bgfmt's queries as tools of the Model Context Protocol, over standard input and output, with its own SDK.

A tool is a command with `--json`, run in a process of its own; its input and output have the schemas of queries and
answers. An error of the command becomes an error of the tool, one line.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import Any

import anyio
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bgfmt import __version__
from bgfmt.analysis.positions import one_or_two
from bgfmt.analysis.questions import MET, STATE, options
from bgfmt.cli.verify import LEVELS
from bgfmt.errors import PositionError
from bgfmt.extras.serve.shapes import SHAPES, Schema, schema_of, schema_of_option

ABOUT = (
    "Exact answers about backgammon bearoffs and races. A position is two sides, the one on roll first, as counts "
    "from the ace point up (0 1 0 0 1 / 0 1 1), or any identifier: XGID, GNUbg ID, OGID. "
    "Equities are points for a cube at 1."
)
TEXT: Schema = {"type": "string", "minLength": 1, "maxLength": 8000}
UNSENDABLE = re.compile("[\0\ud800-\udfff]")  # what no command line holds: NUL, halves of surrogate pairs
FILE = TEXT | {"description": "The path of a file."}
SURROGATE = re.compile("[\ud800-\udfff]")
MORE: dict[str, Schema] = {
    "file": FILE,
    "played": TEXT | {"description": "The play that was made, such as `6/5 6/off`."},
    "did": {
        "enum": ["double", "no-double", "take", "pass", "beaver"],
        "description": "The cube decision that was taken.",
    },
    "until": {
        "enum": list(LEVELS),
        "description": "The last step to take; by default `recurrence`, the proof.",
    },
    "to": TEXT | {"description": "The format to convert to, by its name."},
}


@dataclass(frozen=True)
class Command:
    """A tool: its description, its command line, its parameters, the required ones, and the schema of its answer.

    words : the command line: DB for the databases, names of parameters for their values, and literal words.
    """

    about: str
    words: str
    takes: Sequence[str]
    needs: Sequence[str] = ("position",)
    answers: Sequence[str] | Schema = ()

    def line(self, databases: Sequence[str], given: dict[str, Any]) -> list[str]:
        """Return the command line that runs the tool; parameters without a place in `words` become options.

        given : the tool's parameters by name.
        """
        given = dict(given)
        behind: list[str] = []
        if "file" in self.takes:
            given.setdefault("file", (databases or [""])[0])
        command, _, last = self.words.partition(" -- ")
        for word in last.split():
            if word == "DB":
                behind += databases
            elif word not in self.takes:
                behind.append(word)
            elif word in given:
                behind.append(given.pop(word))
        return [*command.split(), "--json", *(_switch(*one) for one in given.items()), "--", *behind]


def _switch(name: str, value: Any) -> str:
    """Format a parameter as an option of a command line."""
    switch = name.replace("_", "-")
    if isinstance(value, bool):
        return f"--{switch}" if value else f"--no-{switch}"
    return f"--{value}" if name == "did" else f"--{switch}={value}"


#: schemas of the answers that have no shape of their own; their fields are those of docs/json.md
_ANSWERS: dict[str, Schema] = json.loads(Path(__file__).with_name("mcp_answers.json").read_text("utf-8"))
ASKED = ("position", *STATE, *MET, "settle", "oracle")
TOOLS = {
    "look_up": Command(
        "Look up a position in a table.",
        "lookup -- file position", ("position", "file"), answers=_ANSWERS["look_up"],
    ),
    "race": Command(
        "When a side, or each of two, bears off: mean rolls, EPC, wastage, chances.",
        "race -- DB position", ("position",), answers=("SideRace", "TwoRaces"),
    ),
    "cube": Command(
        "Cube action (double, take, pass), for money or at a score; exact in bearoffs, estimated in other races.",
        "cube -- DB position", (*ASKED, "insight"), answers=("CubeAnswer", "MatchCubeAnswer"),
    ),
    "grid": Command(
        "The cube action at every match score up to N-away.",
        "cube -- DB position", (*ASKED, "scores"), ("position", "scores"), ("ScoresAnswer",),
    ),
    "play": Command(
        "The plays of a roll, best first, with what each loses.",
        "play -- DB position roll", (*ASKED, "roll", "measure", "top"), answers=("PlayAnswer",),
    ),
    "judge": Command(
        "Whether a play or a cube decision that somebody has made was right, and what it cost.",
        "judge -- DB position", (*ASKED, "roll", "played", "did"), answers=_ANSWERS["judge"],
    ),
    "verify": Command(
        "Whether a bearoff database is right: every byte, every entry.",
        "verify -- file", ("file", "until"), ("file",), _ANSWERS["verify"],
    ),
    "convert_plan": Command(
        "What a database would lose in another format; nothing is written.",
        "convert --plan -- file planned", ("file", "to"), ("file", "to"), _ANSWERS["convert_plan"],
    ),
}  # fmt: skip


def tool(name: str, command: Command) -> types.Tool:
    """Return a tool as the Model Context Protocol lists it."""
    known = {key: schema_of_option(one) | {"description": one.about} for key, one in options().items()} | MORE
    taken: Schema = {"type": "object", "properties": {key: known[key] for key in command.takes}}
    taken |= {"required": list(command.needs), "additionalProperties": False}
    return types.Tool(
        name=name,
        description=command.about,
        input_schema=taken,
        output_schema=_answer(command.answers),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _answer(names: Sequence[str] | Schema) -> Schema:
    """Return the schema of an answer of one of these shapes with all its definitions.

    A schema is returned as it is.
    """
    if isinstance(names, dict):
        return names
    known: dict[str, Schema] = {}
    waiting = list(names)
    for name in waiting:  # grows while it is walked
        if name not in known:
            text = json.dumps(schema_of(SHAPES[name])).replace("#/components/schemas/", "#/$defs/")
            waiting += re.findall(r'"#/\$defs/(\w+)"', text)
            known[name] = json.loads(text)
    return {"type": "object", "anyOf": [{"$ref": f"#/$defs/{name}"} for name in names], "$defs": known}


async def call(name: str, arguments: dict[str, Any], databases: Sequence[str]) -> types.CallToolResult:
    """Run a tool (a bgfmt command in another process) and return its answer or its error.

    name, arguments : of the tool. databases : paths of the tables to query.
    """
    import jsonschema

    command = TOOLS.get(name)
    if command is None:
        return _refused(f"no tool {name[:40]!r}")
    schema = tool(name, command).input_schema
    if error := next(jsonschema.Draft202012Validator(schema).iter_errors(arguments), None):
        return _refused(f"{'.'.join(map(str, error.path)) or name}: {error.message}")
    try:
        check_texts(arguments)
    except PositionError as error:
        return _refused(str(error))
    line = command.line(databases, arguments)
    done = await anyio.run_process(
        [sys.executable, "-m", "bgfmt", *line], stdin=DEVNULL, stdout=PIPE, stderr=PIPE, check=False
    )
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        return _refused(done.stderr.decode("utf-8", "replace").strip() or f"bgfmt {line[0]} gave no answer")
    answer = answer if isinstance(answer, dict) else {"answers": answer}
    first = answer.get("answers", [answer])[0]
    if "error" in first:
        return _refused(first["error"]["message"])
    notes = [one for one in done.stderr.decode("utf-8", "replace").splitlines() if one.startswith("bgfmt: ")]
    texts = [json.dumps(answer, ensure_ascii=False), *notes]
    content: Any = [types.TextContent(type="text", text=text) for text in texts]
    return types.CallToolResult(content=content, structured_content=answer)


def check_texts(arguments: dict[str, Any]) -> None:
    """Raise PositionError for an argument that a command line cannot hold, and for a text that is no position.

    A command line takes `-` for standard input, and the name of a file or an address for a database.
    """
    for name, value in arguments.items():
        if isinstance(value, str) and UNSENDABLE.search(value):
            raise PositionError(f"{name} has an invalid character: {value[:40]!a}")
    position = arguments.get("position")
    if position is not None and not position.startswith("#"):
        one_or_two(position)


def _refused(message: str) -> types.CallToolResult:
    text = " ".join(message.split())
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)


def serve(databases: Sequence[str]) -> None:
    """Serve the Model Context Protocol on standard input and output until the input ends."""

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool(name, command) for name, command in TOOLS.items()])

    async def call_tool(_: Any, asked: types.CallToolRequestParams) -> types.CallToolResult:
        return await call(asked.name, asked.arguments or {}, databases)

    server = Server(
        "bgfmt", version=__version__, instructions=ABOUT, on_list_tools=list_tools, on_call_tool=call_tool
    )

    async def main() -> None:
        with (
            open(0, encoding="utf-8", errors="replace", closefd=False) as standard_input,
            open(1, "w", encoding="utf-8", closefd=False) as standard_output,
        ):
            sink = anyio.wrap_file(standard_output)
            lines: Any = _messages(anyio.wrap_file(standard_input), sink)
            async with stdio_server(lines, sink) as (read, write):
                await server.run(read, write, server.create_initialization_options())

    anyio.run(main)


async def _messages(source: anyio.AsyncFile[str], sink: anyio.AsyncFile[str]) -> AsyncIterator[str]:
    """Yield the lines that are messages, and answer others with an error, which the SDK would drop silently."""
    async for received in source:
        line = replace_surrogates(received)
        try:
            types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            if line.strip():
                await sink.write(json.dumps(invalid_message(line)) + "\n")
                await sink.flush()
        else:
            yield line


def replace_surrogates(line: str) -> str:
    """Return a line of JSON with U+FFFD for each lone surrogate, which is invalid in text; other lines unchanged."""
    try:
        text = json.dumps(json.loads(line), ensure_ascii=False)
    except (ValueError, RecursionError):
        return line
    mended = SURROGATE.sub("\ufffd", text)
    return line if mended == text else mended + "\n"


def invalid_message(line: str) -> dict[str, Any]:
    """Return the JSON-RPC error for a line that is no message: -32700 if it is no JSON, else -32600 with its id."""
    error = {"code": -32600, "message": "not a JSON-RPC message"}
    value = None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        error = {"code": -32700, "message": "no JSON"}
    number = value.get("id") if isinstance(value, dict) else None
    number = number if isinstance(number, (int, str)) else None
    return {"jsonrpc": "2.0", "id": number, "error": error}
