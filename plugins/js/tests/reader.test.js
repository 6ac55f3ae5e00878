import assert from "node:assert/strict";
import { test } from "node:test";

import * as bgfmt from "../bgfmt.js";
import { openFile } from "../node.js";
import { golden, path } from "./golden.js";

const TEXT = "0,1,0,0,1/0,1,1";
const of = (code) => (error) => error instanceof bgfmt.BgfmtError && error.code === code && !/\n/.test(error.message);

test("memory in every shape gives one answer", async () => {
  const bytes = golden("ts_06x04.bd");
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const shapes = [bytes, buffer, new Uint16Array(buffer), new DataView(buffer), new Blob([buffer])];
  shapes.push({ size: bytes.length, read: (at, length) => new Uint8Array(bytes.subarray(at, at + length)) });
  for (const shape of shapes) {
    const table = await bgfmt.open(shape, { pageBytes: 4096 });
    const answer = await table.lookup(TEXT);
    assert.equal(answer.centered, 0.16050970554351807);
    assert.equal(answer.position, "0 1 0 0 1 0 / 0 1 1 0 0 0");
    assert.deepEqual(await table.lookup({ us: [0, 1, 0, 0, 1], them: [0, 1, 1] }), answer);
    assert.deepEqual(await table.lookup(answer.position_number), answer);
    assert.deepEqual(await table.lookup(BigInt(answer.position_number)), answer);
    assert.equal(table.size, bytes.length);
    table.close();
  }
});

test("facts of a table", async () => {
  const table = await openFile(path("os_p06.bd"));
  const facts = Object.fromEntries(
    ["kind", "points", "chequers", "positions", "cubeful", "gammon", "compressed", "size"].map((k) => [k, table[k]]),
  );
  assert.deepEqual(facts, {
    kind: "one-sided", points: 6, chequers: 15, positions: 54264, cubeful: false, gammon: true, compressed: true, size: 1465788,
  });
  assert.ok(table.name.endsWith("os_p06.bd"));
  table.close();
});

test("covers, get and lookup outside a table", async () => {
  const table = await bgfmt.open(golden("ts_06x04.bd"));
  const one = await bgfmt.open(golden("os_p03.bd"));
  assert.equal(table.covers(TEXT), true);
  assert.equal(table.covers("5 / 1"), false);
  assert.equal(one.covers("0 0 0 1"), false);
  assert.equal(await table.get("5 / 1"), null);
  assert.deepEqual((await table.lookupMany(["5 / 1", TEXT])).map((a) => a?.position_number), [undefined, 3374]);
  await assert.rejects(table.lookup("5 / 1"), of("not_covered"));
  await assert.rejects(table.lookup(44100), of("not_covered"));
  await assert.rejects(table.lookup(-1), of("not_covered"));
  await assert.rejects(table.lookup(0.5), of("bad_position"));
  await assert.rejects(table.lookup("1"), of("bad_position"));
  await assert.rejects(one.lookup(TEXT), of("bad_position"));
  await assert.rejects(one.lookup([16]), of("bad_position"));
  await assert.rejects(one.lookup([1, -1]), of("bad_position"));
  await assert.rejects(one.lookup(null), of("bad_position"));
  await assert.rejects(one.lookup([...new Array(24).fill(0), 1]), of("not_covered"));
});

test("lookupSync answers from memory alone", async () => {
  const table = await bgfmt.open(golden("os_p03.bd"));
  assert.deepEqual(table.lookupSync("1 2 3"), await table.lookup([1, 2, 3]));
  assert.equal(table.stats().requests, 0);
  const file = await openFile(path("os_p03.bd"));
  assert.throws(() => file.lookupSync("1 2 3"), of("not_in_memory"));
  file.close();
  await assert.rejects(file.lookup("1 2 3"), of("closed"));
  assert.throws(() => file.covers("1 2 3"), of("closed"));
});

