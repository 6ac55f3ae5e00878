"""`bgfmt serve` by a client that knows its page alone: every route, error, limit and header."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import shutil
import sys
import urllib.parse
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.requests import Request

import bgfmt
from bgfmt.analysis.questions import Question
from bgfmt.cli import run
from bgfmt.errors import TruncatedError
from bgfmt.extras.serve import bulk
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.refusals import Refusal, refusal_of
from bgfmt.tables import TwoSided
from tests.conftest import GOLDEN
from tests.support.serving import OS, TEXT, TS, Client, command, served

JSON, LINES = "application/json", "application/x-ndjson"
jsonschema = pytest.importorskip("jsonschema")


def held_to(document: Any, path: str, value: Any) -> None:
    """The answer against the service's own description."""
    schema = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


# -- answers ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("route", "words", "query"),
    [
        ("cube", [TEXT], {}),
        ("cube", ["XGID=--A--A----------------aa--:0:1:1:00:0:0:0:0:10"], {}),
        ("cube", ["2,3,3,3,2,2/1,2,4,2,3,3", "--no-settle"], {"settle": "false"}),
        ("cube", [TEXT, "--away", "3-5"], {"away": "3-5"}),
        (
            "cube",
            [TEXT, "--jacoby", "--no-beavers", "--cube", "owned"],
            {"jacoby": "true", "beavers": "false", "cube": "owned"},
        ),
        ("cube", [TEXT, "--away", "30-40", "--extend-met"], {"away": "30-40", "extend_met": "true"}),
        (
            "cube",
            [TEXT, "--away", "3-5", "--met", "g11", "--met-player", "1"],
            {"away": "3-5", "met": "g11", "met_player": "1"},
        ),
        ("cube", [TEXT, "--scores", "2"], {"scores": "2"}),
        ("cube", [TEXT, "--insight"], {"insight": "true"}),
        ("cube", [TEXT, "--insight", "--away", "3-5"], {"insight": "true", "away": "3-5"}),
        (
            "play",
            [TEXT, "61", "--away", "2-3", "--cube-value", "2", "--cube", "owned"],
            {"roll": "61", "away": "2-3", "cube_value": "2", "cube": "owned"},
        ),
        ("play", [TEXT, "61"], {"roll": "61"}),
        ("play", [TEXT, "6-1", "--cube", "owned"], {"roll": "6-1", "cube": "owned"}),
        ("play", [TEXT, "all", "--measure", "cubeless"], {"roll": "all", "measure": "cubeless"}),
        ("play", ["0 2 2 2 0 4", "31", "--measure", "off:5"], {"roll": "31", "measure": "off:5"}),
        ("race", ["0 2 2 2 0 4"], {}),
        ("race", [TEXT], {}),
        ("race", ["0,0,0,0,0,0,3/0,0,0,0,0,0,3"], {}),
        ("race", ["2 1 0 1 1 1 1"], {}),
        ("race", ["1 2 / 0 0 0 0 0 0 0 0 0 0 0 1"], {}),
    ],
)
def test_answers_are_those_of_the_commands(
    client: Client,
    document: Any,
    capsys: pytest.CaptureFixture[str],
    route: str,
    words: list[str],
    query: dict[str, str],
) -> None:
    expected = command(capsys, route, str(TS), str(OS), *words)
    found = client.json(f"/v1/{route}", position=words[0], **query)
    assert {k: found[k] for k in expected} == expected
    assert {"asked", "table", "max_error"} <= found.keys()
    held_to(document, f"/v1/{route}", found)
    path = urllib.parse.quote(words[0], safe="/")
    assert (
        client.json(f"/v1/{route}/{path}", **query) == found
        if query
        else client.json(f"/v1/{route}/{path}") == found
    )


def test_a_race_that_no_table_covers_says_why(client: Client) -> None:
    far = "0,0,0,0,0,0,3"
    client.error(f"/v1/race?position={far}&settle=false", 404, "not_covered", "position")
    found = client.json("/v1/race", position=far, table=OS.name)
    assert found["notes"] == [
        f"{OS.name} is skipped: {far.replace(',', ' ')} has a chequer on point 7, "
        "the table covers points 1 to 6"
    ]
    rolled = "XGID=-BCBB----------------abbc-:0:0:1:61:0:0:0:0:10"
    assert client.json("/v1/race", position=rolled)["notes"] == [
        "ignored: dice of the identifier; a race depends on the chequers alone"
    ]
    for settle, answered in ((True, True), (False, False)):
        _, _, data = client.post("/v1/race", {"positions": [far], "settle": settle})
        assert ("error" not in json.loads(data)["results"][0]) == answered


