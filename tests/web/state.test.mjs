// State and address of the probe page, without a browser. The page's modules import their neighbours by name, as they
// lie together when served; here they are laid together in a folder of their own.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const folder = mkdtempSync(join(tmpdir(), "bgfmt-page-"));
after(() => rmSync(folder, { recursive: true }));
const root = fileURLToPath(new URL("../../", import.meta.url));
cpSync(`${root}bgfmt/extras/serve/web/state.js`, join(folder, "state.js"));
cpSync(`${root}plugins/js/bgfmt.js`, join(folder, "bgfmt.js"));
cpSync(`${root}plugins/js/package.json`, join(folder, "package.json"));
const { positionId } = await import(join(folder, "bgfmt.js"));
const { after: played, blank, fromAddress, identifiers, put, questionOf, read, room, swapped, textOf, toAddress } = await import(join(folder, "state.js"));

const of = (text) => ({ ...blank(), ...read(text) });

test("an address and back", () => {
  for (const query of ["?p=0,1,0,0,1/0,1,1", "?p=0,1/1&roll=61", "?p=1/1&cube=owned", "?p=0,2,2,2,0,4&roll=31", "?p=0", "?p=0/1",
    "?p=1/1&away=3-5&crawford=true&cube_value=4&met=g11"]) {
    const { state, example, wrong } = fromAddress(query);
    assert.equal(wrong, null);
    assert.equal(example, false);
    assert.equal(toAddress(state), query);
  }
  assert.equal(toAddress(fromAddress("?utm=a%20b&p=1/1&x").state, "?utm=a%20b&p=1/1&x"), "?p=1/1&utm=a%20b&x");
});

test("without p there is an example; what cannot be read is told", () => {
  const { state, example } = fromAddress("?roll=61");
  assert.ok(example);
  assert.equal(textOf(state), "0,1,0,0,1/0,1,1");
  for (const p of ["", "x", "16", "1,1/0,99", "dwMAAN4FAAAAA", "%"]) {
    const { wrong } = fromAddress(`?p=${p}`);
    assert.ok(wrong.reason, p);
  }
});

test("identifiers survive an address", () => {
  const text = "4HPwATDgc/ABMA";
  for (const p of [text, encodeURIComponent(text), text.replace("/", "_")]) assert.equal(fromAddress(`?p=${p}`).wrong, null, p);
  const all = Array.from({ length: 4000 }, (_, k) => positionId({ us: [k % 9, k % 5, k % 3], them: [k % 2, k % 6, k % 7] }));
  const found = all.filter((id) => id.includes("+"));
  assert.ok(found.length);
  for (const id of found) assert.deepEqual(read(id.replaceAll("+", " ")), read(id));
  const state = read("XGID=-DCA------------------bcc-:1:1:1:52:3:4:0:7:10");
  assert.deepEqual([state.cube, state.cube_value, state.away, state.dice], ["owned", 2, [4, 3], [5, 2]]);
  assert.equal(fromAddress("?p=XGID=-DCA------------------bcc-:1:1:1:52:0:0:0:0:10&cube=centered&roll=66").state.cube, "centered");
});

test("an identifier in a link, and a Position ID under another name or none", () => {
  const xgid = "XGID=-BCBB----------------abbc-:0:0:1:00:0:0:0:0:10";
  const whole = textOf(read(xgid));
  for (const text of [`<a href="https://example.org/?xgid=${encodeURIComponent(xgid)}&theme=2">my position</a>`, `<a href="https://example.org/${xgid}">what now?</a>`,
    `<img src='https://example.org/board.png?id=${xgid}' alt='a board'/> and text`, encodeURIComponent(encodeURIComponent(xgid))]) assert.equal(textOf(read(text)), whole, text);
  for (const text of ["Position : 4HPwATDgc/ABMA", "Position 4HPwATDgc/ABMA", "Stellung: 4HPwATDgc/ABMA, Zug?", '<a href="https://example.org/?position=4HPwATDgc/ABMA">this</a>'])
    assert.equal(textOf(read(text)), textOf(read("4HPwATDgc/ABMA")), text);
  for (const text of ["Position : understandings", "Backgammon2048", "positionally speaking"]) assert.throws(() => read(text));
});

test("a bare Position ID forgets dice, cube and score; counts do not", () => {
  const before = { ...of("0,1/1"), dice: [6, 1], cube: "owned", away: [3, 5] };
  const { dice, cube, away } = read("CgAAEAEAAAAAAA", before);
  assert.deepEqual([dice, cube, away], [[null, null], "centered", null]);
  assert.deepEqual(read("0,1/1,1", before).away, [3, 5]);
  assert.deepEqual(read("1 1", before).dice, [6, 1]);
});

