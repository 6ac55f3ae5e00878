// The same bits as Python: `tests/extras/serve/test_js_reader.py` writes what bgfmt answers into the folder BGFMT_EXPECTED.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import * as ask from "../ask.js";
import { open, parse, positionId, unrank, xgid } from "../bgfmt.js";
import { openFile } from "../node.js";
import { ranged, serve } from "./server.js";

const FOLDER = process.env.BGFMT_EXPECTED;
const skip = FOLDER ? false : "BGFMT_EXPECTED names no folder of expectations";
const lines = (name) => readFileSync(`${FOLDER}/${name}`, "utf8").split("\n").filter(Boolean).map(JSON.parse);
const CLOSE = 1e-12;

/** Equal, numbers to within `CLOSE`. */
function near(found, expected, path) {
  if (typeof expected === "number" && typeof found === "number") {
    assert.ok(Math.abs(found - expected) <= CLOSE, `${path}: ${found}, expected ${expected}`);
  } else if (expected !== null && typeof expected === "object") {
    assert.ok(found !== null && typeof found === "object", `${path}: ${found}`);
    assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort(), path);
    for (const key of Object.keys(expected)) near(found[key], expected[key], `${path}.${key}`);
  } else assert.equal(found, expected, path);
}

test("every golden file, every way of reading it", { skip }, async (t) => {
  const files = lines("files.jsonl");
  assert.ok(files.length > 30);
  for (const { path, answers, layout } of files) {
    const bytes = readFileSync(path);
    const options = { layout, pageBytes: 4096 };
    const server = await serve(bytes);
    t.after(() => server.close());
    const tables = [await open(bytes, options), await openFile(path, options), await open(server.url, options)];
    for (const table of tables) {
      const found = await table.lookupMany(answers.map((a) => a.position_number));
      answers.forEach((expected, k) => assert.deepEqual(found[k], expected, `${path} ${k}`));
      table.close();
    }
  }
});

const compressed = () => lines("files.jsonl").filter(({ path }) => path.endsWith(".bgts"));

test("a record of a compressed table costs three short requests, also where the file is in parts", { skip }, async (t) => {
  const { path, answers } = compressed().find((one) => /06x04_22/.test(one.path));
  const bytes = readFileSync(path);
  const cuts = [0, 100000, 100001, 200000, bytes.length];
  const parts = [];
  for (const [k, cut] of cuts.slice(1).entries()) {
    const server = await serve(bytes.subarray(cuts[k], cut));
    t.after(() => server.close());
    parts.push({ url: server.url, size: cut - cuts[k] });
  }
  const server = await serve(bytes);
  t.after(() => server.close());
  const cut = await open({ parts });
  assert.deepEqual([cut.size, cut.points, cut.chequers, cut.compressed, cut.kind], [bytes.length, 6, 4, true, "two-sided"]);
  for (const expected of answers.slice(0, 12)) {
    const table = await open(server.url, { cachePages: 1, pageBytes: 4096 });
    await table.lookup(expected.position_number); // the head of a strip, once
    const before = table.stats();
    assert.deepEqual(await table.lookup(expected.position_number), expected);
    const { requests, bytes: read } = table.stats();
    assert.ok(requests - before.requests <= 3 && read - before.bytes <= 40000, `${requests - before.requests} requests`);
    assert.deepEqual(await cut.lookup(expected.position_number), expected);
  }
  const most = 40000; // of a file, the last half of it again in the next
  const asked = [];
  const over = [];
  for (let at = 0; at < bytes.length; at += most / 2) {
    const server = await serve(bytes.subarray(at, at + most), (request) => asked.push(request.headers.range) < 0);
    t.after(() => server.close());
    over.push({ url: server.url, at, size: Math.min(most, bytes.length - at) });
  }
  const overlapping = await open({ parts: over }, { cachePages: 1, pageBytes: 4096, gapPages: 0 });
  assert.equal(overlapping.size, bytes.length);
  for (const expected of answers) {
    await overlapping.lookup(expected.position_number);
    asked.length = 0;
    assert.deepEqual(await overlapping.lookup(expected.position_number), expected);
    assert.ok(asked.length <= 3, `${asked}`);
  }
  await assert.rejects(open({ parts: [parts[0], { ...parts[1], at: parts[0].size + 1 }] }), TypeError);
  await assert.rejects(open({ parts: [parts[0], { ...parts[1], size: 2 }] }), { code: "truncated" });
  await assert.rejects(open({ parts: [{ ...parts[0], size: parts[0].size + 1 }, ...parts.slice(1)] }), { code: "changed" });
  await assert.rejects(open({ parts }, { kind: "one-sided" }), /a two-sided table, where a one-sided one is wanted/);
  for (const wrong of [[], [{ url: "a" }], [{ size: 1 }]]) await assert.rejects(open({ parts: wrong }), TypeError);
});

test("a compressed table in parts needs a server with ranges", { skip }, async (t) => {
  const bytes = readFileSync(compressed()[0].path);
  const server = await serve(bytes, (request, response) => response.writeHead(200).end(bytes) !== null);
  t.after(() => server.close());
  await assert.rejects(open({ parts: [{ url: server.url, size: bytes.length }] }), { code: "no_ranges" });
  assert.equal((await open(server.url)).lookupSync(0).position_number, 0); // one file is read whole where it is small
  await assert.rejects(open(server.url, { wholeBytes: 1000 }), { code: "no_ranges" });
});