def test_lookups(client: Client, document: Any, capsys: pytest.CaptureFixture[str]) -> None:
    found = client.json("/v1/lookup", position=TEXT)
    (expected,) = command(capsys, "lookup", str(TS), TEXT)
    assert found["answers"] == [{k: expected[k] for k in found["answers"][0]}]
    assert (found["table"], found["asked"]) == (TS.name, TEXT)
    held_to(document, "/v1/lookup", found)
    both = client.json("/v1/lookup", position=TEXT, table=OS.name)
    assert [one["player"] for one in both["answers"]] == ["on roll", "other side"]
    assert (
        client.json("/v1/lookup", position="#3374", table=TS.name)["answers"][0]["position"]
        == "0 1 0 0 1 0 / 0 1 1 0 0 0"
    )
    assert client.json("/v1/lookup", position="7 7")["table"] == OS.name


def test_one_side_where_all_tables_need_both() -> None:
    with Holdings.open([str(TS)]) as holdings, pytest.raises(Refusal, match="does not have one side alone"):
        Answers(holdings, settle=0).answer("lookup", Question(position="0 0 0 1 1"))


def test_warming_goes_on_without_a_table_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ConnectionResetError

    with Holdings.open([str(TS)]) as holdings:
        answers = Answers(holdings, settle=0)
        monkeypatch.setattr(answers, "answer", fail)
        answers.warm()


def test_the_fingerprint_does_not_depend_on_how_the_path_is_written() -> None:
    with Holdings.open([str(TS), f"x={TS.parent}/../{TS.parent.name}/{TS.name}"]) as holdings:
        assert holdings[0].fingerprint == holdings[1].fingerprint


def test_ignored_options_are_named(client: Client, document: Any) -> None:
    """It was passed over in silence."""
    aside = f"{OS.name} is skipped: a one-sided table does not have both sides' "
    for route, query, notes in (
        ("cube", {"met": "g11", "met_player": 1}, ["ignored: met, met_player; this is not a match"]),
        ("cube", {"table": OS.name}, [f"{aside}cubeful equities"]),
        ("cube", {"scores": 2, "insight": "true", "table": TS.name}, [
            "no insight: it needs a decision at one score that is not estimated",
            f"{TS.name} is skipped: the cube at all scores is calculated",
        ]),
        ("play", {"roll": 61, "table": OS.name, "measure": "cubeless"}, [f"{aside}equities"]),
        ("play", {"roll": 21, "measure": "cubeless", "cube": "owned"},
         ["ignored: cube; plays are ranked by cubeless"]),
        ("probe", {"extend_met": "true"}, ["ignored: extend_met; this is not a match"]),
        ("cube", {"met": "g11", "away": "2-2"}, []),
        ("cube", {"met": "g11", "scores": 2}, None),
        ("cube", {"table": TS.name}, None),
    ):  # fmt: skip
        found = client.json(f"/v1/{route}", position=TEXT, **query)
        assert found.get("notes") == notes, (route, query)
        held_to(document, f"/v1/{route}", found)
    side = client.json("/v1/play", position="0 1 1", roll=21, away="3-5")
    assert side["notes"] == ["ignored: away; the position is one side"]
    _, _, data = client.post("/v1/cube", json.dumps({"positions": [TEXT], "met": "g11"}).encode(), JSON)
    assert json.loads(data)["results"][0]["notes"] == ["ignored: met; this is not a match"]
    rolled = {"position": "XGID=-BCBB----------------abbc-:0:0:1:61:0:0:0:0:10"}
    assert client.json("/v1/cube", **rolled)["notes"][0].startswith("the identifier's dice are ignored")
    assert "notes" not in client.json("/v1/probe", **rolled)


@pytest.mark.parametrize("them", ["0 0 0 0 0 0 0 0 1", "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1"])
def test_hypergammon_is_looked_up_in_contact_too(them: str) -> None:
    with Holdings.open([str(TS), str(GOLDEN / "gnubg/hyper1.bd")]) as holdings:
        text = f"0 0 0 0 0 0 0 0 0 1 / {them}"
        answer, _ = Answers(holdings, settle=0).answer("lookup", Question(position=text))
        assert answer["table"] == "hyper1.bd"
        assert answer["answers"][0] == holdings[1].table.lookup(bgfmt.parse_position(text)).as_dict()