test("identifiers", () => {
  const counts = bgfmt.parse("4,3,1/3 3 2");
  assert.deepEqual(counts, { us: [4, 3, 1, 0, 0, 0], them: [3, 3, 2, 0, 0, 0] });
  assert.equal(bgfmt.positionId(counts), "dwMAAN4FAAAAAA");
  assert.equal(bgfmt.xgid(counts), "XGID=-DCA------------------bcc-:0:0:1:00:0:0:0:0:10");
  assert.deepEqual(bgfmt.parse("dwMAAN4FAAAAAA"), counts);
  const match = { ...counts, cube: "centered", cube_value: 1, roll: "52", score: { away: [4, 3], crawford: false } };
  assert.deepEqual(bgfmt.parse("dwMAAN4FAAAAAA:cInqAEAAGAAE"), match);
  assert.deepEqual(bgfmt.parse("XGID=-DCA------------------bcc-:0:0:1:52:3:4:0:7:10"), match);
  const swapped = bgfmt.parse("XGID=-DCA------------------bcc-:1:1:-1:00:0:0:0:0:10");
  assert.deepEqual(swapped, { us: counts.them, them: counts.us, cube: "opponent", cube_value: 2, beavers: false });
  assert.equal(bgfmt.positionId(bgfmt.parse("4HPwATDgc/ABMA")), "4HPwATDgc/ABMA");
  const bars = bgfmt.parse("XGID=b----CC------B---b-d-c---A:0:0:1:42:0:0:0:0:10");
  assert.equal(bars.us[24], 1);
  assert.equal(bgfmt.positionId(bars), "OM8AAAZ3wAAQAA");
  assert.equal(bgfmt.countsText({ us: [1] }), "1 0 0 0 0 0");
  assert.deepEqual(bgfmt.parse(bgfmt.countsText(bars)), { us: bars.us, them: bars.them });
  assert.deepEqual(bgfmt.parse("0 2 2 2 0 4").them, null);
  for (const bad of ["", "x", "16", "1 /", "1 2 3 4 5 1 / 1 x", "dwMAAN4FAAAAA", "dwMAAN4FAAAAA!", "dwMAAN4FAAAAA//", "/////////////w",
    "dwMAAN4FAAAAAA:cInq", "XGID=-DCA", "XGID=ZDCA------------------bcc-:0:0:1:00:0:0:0:0:10", "1/0".padEnd(80, " 0"),
    "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 / 1", 7, null]) {
    if (bad === "1 /") assert.deepEqual(bgfmt.parse(bad).them, [0, 0, 0, 0, 0, 0]);
    else assert.throws(() => bgfmt.parse(bad), of("bad_position"), String(bad));
  }
});

test("position numbers", () => {
  assert.equal(bgfmt.rank([0, 0, 2, 3, 4, 6], 6), 53964);
  assert.equal(bgfmt.rank([0, 0, 2, 3, 4, 6], 8), 481769);
  assert.deepEqual(bgfmt.unrank(54263, 6), [0, 0, 0, 0, 0, 15]);
  for (let n = 0; n < 54264; n += 37) assert.equal(bgfmt.rank(bgfmt.unrank(n, 6), 6), n);
  const most = bgfmt.count(23, 15) - 1;
  assert.equal(bgfmt.rank(bgfmt.unrank(most, 23), 23), most);
  for (const bad of [-1, 0.5, 54264, NaN]) assert.throws(() => bgfmt.unrank(bad, 6), of("bad_position"));
  assert.throws(() => bgfmt.rank([0, 0, 0, 1], 3), of("bad_position"));
});

test("files without header, and tables inside a file", async () => {
  const whole = await bgfmt.open(golden("ts_03x03.bd"));
  const bare = await bgfmt.open(golden("ts_03x03_H.bd"), { layout: { kind: "two-sided", points: 3, chequers: 3 } });
  assert.deepEqual(bare.lookupSync("1 1 / 1"), whole.lookupSync("1 1 / 1"));
  const second = await bgfmt.open(golden("concat_os_p02_ts_03x03.bd"), { offset: golden("os_p02.bd").length });
  assert.deepEqual(second.lookupSync("1 1 / 1"), whole.lookupSync("1 1 / 1"));
  await assert.rejects(bgfmt.open(golden("ts_03x03_H.bd")), of("format"));
  await assert.rejects(bgfmt.open(golden("ts_03x03.bd"), { layout: { kind: "none", points: 3 } }), of("format"));
});