test("identifiers are found in what programs and forums write, without a server", () => {
  const xgid = "XGID=--A--A----------------aa--:0:1:1:61:0:0:0:0:10";
  const texts = [
    `What would you do here?\n${xgid}\nthank you`, `xgid: ${xgid.slice(5)}`, xgid.slice(5), `\n  ${xgid.slice(5)}  \n`,
    ` GNU Backgammon  Position ID: CgAAEAEAAAAAAA\n                 Match ID   : cAkHAAAAAAAE\n +13-14-15-16-17-18------19-20-21-22-23-24-+`,
    "GNUBGID CgAAEAEAAAAAAA:cAkHAAAAAAAE", "gnubgid=CgAAEAEAAAAAAA", "Position ID: CgAAEAEAAAAAAA", "position id CgAAEAEAAAAAAA",
  ];
  for (const text of texts) assert.doesNotThrow(() => read(text), text);
  for (const text of texts.slice(0, 4)) assert.deepEqual(read(text), read(xgid), text);
  const match = "XGID=-DCA------------------bcc-:1:1:1:52:3:4:0:7:10";
  for (let at = 8; at < match.length; at++) {
    if (match.slice(0, at).split(":").length > 9) continue; // the last field alone, which says nothing of the state
    for (const line of ["\n", "\r\n", "\n> "]) assert.deepEqual(read(`Well:\n${match.slice(0, at)}${line}${match.slice(at)}\nthanks`), read(match), `${at}`);
  }
  assert.deepEqual(read(texts[4]), read("CgAAEAEAAAAAAA:cAkHAAAAAAAE"));
  assert.deepEqual(read(texts[5]), read(texts[4]));
  for (const text of texts.slice(6)) assert.deepEqual(read(text), read("CgAAEAEAAAAAAA"), text);
  assert.throws(() => read("Position ID: CgAAEAEAAA"));
  const XGID = "XGID=-BCBB----------------abbc-:0:0:1:61:0:0:0:0:10";
  for (const text of [`Was it?\n\n\`${XGID}\``, `[xgid]${XGID.slice(5)}[/xgid]`, `<p>${XGID}<br>X:Joe</p>`, encodeURIComponent(XGID),
    `${XGID}.`, `${XGID}, what now?`, XGID.replaceAll("-", "\u2013"), `${XGID.slice(0, 22)}\n> ${XGID.slice(22)}`, `${XGID}\n\n${XGID}`]) {
    assert.deepEqual([textOf(read(text)), read(text).dice], ["2,3,2,2/3,2,2,1", [6, 1]], text);
  }
  for (const text of ["Positions-ID: dwMAAN4FAAAAAA  Match-ID: cAkAAAAAAAAA", "set board dwMAAN4FAAAAAA", '{"position":"dwMAAN4FAAAAAA","match":"cAkAAAAAAAAA"}',
    "<tt>Position ID:</tt> <b>dwMAAN4FAAAAAA</b>"]) {
    assert.equal(textOf(read(text)), "4,3,1/3,3,2", text);
  }
  assert.throws(() => read(`${XGID} or ${XGID.replace("C", "D")}`), /2 different positions/);
  assert.throws(() => read(XGID.replace("----a", "---a")), /the board has 25 of 26 characters/);
  assert.throws(() => read("XGID=-BCBB----------------abbc-:0:0:1:35:2:1:0"), /a score without the length of the match/);
  assert.throws(() => read(XGID.replace(":0:0:1:", ":3:1:1:").replace(":10", ":3")), /a cube at 8 that can no longer be turned/);
});

test("plays and swaps turn the board round", () => {
  const state = { ...of("0,1,0,0,1/0,1,1"), dice: [6, 1], cube: "owned", away: [3, 5] };
  const next = played(state, "1 0 0 0 0 0 / 0 1 1 0 0 0");
  assert.deepEqual([textOf(next), next.cube, next.away, next.dice], ["0,1,1/1", "opponent", [5, 3], [null, null]]);
  assert.equal(textOf(played(of("0,2"), "1 1 0 0 0 0")), "1,1");
  assert.equal(textOf(played(of("1/0,1"), "0 0 0 0 0 0 / 0 1 0 0 0 0")), "0,1");
  assert.deepEqual(swapped(swapped(state)), { ...state, dice: [null, null] });
});

test("no more chequers than fit", () => {
  const state = of("3,12/1");
  assert.equal(room(state.us, 1), 3);
  assert.equal(put(state, "us", 1, 9).us[0], 3);
  assert.equal(put(state, "us", 2, -1).us[1], 0);
  assert.equal(put(state, "them", 24, 99).them[23], 14);
});

test("a chequer on the bar is the 25th count", () => {
  const state = of("XGID=a-----------------------BA:0:0:1:00:0:0:0:0:10");
  assert.deepEqual([state.us[24], state.us[23], state.them[24]], [1, 2, 1]);
  assert.deepEqual(of(textOf(state)).us, state.us);
  assert.equal(played(of("1/0,1"), "0 0 0 0 0 0 bar 1 / 0 1").them[24], 1);
  assert.throws(() => of(`${"0,".repeat(25)}1/1`), /24 points and the bar/);
});

test("identifiers say all of a state, and are read again", () => {
  const queries = ["?p=0,1,0,0,1/0,1,1", "?p=0,1/1&roll=61&cube=owned&jacoby=true", "?p=1/0,2&cube=opponent&roll=22",
    "?p=1/1,1&roll=43&cube=owned&away=3-5&cube_value=4", "?p=1/1&away=1-7&crawford=true"];
  for (const query of queries) {
    const { state } = fromAddress(query);
    const { xgid, gnubg } = identifiers(state);
    const at = ["us", "them", "dice", "cube", "cube_value", "away", "crawford"];
    for (const id of [xgid, gnubg]) {
      const again = of(id);
      for (const name of at) assert.deepEqual(again[name], state[name], `${query} ${id} ${name}`);
    }
    assert.equal(of(xgid).jacoby ?? false, state.jacoby ?? false, xgid);
  }
  // as `bgfmt` and gnubg write it
  assert.equal(identifiers(of("XGID=--A--A----------------aa--:1:1:1:61:0:4:0:7:10")).gnubg, "CgAAEAEAAAAAAA:UQnnAEAAAAAE");
});

test("what is asked", () => {
  assert.deepEqual(questionOf({ ...of("1/1"), dice: [1, 6], cube: "owned" }), { position: "1/1", roll: "61", cube: "owned", match: {} });
  assert.deepEqual(questionOf({ ...of("1,1"), cube: "owned" }).cube, "centered");
  assert.deepEqual(questionOf({ ...of("1/1"), away: [1, 3], crawford: true }).match, { away: "1-3", crawford: "true" });
});