def test_probe(client: Client, document: Any) -> None:
    found = client.json("/v1/probe", position=TEXT, roll="61", top=1)
    held_to(document, "/v1/probe", found)
    for name, query in (("cube", {}), ("race", {}), ("play", {"roll": "61", "top": 1})):
        alone = client.json(f"/v1/{name}", position=TEXT, **query)
        del alone["asked"]
        assert found[name] == alone, name
    assert found["question"] == {
        "position": TEXT,
        "roll": "61",
        "cube": "centered",
        "measure": "money",
        "table": None,
    }
    assert found["position"]["us"] == [0, 1, 0, 0, 1, 0]
    assert (found["position"]["pips"], found["position"]["contact"]) == ([7, 5], False)
    assert found["play"]["count"] == 2
    one = client.json("/v1/probe", position="0 2 2 2 0 4")
    assert (one["cube"], one["play"]) == (None, None)
    assert "cube" in one["not_covered"]
    assert one["position"]["them"] is None
    every = client.json("/v1/probe", position=TEXT, roll="all")
    assert len(every["play"]["rolls"]) == 21


@pytest.mark.parametrize(
    ("text", "query", "rest"),
    [
        (TEXT, {}, "0:0:1:00:0:0:2:0:10"),
        (TEXT, {"roll": "16", "jacoby": "true", "beavers": "false"}, "0:0:1:61:0:0:1:0:10"),
        (TEXT, {"cube": "opponent", "cube_value": "4", "roll": "all"}, "2:-1:1:00:0:0:2:0:10"),
        (TEXT, {"away": "1-3", "crawford": "true", "roll": "61"}, "0:0:1:61:2:0:1:3:10"),
        ("XGID=--A--A----------------aa--:1:1:1:61:3:4:0:7:10", {}, "1:1:1:61:0:1:0:4:10"),
        ("0 2 2 2 0 4", {}, "0:0:1:00:0:0:2:0:10"),
    ],
)
def test_a_probe_has_the_identifier_of_the_whole_state(
    client: Client, text: str, query: dict[str, str], rest: str
) -> None:
    first = client.json("/v1/probe", position=text, **query)
    xgid = first["position"]["xgid"]
    assert xgid.partition(":")[2] == rest
    again = client.json("/v1/probe", position=xgid)
    assert again["position"] == first["position"]
    assert again["cube"] == first["cube"]


def test_identifiers_bring_what_they_say(client: Client) -> None:
    found = client.json("/v1/probe", position="XGID=--A--A----------------aa--:0:1:1:61:0:0:0:0:10")
    assert (found["question"]["roll"], found["question"]["cube"]) == ("61", "owned")
    assert found["play"]["cube"] == "owned"
    text = "AwAAAQAAAAAAAA"
    plain = client.json("/v1/cube", position="dwMAAN4FAAAAAA", settle="false")
    assert plain["position"] == "4 3 1 0 0 0 / 3 3 2 0 0 0"
    known = bgfmt.identifiers.position_id(bgfmt.parse_position("1,1,1,1,1,1/2,2,2,2,2,2"))
    for text in (known.replace("/", "_"), known.replace("+", "-"), urllib.parse.quote(known)):
        assert client.get(f"/v1/probe?position={text}&settle=false")[0] == 200
    assert client.get(f"/v1/probe?position={known}&settle=false")[0] == 200  # an unescaped + becomes a blank


def test_tables(client: Client, document: Any) -> None:
    found = client.json("/v1/tables")
    held_to(document, "/v1/tables", found)
    names = [one["name"] for one in found["tables"]]
    assert names == [TS.name, OS.name, "again.bd", f"{TS.stem}.bd-2"]
    assert found["features"] == ["settle", "match"]
    first = found["tables"][0]
    assert (first["kind"], first["points"], first["chequers"], first["size"]) == (
        "two-sided",
        6,
        4,
        TS.stat().st_size,
    )
    assert re.fullmatch("[0-9a-f]{32}", first["fingerprint"])
    assert client.get(first["url"])[2] == TS.read_bytes()


@pytest.mark.slow
def test_the_description_is_valid(document: Any) -> None:
    validator = pytest.importorskip("openapi_spec_validator")
    validator.validate(document)
    assert document["openapi"].startswith("3.1")
    assert document["x-limits"]["max_rows"] == 10000


