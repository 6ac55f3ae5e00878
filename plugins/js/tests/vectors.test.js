// The test vectors of fixtures/vectors.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { plays } from "../ask.js";
import * as bgfmt from "../bgfmt.js";
import { moneyColumns } from "../calculate.js";
import { estimate } from "../estimate.js";
import { golden } from "./golden.js";

function readRows(name) {
  const text = readFileSync(new URL(`../../../fixtures/vectors/${name}`, import.meta.url), "utf8");
  const [, head, ...lines] = text.trimEnd().split("\n");
  const columns = head.split("\t");
  return lines.map((line) => Object.fromEntries(line.split("\t").map((value, i) => [columns[i], value])));
}

const counts = (text) => text.split(" ").map(Number);
const trimmed = (text) => counts(text).join(" ").replace(/( 0)+$/, "");

test("position numbers", () => {
  for (const row of readRows("position-numbers.tsv")) {
    const points = Number(row.points);
    assert.equal(Number(bgfmt.rank(counts(row.counts), points)), Number(row.number));
    assert.equal(trimmed(bgfmt.unrank(Number(row.number), points).join(" ")), trimmed(row.counts));
  }
});

test("identifiers", () => {
  for (const row of readRows("identifiers.tsv")) {
    const position = { us: counts(row.us), them: counts(row.them) };
    assert.equal(bgfmt.positionId(position), row.position_id);
    for (const text of [row.position_id, `${row.position_id}:${row.match_id}`, row.xgid]) {
      const { us, them } = bgfmt.parse(text);
      assert.equal(trimmed(us.join(" ")), trimmed(row.us), text);
      assert.equal(trimmed(them.join(" ")), trimmed(row.them), text);
    }
    assert.equal(bgfmt.parse(`${row.position_id}:${row.match_id}`).cube, row.state.match(/cube=(\w+)/)[1]);
  }
});

test("plays", () => {
  for (const row of readRows("plays.tsv")) {
    const found = plays(counts(row.counts), row.roll).map(({ result }) => trimmed(result.join(" ") || "0"));
    assert.deepEqual(found.sort(), row.plays_in_order.split(", ").map(trimmed).sort());
  }
});

test("estimates", () => {
  const equal = (found, expected, what) => assert.ok(Math.abs(found - expected) <= 1e-9, `${what}: ${found}, expected ${expected}`);
  const columns = moneyColumns(false);
  const [cubeless, centered, owned, opponent] = [0, 1, 2, 3];
  for (const row of readRows("estimates.tsv")) {
    const { after, boards, error, onRoll, plays: rolls, usual } = estimate({ us: counts(row.us), them: counts(row.them), columns });
    for (const [name, column] of Object.entries({ cubeless, centered, owned, opponent })) equal(onRoll[column], Number(row[name]), `${row.us}: ${name}`);
    assert.deepEqual([usual, error], [Number(row.usual_error), Number(row.max_error)], row.us);
    const [high, low] = Array.from(row.roll, Number);
    const places = rolls[(high * (high - 1)) / 2 + low - 1];
    const expected = row.centered_after.split(", ").map((play) => play.split(": "));
    assert.deepEqual(places.map((place) => trimmed(boards[place].join(" "))), expected.map(([board]) => trimmed(board)));
    expected.forEach(([board, value], k) => equal(after[columns.states.length * places[k] + centered], Number(value), board));
  }
});

test("tables", async () => {
  const one = await bgfmt.open(golden("os_p04.bd"));
  for (const row of readRows("one-sided.tsv")) {
    const { epc } = await one.lookup(row.counts);
    assert.ok(Math.abs(epc - Number(row.epc)) < 1e-5, row.counts);
  }
  const two = await bgfmt.open(golden("ts_04x04.bd"));
  for (const row of readRows("cube-money.tsv")) {
    const answer = await two.lookup(`${row.us} / ${row.them}`);
    for (const name of ["cubeless", "owned", "centered", "opponent"]) {
      assert.equal(Math.round((answer[name] + 1) * 32767.5) - 32768, Number(row[name]), `${row.us} / ${row.them}`);
    }
  }
});