test("the header is read as leniently as gnubg reads it", async () => {
  const bytes = new Uint8Array(golden("ts_03x03.bd"));
  const say = (at, text) => bytes.set(new TextEncoder().encode(text), at);
  say(5, "?");
  say(8, "? 3?");
  say(12, "3?");
  say(15, "7");
  say(20, "\xff\x00".repeat(9));
  assert.equal((await bgfmt.open(bytes)).cubeful, true);
  for (const [at, text] of [[0, "gnu"], [6, "XX"], [9, "24"], [9, "-1"], [12, "16"], [6, "H"]]) {
    const broken = new Uint8Array(golden("ts_03x03.bd"));
    broken.set(new TextEncoder().encode(text.padEnd(at === 0 ? 5 : 1, "x")), at);
    await assert.rejects(bgfmt.open(broken), of("format"), text);
  }
});

test("any bytes give an answer or an error of ours", async () => {
  let seed = 7;
  const random = (n) => {
    seed = (seed * 48271) % 2147483647;
    return seed % n;
  };
  for (const name of ["os_p02.bd", "os_p02_g.bd", "os_p02_cg.bd", "os_p02_nd.bd", "ts_03x03.bd", "hyper1.bd"]) {
    const good = golden(name);
    for (let round = 0; round < 200; round++) {
      const bytes = new Uint8Array(good.subarray(0, round % 3 ? good.length : random(good.length)));
      for (let k = 0; k < 1 + (round % 4); k++) bytes[random(bytes.length || 1)] = random(256);
      const paged = { size: bytes.length, read: (at, n) => new Uint8Array(bytes.subarray(at, at + n)) };
      const said = [];
      for (const source of [bytes, paged]) {
        try {
          const table = await bgfmt.open(source, { pageBytes: 4096 });
          const last = (table.kind === "two-sided" ? table.positions ** 2 : table.positions) - 1;
          for (const n of [0, 1, Math.floor(last / 2), last]) said.push(JSON.stringify(await table.lookup(n)));
        } catch (error) {
          assert.ok(error instanceof bgfmt.BgfmtError, `${name} ${round}: ${error.stack}`);
          said.push(error.code);
        }
      }
      assert.deepEqual(said.slice(said.length / 2), said.slice(0, said.length / 2), `${name} ${round}`);
    }
  }
});

test("a header that promises more than there is", async () => {
  for (const [header, code] of [["gnubg-TS-23-15-1", "truncated"], ["gnubg-OS-23-15-1-1-0", "truncated"]]) {
    await assert.rejects(bgfmt.open(new TextEncoder().encode(header.padEnd(4000, "x"))), of(code));
  }
  await assert.rejects(bgfmt.open(new Uint8Array()), of("format"));
  await assert.rejects(bgfmt.open(new TextEncoder().encode("gnubg-TS-06")), of("truncated"));
});

test("options are checked", async () => {
  for (const options of [{ pageBytes: 5000 }, { pageBytes: 2048 }, { cachePages: 0 }, { wrong: 1 }, { retries: -1 }]) {
    await assert.rejects(bgfmt.open(golden("os_p01.bd"), options), TypeError);
  }
  for (const source of [7, null, {}, { size: -1, read() {} }]) await assert.rejects(bgfmt.open(source), TypeError);
});

test("a file that is none", async () => {
  await assert.rejects(openFile("/nowhere/at.all"), { code: "ENOENT" });
  await assert.rejects(openFile("/"), (error) => error.code === "EINVAL" || error.code === "EISDIR");
});

test("a small cache answers many questions", async () => {
  const bytes = golden("os_p06.bd");
  const read = (at, n) => new Uint8Array(bytes.subarray(at, at + n));
  const paged = await bgfmt.open({ size: bytes.length, read }, { pageBytes: 4096, cachePages: 3 });
  const whole = await bgfmt.open(bytes);
  const numbers = Array.from({ length: 400 }, (_, k) => (k * 7919) % 54264);
  const answers = await paged.lookupMany(numbers);
  numbers.forEach((n, k) => assert.deepEqual(answers[k], whole.lookupSync(n)));
  assert.ok(paged.stats().pages <= 3);
});