def test_the_examples_of_the_description_are_answered(client: Client, document: Any) -> None:
    """Every route with what its parameters have as examples; the answer is of the shape that stands beside it."""
    assert client.json("/v1/openapi.json") == document
    asked = 0
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            said = operation.get("parameters", [])
            given = {one["name"]: one["example"] for one in said if "example" in one}
            if {one["name"] for one in said if one.get("required")} - set(given):
                continue  # the name of a table, or of a file of the page
            content = operation["responses"]["200"]["content"]
            if method == "post":
                (example,) = operation["requestBody"]["content"]["application/json"]["schema"]["examples"]
                status, headers, data = client.post(path, example)
                assert all("error" not in one for one in json.loads(data)["results"])
            else:
                query = {n: value for n, value in given.items() if "{" + n + "}" not in path}
                named = re.sub(r"\{(\w+)\}", lambda name, of=given: urllib.parse.quote(of[name[1]]), path)
                status, headers, data = client.get(
                    f"{named}?{urllib.parse.urlencode(query)}" if query else named
                )
            assert status == 200, (method, path, data[:200])
            kind = headers["content-type"].partition(";")[0]
            if kind == "application/json":
                schema = {**content[kind]["schema"], "components": document["components"]}
                jsonschema.Draft202012Validator(schema).validate(json.loads(data))
            asked += 1
    assert asked > 20


# -- errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "status", "code", "parameter"),
    [
        ("/v1/lookup", 400, "bad_parameter", "position"),
        ("/v1/lookup?position=", 400, "bad_parameter", "position"),
        ("/v1/lookup?position=1/1&position=1/1", 400, "bad_parameter", "position"),
        ("/v1/lookup/1/1?position=1/1", 400, "bad_parameter", "position"),
        ("/v1/lookup?position=1/1&tabel=x", 400, "bad_parameter", "tabel"),
        ("/v1/cube?position=1/1&roll=61", 400, "bad_parameter", "roll"),
        ("/v1/cube?position=1/1&settle=maybe", 400, "bad_parameter", "settle"),
        ("/v1/cube?position=1/1&away=0-3", 400, "bad_parameter", "away"),
        ("/v1/cube?position=1/1&cube_value=3", 400, "bad_parameter", "cube_value"),
        ("/v1/cube?position=1/1&away=1-3&met=nope", 400, "bad_parameter", "met"),
        ("/v1/play?position=1/1", 400, "bad_parameter", "roll"),
        ("/v1/play?position=1/1&roll=77", 400, "bad_parameter", "roll"),
        ("/v1/play?position=1/1&roll=61&top=0", 400, "bad_parameter", "top"),
        ("/v1/play?position=1/1&roll=61&measure=best", 400, "bad_parameter", "measure"),
        ("/v1/play?position=1/1&roll=61&cube=ours", 400, "bad_parameter", "cube"),
        ("/v1/lookup?position=1/1&table=" + "1" * 401, 400, "bad_parameter", "table"),
        ("/v1/lookup?position=" + "1" * 20_001, 400, "bad_parameter", "position"),
        ("/v1/lookup?position=nonsense", 400, "bad_position", "position"),
        ("/v1/lookup?position=16/1", 400, "bad_position", "position"),
        ("/v1/lookup?position=%23100", 400, "bad_position", "position"),
        ("/v1/lookup?position=1&table=ts_06x04.bd", 400, "bad_position", "position"),
        ("/v1/cube?position=1", 400, "bad_position", "position"),
        ("/v1/cube?position=0/1", 400, "bad_position", "position"),
        ("/v1/cube?position=0,1/" + "0," * 22 + "1", 400, "bad_position", "position"),
        ("/v1/lookup?position=" + "0," * 22 + "1/0,0,0,0,1", 404, "not_covered", "position"),
        ("/v1/race?position=" + "0," * 24 + "1", 404, "not_covered", "position"),
        ("/v1/probe?position=" + "0," * 24 + "1", 404, "not_covered", "position"),
        ("/v1/cube?position=" + "0," * 22 + "1/0,0,0,0,1", 404, "not_covered", "position"),
        ("/v1/lookup?position=%2399999999&table=ts_06x04.bd", 404, "not_covered", "position"),
        ("/v1/lookup?position=1/1&table=nope", 404, "no_such_table", "table"),
        ("/tables/nope", 404, "no_such_table", None),
        ("/tables/..", 404, "no_such_table", None),
        ("/tables/..%2f..%2fetc%2fpasswd", 404, "no_such_table", None),
        ("/nowhere", 404, "no_such_route", None),
        ("/v1", 404, "no_such_route", None),
        ("/assets/0/app.js", 404, "no_such_route", None),
    ],
)
def test_errors(client: Client, path: str, status: int, code: str, parameter: str | None) -> None:
    client.error(path, status, code, parameter)