test("damage of a compressed table never goes into an answer", { skip }, async () => {
  const told = new Set();
  for (const { path, answers } of compressed()) {
    const good = readFileSync(path);
    for (let round = 0; round < 24; round++) {
      const bytes = new Uint8Array(good.subarray(0, round % 9 ? good.length : (round * 7919) % good.length));
      const at = round % 3 ? (round * 104729 + 977) % bytes.length : (round * 31) % 300;
      bytes[at] ^= 1 << (round % 8);
      try {
        const table = await open(bytes);
        for (const expected of answers) assert.deepEqual(table.lookupSync(expected.position_number), expected);
      } catch (error) {
        assert.ok(["corrupt", "format", "truncated"].includes(error.code), `${path} ${round}: ${error.stack}`);
        told.add(error.code);
      }
    }
  }
  assert.ok(told.has("corrupt") && told.has("truncated"));
});

test("random positions", { skip }, async () => {
  const [{ path, columns, count }] = lines("random.jsonl");
  const raw = readFileSync(`${FOLDER}/random.bin`);
  const values = new Float64Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.length));
  const width = columns.length + 1;
  assert.equal(values.length, count * width);
  const table = await open(readFileSync(path));
  for (let k = 0; k < count; k++) {
    const answer = table.lookupSync(values[k * width]);
    for (let c = 0; c < columns.length; c++) {
      if (!Object.is(answer[columns[c]], values[k * width + 1 + c])) assert.fail(`${columns[c]} of ${values[k * width]}`);
    }
  }
});

test("a table of 23.6 GB by range", { skip }, async (t) => {
  const [{ path, answers, probed }] = lines("large.jsonl");
  const local = await openFile(path);
  assert.equal(local.size, 23556653608);
  const found = await local.lookupMany(answers.map((a) => a.position_number));
  answers.forEach((expected, k) => assert.deepEqual(found[k], expected));
  const { openSync, readSync } = await import("node:fs");
  const file = openSync(path, "r");
  const at = (offset, length) => {
    const bytes = Buffer.alloc(length);
    readSync(file, bytes, 0, length, offset);
    return bytes;
  };
  const server = await serve(Buffer.alloc(0), (request, response) => {
    ranged(request, response, { body: Buffer.alloc(0), tag: '"large"', size: local.size, at });
    return true;
  });
  t.after(() => server.close());
  for (const { position, answer } of probed) {
    const table = await open(server.url, { name: "large.bd" });
    const before = table.stats();
    near(await ask.probe([table], position, { roll: "all" }), answer, position);
    const after = table.stats();
    assert.ok(after.requests - before.requests <= 2, `${after.requests - before.requests} stretches`);
    assert.ok(after.bytes - before.bytes < 600000, `${after.bytes - before.bytes} bytes`);
    table.close();
  }
  local.close();
});

test("identifiers", { skip }, () => {
  for (const { text, us, them, id, xgid: said, cube, roll, away } of lines("identifiers.jsonl")) {
    const found = parse(text);
    assert.deepEqual([found.us, found.them], [us, them], text);
    assert.equal(positionId(found), id);
    assert.equal(xgid(found), said);
    if (text.includes(":")) {
      assert.equal(found.cube, cube, text);
      assert.deepEqual(found.roll ?? null, roll, text);
      assert.deepEqual(found.score?.away ?? null, away, text);
    }
  }
});

test("what a player asks", { skip }, async () => {
  const opened = new Map();
  for (const { tables, question, answer, error, estimated = [] } of lines("asked.jsonl")) {
    const [name, ...more] = question;
    const list = [];
    for (const path of tables) {
      if (!opened.has(path)) opened.set(path, await open(readFileSync(path), { name: path.split("/").pop() }));
      list.push(opened.get(path));
    }
    const what = JSON.stringify(question);
    if (error) {
      await assert.rejects(ask[name](list, ...more), { code: error }, what);
      continue;
    }
    const found = await ask[name](list, ...more);
    const refusals = found.not_covered ?? {};
    for (const section of estimated) {
      assert.match(refusals[section], /such a race is estimated$/, what);
      delete refusals[section];
    }
    for (const section of Object.keys(refusals)) refusals[section] = refusals[section].replace(/; where calculation .* is estimated$/, "");
    near(found, answer, what);
  }
});

test("what is calculated, for money and at a score", { skip }, async () => {
  const opened = new Map();
  for (const { tables, question: [name, ...more], answer } of lines("calculated.jsonl")) {
    for (const path of tables) if (!opened.has(path)) opened.set(path, await open(readFileSync(path), { name: path.split("/").pop() }));
    const found = await ask[name](tables.map((path) => opened.get(path)), ...more);
    near(found, answer, JSON.stringify([name, ...more]).slice(0, 300));
  }
});

test("races that no table covers", { skip }, async () => {
  for (const { position, options, answer } of lines("races.jsonl")) {
    near(await ask.race([], position, options), answer, position);
    await assert.rejects(ask.race([], position), { code: "not_covered" }, position);
  }
});

test("how far numbers can be off", { skip }, () => {
  for (const { points, chequers, stored, mean, normal } of lines("bounds.jsonl")) {
    assert.deepEqual(ask.storedErrors(points, chequers), stored, `${points}x${chequers}`);
    assert.deepEqual([ask.meanError(points), ask.meanError(points, true)], [mean, normal], `${points}`);
  }
});

test("plays of a roll", { skip }, () => {
  for (const { counts, roll, plays } of lines("plays.jsonl")) {
    const found = ask.plays(counts, roll).map((p) => [p.notation, p.result.join(" ")]);
    assert.deepEqual(found, plays);
  }
});

test("the tests found what they need", { skip }, () => {
  assert.ok(readdirSync(FOLDER).length >= 6);
  assert.deepEqual(unrank(0, 6), [0, 0, 0, 0, 0, 0]);
});
