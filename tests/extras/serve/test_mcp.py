"""`bgfmt mcp`, asked by a client session of the protocol's own SDK over standard input and output."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import GOLDEN

pytestmark = pytest.mark.skipif(importlib.util.find_spec("mcp") is None, reason="mcp is not installed")

TS, OS = str(GOLDEN / "gnubg/ts_06x04.bd"), str(GOLDEN / "gnubg/os_p06.bd")
HERE = "0 1 0 0 1 / 0 1 1"
#: tool, arguments, what the answer has
ASKED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("look_up", {"position": HERE}, {"position_number": 3374}),
    ("race", {"position": "0 2 2 2 0 4"}, {"pips": 42}),
    ("cube", {"position": HERE, "cube": "owned", "cube_value": 2}, {"action": "No redouble, take"}),
    ("cube", {"position": HERE, "away": "3-5", "crawford": False, "settle": True}, {"away": [3, 5]}),
    ("grid", {"position": HERE, "scores": 2}, {"scores": 2}),
    ("play", {"position": HERE, "roll": "21", "top": 1}, {"roll": "21", "measure": "money"}),
    ("play", {"position": HERE, "roll": "21", "measure": "mean", "away": "3-5"}, {"measure": "mean"}),
    ("judge", {"position": HERE, "roll": "21", "played": "5/2"}, {"did": "5/2"}),
    ("verify", {"file": TS, "until": "sense"}, {"format": "gnubg-ts"}),
    ("convert_plan", {"file": OS, "to": "gnubg-nd"}, {}),
]
#: tool, arguments, what its error says
REFUSED = [
    (
        "cube",
        {"position": "0 0 0 0 0 0 0 0 0 0 0 0 2 / 0 0 0 0 0 0 0 0 0 0 0 0 2", "settle": False},
        "have not passed each other",
    ),
    ("cube", {"position": HERE, "cube": "mine"}, "'mine' is not one of ['centered', 'owned', 'opponent']"),
    ("race", {}, "'position' is a required property"),
    ("verify", {"file": "none.bd"}, "none.bd: No such file or directory"),
    ("play", {"position": HERE, "roll": "21", "nonsense": 1}, "'nonsense' was unexpected"),
    ("dance", {}, "no tool 'dance'"),
    ("race", {"position": "-"}, "'-': expected two sides"),
    ("cube", {"position": TS}, "no position in"),
    ("look_up", {"position": "-"}, "'-': expected two sides"),
    ("play", {"position": "https://example.org/", "roll": "21"}, "no position in"),
    ("race", {"position": "1 \0"}, "position has an invalid character"),
    ("judge", {"position": HERE, "roll": "21", "played": "5\0/2"}, "played has an invalid character"),
]


@pytest.fixture(scope="module")
def answers() -> tuple[Any, list[Any], list[Any]]:
    """The tools, the answers and the refusals of one session; the SDK takes seconds to import."""
    import anyio
    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def session() -> tuple[Any, list[Any], list[Any]]:
        server = StdioServerParameters(command=sys.executable, args=["-m", "bgfmt", "mcp", TS, OS])
        async with stdio_client(server) as streams, ClientSession(*streams) as client:
            assert (await client.initialize()).server_info.name == "bgfmt"
            tools = (await client.list_tools()).tools
            said = [await client.call_tool(name, arguments) for name, arguments, _ in ASKED]
            return tools, said, [await client.call_tool(name, arguments) for name, arguments, _ in REFUSED]

    return anyio.run(session)


@pytest.mark.slow
def test_tools_have_schemas(answers: Any) -> None:
    import jsonschema

    tools = {tool.name: tool for tool in answers[0]}
    assert list(tools) == ["look_up", "race", "cube", "grid", "play", "judge", "verify", "convert_plan"]
    assert tools["cube"].input_schema["properties"]["cube"]["enum"] == ["centered", "owned", "opponent"]
    assert tools["grid"].input_schema["required"] == ["position", "scores"]
    assert {"CubeAnswer", "MatchCubeAnswer", "CubeAction", "Met"} <= tools["cube"].output_schema[
        "$defs"
    ].keys()
    assert "PlayAnswer" not in tools["cube"].output_schema["$defs"]
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)
        assert tool.output_schema["type"] == "object"
    assert all(tool.description and tool.annotations.read_only_hint for tool in tools.values())


@pytest.mark.parametrize("number", range(len(ASKED)), ids=[name for name, _, _ in ASKED])
def test_an_answer_is_that_of_the_command(answers: Any, number: int) -> None:
    """The client has held it against the schema of the tool's answer."""
    answer = answers[1][number]
    assert not answer.is_error, answer.content[0].text
    assert json.loads(answer.content[0].text) == answer.structured_content
    first = answer.structured_content.get("answers", [answer.structured_content])[0]
    assert ASKED[number][2].items() <= first.items()
    if number == len(ASKED) - 1:
        assert first["lost"]
        assert not Path("planned").exists()


def test_ignored_options_are_named(answers: Any) -> None:
    """The command says it on standard error."""
    asked = next(k for k, (_, arguments, _) in enumerate(ASKED) if arguments.get("measure") == "mean")
    told = [content.text for content in answers[1][asked].content[1:]]
    assert told[0] == "bgfmt: ignored: --away; plays are ranked by mean"


@pytest.mark.parametrize("number", range(len(REFUSED)), ids=[reason[:20] for _, _, reason in REFUSED])
def test_a_refusal_is_one_line(answers: Any, number: int) -> None:
    answer = answers[2][number]
    assert answer.is_error
    assert REFUSED[number][2] in answer.content[0].text
    assert "\n" not in answer.content[0].text


#: lines that are no sound request, the code of a JSON-RPC error or None for a tool's error, and what is said
ODD_LINES = [
    (
        r'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"cube","arguments":{"position":"\ud800"}}}',
        None,
    ),
    (
        r'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"cube","arguments":{"position":"\u0000"}}}',
        None,
    ),
    (r'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud800"}}', None),
    (
        r'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"cube","arguments":{"\udc00":"\u0000"}}}',
        None,
    ),
    ('{"id":7}', -32600),
    ("[" * 100_000, -32700),
    ("{", -32700),
]


@pytest.mark.slow
def test_every_line_is_answered() -> None:
    """Lone surrogates and what is no message were dropped without an answer, NUL was a traceback."""
    hello = {
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
    }  # fmt: skip
    begin = json.dumps(hello) + '\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
    with subprocess.Popen(
        [sys.executable, "-m", "bgfmt", "mcp"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(begin)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        for line, code in ODD_LINES:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            if code is None:
                assert answer["id"] == 7
                assert answer["result"]["isError"], answer
            else:
                assert answer["error"]["code"] == code
        process.stdin.close()
        assert "Traceback" not in process.stderr.read()


def test_a_database_that_is_none_ends_it_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bgfmt", "mcp", "none.bd"],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "bgfmt: none.bd: No such file or directory\n"