@pytest.mark.slow
def test_a_race_beyond_every_table_is_estimated(client: Client, document: Any) -> None:
    for text in (
        "0,0,0,0,0,0,0,15/0,0,0,0,0,0,0,15",
        "2,3,3,3,2,2/1,2,4,2,3,3",
        "0,0,0,0,3,5,0,7/0,0,0,0,0,0,2,9,0,0,0,3",
    ):
        for route, more in (
            ("cube", {}),
            ("play", {"roll": "61"}),
            ("cube", {"away": "3-5"}),
            ("cube", {"scores": 2}),
        ):
            found = client.json(f"/v1/{route}", position=text, **more)
            held_to(document, f"/v1/{route}", found)
            assert (found["source"], found["approximate"]) == ("estimate", True)
            usual, most = (
                (max(e.values()) if isinstance(e, dict) else e)
                for e in (found["usual_error"], found.get("max_error") or found["error"])
            )
            assert 0 < usual < most
            if route == "cube" and not more:
                assert re.search(
                    r"^estimate, ±0\.0\d+ \(95 %\)(: too close to call, within 0\.\d+ \(99\.9 %\))?$",
                    found["certainty"],
                )
        both = client.json("/v1/probe", position=text, roll="61")
        held_to(document, "/v1/probe", both)
        assert both["cube"]["source"] == both["play"]["source"] == "estimate"


def test_other_methods(client: Client) -> None:
    for path, allowed in (
        ("/v1/cube", "GET, HEAD, POST"),
        ("/v1/probe", "GET, HEAD"),
        ("/", "GET, HEAD"),
        ("/tables/" + TS.name, "GET, HEAD"),
    ):
        for method in ("PUT", "DELETE", "OPTIONS"):
            assert client.error(path, 405, "method_not_allowed", method=method)["allow"] == allowed
    client.error("/v1/probe", 405, "method_not_allowed", method="POST")


def test_head_is_get_without_a_body(client: Client) -> None:
    for path in (
        f"/v1/lookup?position={TEXT}",
        "/v1/tables",
        f"/tables/{TS.name}",
        "/",
        "/healthz",
        "/openapi.json",
        "/nowhere",
    ):
        status, headers, _ = client.get(path)
        again, same, body = client.ask("HEAD", path)
        assert (again, body) == (status, b"")
        for name in ("content-length", "content-type", "etag", "cache-control"):
            assert same.get(name) == headers.get(name), (path, name)


# -- many at once ----------------------------------------------------------------------------------------


def test_bulk_json(client: Client) -> None:
    items = [
        TEXT,
        {"position": "7 7", "table": OS.name},
        "nonsense",
        {"position": "1/1", "x": 1},
        {"table": OS.name},
        5,
        "0,0,0,0,0,0,1",
    ]
    status, headers, data = client.post("/v1/lookup", {"positions": items})
    found = json.loads(data)["results"]
    assert (status, headers["cache-control"], len(found)) == (200, "no-store", 7)
    assert found[0] == client.json("/v1/lookup", position=TEXT)
    assert found[1] == client.json("/v1/lookup", position="7 7", table=OS.name)
    codes = [one.get("error", {}).get("code") for one in found]
    assert codes == [None, None, "bad_position", "bad_parameter", "bad_parameter", "bad_body", "not_covered"]
    assert [one["error"]["row"] for one in found[2:]] == [2, 3, 4, 5, 6]
    assert found[2]["asked"] == "nonsense"
    asked = [
        ("race", {}),
        ("cube", {"settle": "false"}),
        ("cube", {"away": "3-5", "settle": "false"}),
        ("play", {"roll": "61", "top": 2}),
    ]
    for route, query in asked:
        _, _, data = client.post(f"/v1/{route}", {"positions": [TEXT], **query})
        assert json.loads(data)["results"] == [client.json(f"/v1/{route}", position=TEXT, **query)]


def test_an_error_is_a_failure_and_nothing_else(client: Client) -> None:
    items = [TEXT, "1,1/2", "0,0,0,0,0,0,1/1", "x"]
    for query in ({}, {"away": "3-5"}, {"away": "3-5", "settle": True}, {"settle": True}):
        for route in ("cube", "play", "race"):
            more = {} if route == "race" else query | ({"roll": "61"} if route == "play" else {})
            _, _, data = client.post(f"/v1/{route}", {"positions": items, **more})
            for one in json.loads(data)["results"]:
                assert not isinstance(one.get("error", {}), (int, float)), (route, query, one)
                assert ("error" in one) != ("source" in one or "on_roll" in one), (route, query, one)
    answer = client.json("/v1/cube", position=TEXT, away="3-5", settle="true")
    assert answer["max_error"]["mwc"] < 1e-6


def test_a_cube_question_reads_its_table_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads, read = [], TwoSided.lookup_many
    monkeypatch.setattr(TwoSided, "lookup_many", lambda *asked: reads.append(1) or read(*asked))
    items = ["0 1 0 1 / 1 2", "1 1 / 0 0 2", "0 1 0 1 / 1 2"]
    with Holdings.open([str(TS)]) as holdings:
        first, second, third = bulk.answer_all(Answers(holdings, settle=0), "cube", items, Question())
    assert len(reads) == 3
    assert first == third != second


def test_bulk_lines(client: Client) -> None:
    body = f'"{TEXT}"\n\n  \n{{"position": "1/1"}}\n"x"'.encode()
    status, headers, data = client.post("/v1/cube?settle=false", body, "application/x-ndjson")
    assert (status, headers["content-type"]) == (200, "application/x-ndjson")
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines[0] == client.json("/v1/cube", position=TEXT, settle="false")
    assert lines[2]["error"]["code"] == "bad_position"


def test_bulk_bytes(client: Client) -> None:
    with bgfmt.open(TS) as db:
        n = db.table.positions
        us, them = np.random.default_rng(3).integers(0, n, (2, 5000))
        expected = db.lookup_many(us, them).astype("<f4")
        counts = np.concatenate([bgfmt.game.board.unrank_array(x, 6) for x in (us, them)], axis=1).astype(
            np.uint8
        )
    for body, query in (
        (np.column_stack([us, them]).astype("<u4").tobytes(), "&rows=numbers"),
        (counts.tobytes(), ""),
    ):
        status, headers, data = client.post(
            f"/v1/lookup?table={TS.name}{query}", body, "application/octet-stream"
        )
        assert status == 200
        assert data == expected.tobytes()
        assert (headers["bgfmt-rows"], headers["bgfmt-not-covered"]) == ("5000", "0")
        assert headers["bgfmt-columns"] == "cubeless,owned,centered,opponent"
    odd = bytes([5, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]) + counts[:1].tobytes()
    _, headers, data = client.post(f"/v1/lookup?table={TS.name}", odd, "application/octet-stream")
    rows = np.frombuffer(data, "<f4").reshape(2, 4)
    assert np.isnan(rows[0]).all()
    assert not np.isnan(rows[1]).any()
    assert headers["bgfmt-not-covered"] == "1"
    _, headers, data = client.post(
        f"/v1/lookup?table={OS.name}&column=gammon", bytes([0, 0, 0, 0, 0, 15]), "application/octet-stream"
    )
    assert headers["bgfmt-columns"] == ",".join(map(str, range(32)))
    assert np.frombuffer(data, "<f4").sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("path", "body", "kind", "status", "code"),
    [
        ("/v1/cube", b"{", "application/json", 400, "bad_body"),
        ("/v1/cube", b"[]", "application/json", 400, "bad_body"),
        ("/v1/cube", b'{"positions": "1/1"}', "application/json", 400, "bad_body"),
        ("/v1/cube", b'{"positions": [NaN]}', "application/json", 400, "bad_body"),
        ("/v1/cube", b'{"positions": ["\xff"]}', "application/json", 400, "bad_body"),
        ("/v1/cube", b'{"positions": [' + b"[" * 30 + b"]" * 30 + b"]}", "application/json", 400, "bad_body"),
        ("/v1/cube", b"[" * 100_000, "application/json", 400, "bad_body"),
        ("/v1/cube", b'{"positions": [], "x": 1}', "application/json", 400, "bad_parameter"),
        (
            "/v1/cube",
            b'{"positions": [], "settle": true, "settle": true}',
            "application/json",
            400,
            "bad_parameter",
        ),
        ("/v1/cube", b'{"positions": [], "table": "nope"}', "application/json", 404, "no_such_table"),
        ("/v1/cube", b"", "text/plain", 415, "unsupported_type"),
        ("/v1/cube", b"", "application/octet-stream", 415, "unsupported_type"),
        ("/v1/lookup", b"", "application/octet-stream", 400, "bad_parameter"),
        ("/v1/lookup?table=ts_06x04.bd", b"12345", "application/octet-stream", 400, "bad_body"),
        ("/v1/lookup?table=ts_06x04.bd&rows=all", b"", "application/octet-stream", 400, "bad_parameter"),
        ("/v1/lookup?table=ts_06x04.bd&column=gammon", b"", "application/octet-stream", 400, "bad_parameter"),
        ("/v1/cube", b'"1/1"\n{', "application/x-ndjson", 400, "bad_body"),
    ],
)
def test_bodies_that_are_none(
    client: Client, path: str, body: bytes, kind: str, status: int, code: str
) -> None:
    got, headers, data = client.post(path, body, kind)
    assert (got, json.loads(data)["error"]["code"]) == (status, code), data
    assert headers["cache-control"] == "no-store"


def test_half_a_surrogate_pair_is_no_error_of_ours(client: Client) -> None:
    half = b'"\\ud800"'
    for route in ("lookup", "race", "cube", "play"):
        for item in (half, b'{"position": ' + half + b"}", b'{"position": "1/1", "roll": ' + half + b"}"):
            for kind, body in ((JSON, b'{"positions": [' + item + b"]}"), (LINES, item)):
                got, _, data = client.post(f"/v1/{route}", body, kind)
                answer = json.loads(data)
                assert (got, "error" in (answer["results"][0] if kind == JSON else answer)) == (200, True), (
                    data
                )
        for body in (b'{"positions": [], "table": ' + half + b"}", b'{"positions": [], ' + half + b": 1}"):
            assert client.post(f"/v1/{route}", body)[0] in (400, 404)
    assert client.post("/v1/cube", b'{"positions": [], ' + half + b": 1, " + half + b": 2}")[0] == 400
    assert client.get("/v1/cube?position=%ed%a0%80")[0] == 400


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are bytes on Linux alone")
def test_a_table_whose_name_is_not_utf8(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/t\xff\xe9.bd")
    shutil.copyfile(TS, path)
    with served(path) as address:
        client = Client(address)
        (table,) = client.json("/v1/tables")["tables"]
        assert table["name"] == "t\ufffd\ufffd.bd"
        assert client.get(table["url"])[2] == TS.read_bytes()
        assert client.json("/v1/lookup", position=TEXT)["table"] == table["name"]
        assert client.json("/v1/lookup", position=TEXT, table=table["name"])["table"] == table["name"]
        assert client.get("/metrics")[0] == client.get("/openapi.json")[0] == 200
        assert client.get("/tables/t%FF%E9.bd")[0] == 200
    out = tmp_path / "site"
    assert run(["site", str(out), path, "--title", os.fsdecode(b"a\xff")]) == 0
    assert json.loads((out / "site.json").read_bytes())["tables"][0]["name"] == table["name"]
    assert b"<title>a\xef\xbf\xbd" in (out / "index.html").read_bytes()


def test_limits_are_named(client: Client) -> None:
    got, _, data = client.post("/v1/cube", {"positions": ["1/1"] * 10_001})
    assert got == 413
    assert "10,000" in json.loads(data)["error"]["message"]
    got, _, data = client.post("/v1/cube", b" " * ((4 << 20) + 1))
    assert (got, json.loads(data)["error"]["code"]) == (413, "too_large")
    assert "4,194,304" in json.loads(data)["error"]["message"]
    bomb = gzip.compress(b" " * (32 << 20))
    got, _, data = client.post("/v1/cube", bomb, Content_Encoding="gzip")
    assert got == 413
    got, _, data = client.post("/v1/cube", gzip.compress(b'{"positions": ["1/1"]}'), Content_Encoding="gzip")
    assert got == 200


@pytest.mark.slow
def test_wildbg(client: Client, document: Any) -> None:
    found = client.json("/eval", p2=1, p5=1, p23=-1, p22=-1)
    held_to(document, "/eval", found)
    assert found["cube"] == {"double": True, "accept": True}
    assert found["probabilities"]["win"] == pytest.approx(0.6711223, abs=1e-6)
    cube = client.json("/v1/cube", position="0 1 0 0 1 / 0 1 1", beavers="false")
    assert found["equity"] == {
        "cubeless": cube["cubeless"],
        "centered": cube["centered"],
        "best": cube["centered_cube"]["best"],
    }
    assert client.json("/eval", p2=1, p5=1, p23=-1, p22=-1, x_away=1, o_away=1)["equity"] == pytest.approx(
        dict.fromkeys(("cubeless", "centered", "best"), cube["cubeless"]), abs=1e-4
    )
    moves = client.json("/move", die1=6, die2=1, p2=1, p5=1, p23=-1, p22=-1)
    held_to(document, "/move", moves)
    assert moves["moves"][0]["play"][0] == {"from": 5, "to": 0}
    far = {"p6": 5, "p8": 3, "p9": 2, "p10": 5, "p15": -5, "p17": -3, "p20": -7}  # estimated
    found = client.json("/eval", **far)
    held_to(document, "/eval", found)
    assert found["cube"] == {"double": False, "accept": True}
    assert 0.33 < found["probabilities"]["win"] < 0.37
    assert 0 <= found["probabilities"]["winG"] <= found["probabilities"]["loseG"] < 1e-4
    moves = client.json("/move", die1=6, die2=1, **far)
    held_to(document, "/move", moves)
    wins = [one["probabilities"]["win"] for one in moves["moves"]]
    assert len(wins) > 5
    assert wins == sorted(wins, reverse=True)
    status, _, data = client.get("/eval?p1=99")
    said = json.loads(data)
    assert (status, said["error"]["code"]) == (400, "bad_parameter")
    assert said["message"] == said["error"]["message"]
    assert client.get("/eval?p1=1&p24=-1&x_away=3")[0] == 400
    assert client.get("/move?p1=1&p24=-1")[0] == 400


@pytest.mark.parametrize(("mine", "other"), [(1, 1), (1, 4), (2, 2), (3, 5), (7, 1), (15, 11)])
def test_wildbg_at_a_score(client: Client, document: Any, mine: int, other: int) -> None:
    points = {"p2": 1, "p5": 1, "p23": -1, "p22": -1, "x_away": mine, "o_away": other}
    text = "0 1 0 0 1 / 0 1 1"
    found = client.json("/eval", **points)
    held_to(document, "/eval", found)
    cube = client.json("/v1/cube", position=text, away=f"{mine}-{other}")
    assert found["cube"] == {"double": cube["doubles"], "accept": cube["takes"]}
    assert found["equity"]["centered"] == pytest.approx(cube["emg"]["no_double"], abs=1e-12)
    assert found["equity"]["best"] == pytest.approx(cube["emg"]["best"], abs=1e-12)
    assert found["probabilities"]["win"] == pytest.approx(0.6711223, abs=5e-5)
    moves = client.json("/move", die1=2, die2=1, **points)["moves"]
    plays = client.json("/v1/play", position=text, roll="21", away=f"{mine}-{other}")["plays"]
    assert len(moves) == len(plays)
    if (mine, other) == (1, 1):
        wins = [one["probabilities"]["win"] for one in moves]
        assert wins == pytest.approx([one["mwc"] for one in plays], abs=1e-12)
    assert all(0 < one["probabilities"]["win"] < 1 for one in moves)


def test_a_body_larger_than_what_is_let_go_is_read_where_it_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "MAX_DRAINED_BYTES", 5)
    body = b'"0 1 / 1"\n'
    headers = [(b"content-length", str(len(body)).encode())]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def read(most: int) -> bytes:
        return await bulk.body_of(Request({"type": "http", "headers": headers}, receive), most)

    assert asyncio.run(read(len(body))) == body
    with pytest.raises(Refusal, match="at most 9 bytes") as refused:
        asyncio.run(read(len(body) - 1))
    assert refused.value.headers == (("Connection", "close"),)


def test_a_table_cut_short_is_an_error_that_names_the_file_without_its_folder() -> None:
    refusal = refusal_of(TruncatedError("/srv/private/large.bd", 5000, 200))
    assert (refusal.status, refusal.code) == (500, "internal")
    assert refusal.message == "large.bd: cut short at byte 200: the file needs 5,000 bytes, found 200"
