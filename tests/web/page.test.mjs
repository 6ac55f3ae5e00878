// The probe page in headless Chromium, by roles and names. BGFMT_PAGES: JSON of {served, static} addresses;
// BGFMT_CALCULATING and BGFMT_HYPERGAMMON: those of a server that
// calculates, and of one with hypergammon; BGFMT_CHROMIUM: the browser; BGFMT_SHOTS: a folder for screenshots, if any. Run by
// tests/extras/serve/test_page.py.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";

import { chromium } from "playwright-core";

const PAGES = JSON.parse(process.env.BGFMT_PAGES);
const AXE = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const SHOTS = process.env.BGFMT_SHOTS;
const TIMEOUT = Number(process.env.BGFMT_TIMEOUT ?? 120000); // ms that a busy machine may take for an answer
let browser;
const free = new Map(); // pages that no test uses now, by their options

before(async () => {
  browser = await chromium.launch({ executablePath: process.env.BGFMT_CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--disable-software-rasterizer"] });
});
after(() => browser?.close());

/** Run with a page; it fails on anything in the console and on any request to another origin.
 * Pages of the same options are used again, for a new one takes more of the processor than a test, but not `first`. */
async function visit(base, query, see, options = {}) {
  const { width = 1280, height = 900, axe = false, first = false, expected = /$^/, ...more } = options;
  const viewport = { width, height };
  // a worker that answers for the network is the matter of offline.test.mjs
  const asked = { viewport, bypassCSP: axe, serviceWorkers: "block", ...more };
  const key = JSON.stringify(asked);
  if (!free.has(key)) free.set(key, []);
  const page = (first ? null : free.get(key).pop()) ?? await (await browser.newContext(asked)).newPage();
  const wrong = [];
  page.on("console", (m) => /blocked by Playwright/.test(m.text()) || wrong.push(`${m.type()}: ${m.text()} ${m.location().url}`));
  page.on("pageerror", (e) => wrong.push(e.stack));
  page.on("request", (r) => {
    if (!r.url().startsWith("data:") && new URL(r.url()).origin !== new URL(base).origin) wrong.push(`asked ${r.url()}`);
  });
  page.setDefaultTimeout(TIMEOUT);
  await page.goto(base + query);
  await settled(page);
  await see(page);
  assert.deepEqual(wrong.filter((line) => !expected.test(line)), []);
  page.removeAllListeners();
  await page.unrouteAll();
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme: null });
  free.get(key).push(page);
}

async function settled(page) {
  await page.waitForTimeout(20);
  await page.locator('main[aria-busy="false"]').waitFor();
}

const status = (page) => page.getByRole("status").textContent();
const point = (page, who, n) => page.getByRole("spinbutton", { name: n === "bar" ? `${who} bar` : `${who} ${n} point`, exact: true });
const count = async (page, who, n) => Number(await point(page, who, n).getAttribute("aria-valuenow"));
const search = (page) => new URL(page.url()).search;
const table = (page, name) => page.getByRole("table", { name, exact: true });
const cells = (page, name) => table(page, name).getByRole("row").evaluateAll((rows) => rows.map((r) => [...r.children].map((c) => c.textContent)));
const roll = (page, dice) => page.getByRole("button", { name: new RegExp(`^${dice}:`) });
const region = (page, name) => page.getByRole("region", { name, exact: true });

async function set(page, text) {
  const box = page.getByRole("textbox", { name: "Position" });
  await box.fill(text);
  await box.press("Enter");
  await settled(page);
}

for (const [mode, base] of Object.entries(PAGES)) {
  describe(`${mode} page`, { concurrency: 2 }, () => {
    const once = (...given) => mode === "static" && test(...given); // what is the same in both
    test("opens with an example and says so", () =>
      visit(base, "", async (page) => {
        assert.equal(search(page), "");
        assert.ok(await page.getByText("This is an example").isVisible());
        assert.match(await status(page), /^Answered by ts_06x04\.bd, numbers within 0\.000098\./);
        assert.equal(await page.title(), "Double, take · 0 1 0 0 1 0 / 0 1 1 0 0 0 · Bearoff tablebase");
        assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Bearoff tablebase");
        assert.match(await region(page, "Cube action").textContent(), /Double, take/);
        assert.deepEqual((await cells(page, "Equities")).map((r) => r.slice(0, 2)), [["No double", "+0.1605"], ["Double, take", "+0.3210"], ["Double, pass", "+1.0000"]]);
        assert.equal((await cells(page, "Equities"))[1][2], "best");
        const [heads, ...rolls] = await cells(page, "All rolls");
        assert.deepEqual([heads.join(" "), rolls.map((r) => r[0]).join(" ")], [" 1 2 3 4 5 6", "1 2 3 4 5 6"]);
        assert.deepEqual([rolls[5][1], rolls[0][6], rolls[1][2]], ["5/off 2/1 -0.7778", "5/off 2/1 -0.7778", "5/off 2/off +1.0000"]);
        assert.match(await region(page, "All rolls").textContent(), /Best rolls: 2-2 \+1\.0000, .*Worst rolls: 6-1 -0\.7778, /);
        const race = Object.fromEntries((await cells(page, "Race")).map(([name, ...numbers]) => [name, numbers]));
        assert.deepEqual(race.Pips, ["7", "5"]);
        assert.equal(race.EPC[0].split(".")[1].length, 3);
        assert.equal(race["Mean rolls"][1].split(".")[1].length, 4);
        assert.ok(await page.getByRole("img", { name: "Chances to be off, by rolls" }).isVisible());
        assert.equal(await region(page, "Plays").count(), 0);
        assert.equal((await cells(page, "Tables")).length, 3);
        assert.ok(await page.getByRole("link", { name: "Download ts_06x04.bd" }).isVisible());
        for (const name of ["Board", "Cube action", "All rolls", "Race", "Tables"]) assert.equal(await region(page, name).count(), 1, name);
      }));

    test("an identifier brings dice and cube with it", () =>
      visit(base, "", async (page) => {
        await set(page, "XGID=--A--A----------------aa--:0:1:1:61:0:0:0:0:10");
        assert.equal(search(page), "?p=0,1,0,0,1/0,1,1&roll=61&cube=owned&beavers=false");
        assert.ok(await page.getByRole("radio", { name: "First die 6" }).isChecked());
        assert.ok(await page.getByRole("radio", { name: "Second die 1" }).isChecked());
        assert.ok(await page.getByRole("radio", { name: "You own the cube" }).isChecked());
        assert.match(await region(page, "Cube action").textContent(), /No redouble, take/);
        assert.deepEqual((await cells(page, "Equities")).map((r) => r[0]), ["No redouble", "Redouble, take", "Redouble, pass"]);
        assert.equal(await page.getByRole("heading", { name: "Plays of 6-1" }).count(), 1);
        const rows = (await cells(page, "Plays")).slice(1);
        assert.deepEqual(rows.map((r) => r[0]), ["5/off 2/1", "5/off"]);
        assert.deepEqual([rows[0][2], rows[1].slice(2)], ["", ["", "as good"]]);
        await set(page, "CgAAEAEAAAAAAA");
        assert.equal(await count(page, "Their", 3), 1);
        await page.getByRole("radio", { name: "They own the cube" }).check();
        await settled(page);
        assert.deepEqual((await cells(page, "Equities")).map((r) => r[0]), ["No double"]);
      }));

    test("what cannot be read is marked and changes nothing", () =>
      visit(base, "?p=1,2/3", async (page) => {
        const box = page.getByRole("textbox", { name: "Position" });
        await set(page, "nonsense");
        assert.equal(await box.getAttribute("aria-invalid"), "true");
        assert.match(await status(page), /^Cannot read that: /);
        assert.equal(search(page), "?p=1,2/3");
        assert.equal(await count(page, "Your", 2), 2);
        await box.press("Escape");
        assert.equal(await box.inputValue(), "1,2/3");
        assert.equal(await box.getAttribute("aria-invalid"), null);
        await page.getByRole("heading", { level: 1 }).click();
        await page.keyboard.press("/");
        assert.ok(await box.evaluate((e) => e === document.activeElement));
      }));

    test("an address that cannot be read shows no board of its own making", () =>
      visit(base, "?p=rubbish&x=1", async (page) => {
        assert.equal(await page.getByRole("textbox", { name: "Position" }).inputValue(), "rubbish");
        assert.equal(await page.getByRole("textbox", { name: "Position" }).getAttribute("aria-invalid"), "true");
        assert.match(await status(page), /^Cannot read that: /);
        assert.equal(await page.locator("#answer").getAttribute("data-state"), "failed");
        assert.equal(await page.locator(".disc, .edge, .cube").count(), 0);
        assert.deepEqual([await page.locator("#you-line").textContent(), await page.locator("#they-line").textContent()], ["No position", "No position"]);
        for (let n = 1; n <= 6; n++) assert.equal(await count(page, "Your", n), 0);
        assert.equal(search(page), "?p=rubbish&x=1");
        await set(page, "1/1");
        assert.equal(search(page), "?p=1/1&x=1");
      }));

    once("points are set by mouse", () =>
      visit(base, "?p=0,1/0,1", async (page) => {
        await point(page, "Your", 3).click();
        await settled(page);
        assert.equal(search(page), "?p=0,1,1/0,1");
        assert.equal(await point(page, "Your", 3).getAttribute("aria-valuetext"), "1 chequer");
        await point(page, "Your", 3).click();
        await point(page, "Your", 3).click({ modifiers: ["Shift"] });
        await point(page, "Your", 2).click({ button: "right" });
        await settled(page);
        assert.equal(search(page), "?p=0,0,1/0,1");
        await drag(page, point(page, "Your", 3), point(page, "Your", 5));
        await settled(page);
        assert.equal(search(page), "?p=0,0,0,0,1/0,1");
        await drag(page, point(page, "Their", 2), page.getByRole("heading", { level: 1 }));
        await settled(page);
        assert.equal(search(page), "?p=0,0,0,0,1");
        assert.match(await region(page, "Cube action").textContent(), /Not covered: the cube needs both sides/);
        await page.goBack();
        await settled(page);
        assert.equal(search(page), "?p=0,0,0,0,1/0,1");
        assert.equal(await count(page, "Their", 2), 1);
      }));

    once("the whole board is set: outfield, bar, tray, both sides on one point", () =>
      visit(base, "?p=0,1/0,1", async (page) => {
        await drag(page, page.locator(".off.us .area"), point(page, "Your", 13)); // from the tray, into their half
        await drag(page, page.locator(".off.them .area"), point(page, "Your", 12));
        await settled(page);
        assert.equal(search(page), "?p=0,1,0,0,0,0,0,0,0,0,0,0,1/0,1,0,0,0,0,0,0,0,0,0,0,1");
        await point(page, "Your", 13).click(); // who stands there is added to
        assert.equal(await count(page, "Your", 13), 2);
        await page.getByRole("radio", { name: "theirs" }).check();
        await point(page, "Their", 24).click(); // your ace point
        assert.equal(await count(page, "Their", 24), 1);
        await page.getByRole("radio", { name: "yours" }).check();
        await point(page, "Your", 1).click();
        await settled(page);
        assert.equal(await status(page), "Not covered: both sides stand on your 1 point");
        await drag(page, point(page, "Your", 13), page.locator(".off.us .area"));
        assert.equal(await count(page, "Your", 13), 1);
        const before = search(page);
        await page.getByRole("spinbutton", { name: "Your bar" }).click();
        assert.equal(await count(page, "Your", "bar"), 1);
        assert.match(search(page), /^\?p=1,1,(0,){10}1,(0,){11}1\//);
        await page.getByRole("button", { name: "Undo" }).click();
        await page.waitForURL((url) => url.search === before);
        await settled(page);
        assert.equal(await count(page, "Your", "bar"), 0);
      }));

    once("points are set by keyboard", () =>
      visit(base, "?p=0,1/0,1", async (page) => {
        await point(page, "Your", 1).focus();
        await page.keyboard.press("ArrowUp");
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("ArrowRight");
        await page.keyboard.press("ArrowUp");
        await page.keyboard.press("ArrowUp");
        await page.keyboard.press("ArrowDown");
        await settled(page);
        assert.equal(search(page), "?p=1,1,1/0,1");
        assert.equal(await page.evaluate(() => document.activeElement.getAttribute("aria-label")), "Your 3 point");
        const before = await page.evaluate(() => history.length);
        await page.keyboard.press("1");
        await page.keyboard.press("2");
        await settled(page);
        assert.equal(search(page), "?p=1,1,12/0,1");
        assert.equal(await page.evaluate(() => history.length), before + 1);
        assert.equal(await point(page, "Your", 3).getAttribute("aria-valuemax"), "13");
        await page.keyboard.press("End");
        await settled(page);
        assert.equal(await count(page, "Your", 3), 13);
        await page.keyboard.press("ArrowUp");
        assert.equal(await count(page, "Your", 3), 13);
        await page.keyboard.press("Delete");
        await settled(page);
        assert.equal(search(page), "?p=1,1/0,1");
        const reached = await page.locator('[role="spinbutton"][tabindex="0"]').evaluateAll((all) => all.map((e) => e.getAttribute("aria-label")));
        assert.deepEqual(reached.map((n) => n.split(" ")[0]).sort(), ["Their", "Your"]);
      }));

    once("points are set by finger", () =>
      visit(base, "?p=0,1/0,1", async (page) => {
        await point(page, "Your", 4).tap();
        await settled(page);
        assert.equal(search(page), "?p=0,1,0,1/0,1");
        await page.getByRole("button", { name: "One more" }).tap();
        await page.getByRole("button", { name: "One more" }).tap();
        await page.getByRole("button", { name: "One fewer" }).tap();
        await settled(page);
        assert.equal(await count(page, "Your", 4), 2);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
      }, { width: 360, height: 740, hasTouch: true, isMobile: true }));

    for (const width of [320, 360, 390, 768, 1280]) once(`each point of each side is a target of its own, 24 pixels wide: ${width}`, () =>
      visit(base, "?p=0,1,0,0,0,0,0,0,0,0,0,0,0,0,2/0,1,0,1", async (page) => {
        await page.locator(".picture").scrollIntoViewIfNeeded();
        const wrong = await page.evaluate(() => {
          const found = [];
          for (const one of document.querySelectorAll('[role="spinbutton"], #cube input, .die, #no-dice')) {
            const name = one.getAttribute("aria-label") ?? one.textContent;
            const { left, top, width: wide, height: high } = one.getBoundingClientRect();
            if (wide < 24 || high < 24) found.push(`${name} is ${wide.toFixed(1)} by ${high.toFixed(1)}`);
            if (!one.contains(document.elementFromPoint(left + wide / 2, top + high / 2))) found.push(`${name} lies under another`);
          }
          return found;
        });
        assert.deepEqual(wrong, []);
        for (const [who, n] of [["Your", 13], ["Their", 13], ["Their", 24], ["Your", 24]]) { // none stands there
          await point(page, who, n).click();
          assert.equal(await count(page, who, n), 1, `${who} ${n}`);
        }
      }, { width, height: 900 }));

    test("a bearoff is walked forward and back", () =>
      visit(base, "?p=0,1,0,0,1/0,1,1", async (page) => {
        await roll(page, "41").click();
        await settled(page);
        assert.equal(search(page), "?p=0,1,0,0,1/0,1,1&roll=41");
        const link = page.getByRole("link", { name: "5/1 2/1", exact: true });
        assert.equal(await link.getAttribute("href"), "?p=0,1,1/2");
        await link.click();
        await settled(page);
        assert.equal(search(page), "?p=0,1,1/2");
        assert.equal(await count(page, "Your", 3), 1);
        assert.equal(await count(page, "Their", 1), 2);
        await page.getByRole("radio", { name: "First die 6" }).check();
        await page.getByRole("radio", { name: "Second die 5" }).check();
        await settled(page);
        await page.getByRole("link").filter({ hasText: "off" }).first().click();
        await settled(page);
        assert.match(search(page), /^\?p=2$|^\?p=2\//);
        await page.goBack();
        await settled(page);
        await page.goBack();
        await settled(page);
        await page.goBack();
        await settled(page);
        assert.equal(search(page), "?p=0,1,0,0,1/0,1,1&roll=41");
        assert.equal(await page.getByRole("link", { name: "5/1 2/1", exact: true }).count(), 1);
        await page.getByRole("button", { name: "No dice" }).click();
        await settled(page);
        assert.equal(search(page), "?p=0,1,0,0,1/0,1,1");
      }));

    once("a game walked is undone and done again, by button and by key", () =>
      visit(base, "?p=0,1,0,0,1/0,1,1&roll=41", async (page) => {
        const [undo, redo] = ["Undo", "Redo"].map((name) => page.getByRole("button", { name }));
        assert.ok(await undo.isDisabled());
        await page.getByRole("link", { name: "5/1 2/1", exact: true }).click();
        await roll(page, "52").click();
        await page.getByRole("link", { name: "3/off 2/off", exact: true }).click();
        await settled(page);
        const walked = page.locator("#walked");
        assert.equal(await walked.textContent(), "2 plays: 4-1 5/1 2/1, 5-2 3/off 2/off");
        assert.ok(await redo.isDisabled());
        await undo.click();
        await page.waitForURL((url) => url.search === "?p=0,1,1/2&roll=52");
        assert.equal(await walked.textContent(), "1 play: 4-1 5/1 2/1");
        await page.getByRole("heading", { level: 1 }).click();
        for (const [key, p] of [["Control+z", "?p=0,1,1/2"], ["Control+z", "?p=0,1,0,0,1/0,1,1&roll=41"], ["Control+Shift+z", "?p=0,1,1/2"], ["Control+y", "?p=0,1,1/2&roll=52"]]) {
          await page.keyboard.press(key);
          await page.waitForURL((url) => url.search === p);
        }
        await settled(page);
        assert.ok(await redo.isEnabled());
        await point(page, "Your", 4).click(); // another game
        await settled(page);
        assert.equal(await walked.textContent(), "");
        assert.ok(await redo.isDisabled());
      }));

    once("link, XGID and gnubg ID are copied", () =>
      visit(base, "?p=0,1,0,0,1/0,1,1&roll=61&cube=owned", async (page) => {
        const copied = async (name) => {
          // the word stays for a moment only, which a busy machine may let pass between two looks
          const said = await page.evaluateHandle(() => {
            const seen = (yes) => new MutationObserver(() => document.body.innerText.includes("copied") && yes());
            return { word: new Promise((yes) => seen(yes).observe(document.body, { subtree: true, childList: true, characterData: true })) };
          });
          await page.getByRole("button", { name }).click();
          await said.evaluate(({ word }) => word);
          return page.evaluate(() => navigator.clipboard.readText());
        };
        assert.equal(await copied("Copy link"), page.url());
        const [xgid, gnubg] = [await copied("Copy XGID"), await copied("Copy gnubg ID")];
        assert.equal(xgid, "XGID=--A--A----------------aa--:0:1:1:61:0:0:2:0:10");
        for (const id of [xgid, gnubg]) {
          await set(page, "1/1");
          await set(page, id);
          assert.match(search(page), /^\?p=0,1,0,0,1\/0,1,1&roll=61&cube=owned/);
        }
      }, { permissions: ["clipboard-read", "clipboard-write"] }));

    once("answer, dice and board are seen without scrolling", () =>
      visit(base, "?p=0,1,2,0,1/0,1,1,2", async (page) => {
        for (const [width, height, dice] of [[1280, 800, ""], [390, 844, ""], [1280, 800, "61"], [390, 844, "61"]]) {
          await page.setViewportSize({ width, height });
          if (dice) await roll(page, dice).click();
          await settled(page);
          await page.evaluate(() => window.scrollTo(0, 0));
          const seen = [".picture", "#dice", "#status", ...(dice ? ["#plays table"] : ["#action .verdict", "#action table"])];
          for (const name of seen) {
            const box = await page.locator(name).boundingBox();
            const most = name === "#plays table" ? box.y + 40 : box.y + box.height; // the first plays of perhaps many
            assert.ok(box.y >= 0 && most <= height, `${name} ends at ${most} of ${height}, ${width} wide`);
          }
          if (dice) await page.getByRole("button", { name: "No dice" }).click();
        }
      }));

    once("swap, clear", () =>
      visit(base, "?p=0,1/1,1&cube=owned", async (page) => {
        await page.getByRole("button", { name: "Swap sides" }).click();
        await settled(page);
        assert.equal(search(page), "?p=1,1/0,1&cube=opponent");
        await page.getByRole("button", { name: "Clear" }).click();
        await settled(page);
        assert.match(search(page), /^\?p=0(&|$)/);
        assert.equal(await status(page), "Not covered: set some chequers");
      }));

    test("what no table has is said, with what would have it", () =>
      visit(base, "?p=7,1/1", async (page) => {
        if (mode === "static") {
          assert.match(await status(page), /^Answered by calculation, numbers exact\./);
          assert.match(await region(page, "Cube action").textContent(), /From calculation/);
          await set(page, "0,0,0,0,0,0,3/2");
          assert.match(await status(page), /^Answered by calculation/);
        }
        await set(page, "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1/1");
        assert.match(await status(page), /^Not covered: /);
        assert.equal(await point(page, "Your", 24).count(), 1);
        await set(page, "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1/0,0,0,0,1");
        assert.match(await status(page), /^Not covered: .*passed/);
      }));

    test("a race that no table has is estimated, and says how near", () =>
      visit(base, "?p=2,3,3,3,2,2/1,2,4,2,3,3&roll=31", async (page) => {
        const texts = await Promise.all(["Cube action", "Plays", "All rolls"].map((name) => region(page, name).textContent()));
        assert.match(await status(page), /^Estimate, ±0\.\d+ \(95 %\)(: too close to call, within 0\.\d+ \(99\.9 %\))?\./);
        for (const text of texts) assert.match(text, /Estimate, ±0\.\d+ \(95 %\)/);
        assert.equal((await cells(page, "All rolls")).length, 7);
        if (mode === "served") return; // by a server that calculates nothing, from its tables alone
        await page.setViewportSize({ width: 390, height: 844 });
        await page.goto(`${base}?p=3,3,2,2,2,1,1,0,1/2,2,3,3,2,1,0,0,0,0,0,2&roll=61&away=3-5`);
        await settled(page);
        assert.match(await status(page), /^Estimate, ±0\.012 \(95 %\)/);
        assert.match((await cells(page, "Plays"))[2].join("|"), /\|-\d\.\d\d %\|-?[+-]\d\.\d{4}\|-\d\.\d{4}\|close$/);
        assert.equal(await page.locator("#plays .scroll").evaluate((one) => one.scrollWidth - one.clientWidth), 0);
      }));

    test("one side alone is ranked by mean rolls", () =>
      visit(base, "?p=0,2,2,2,0,4&roll=61", async (page) => {
        assert.match(await region(page, "Plays").textContent(), /rolls to go/);
        assert.match(await region(page, "Cube action").textContent(), /Not covered/);
        assert.equal((await cells(page, "Race"))[1][2], "not known");
        assert.equal(await page.title(), "0 2 2 2 0 4 · Bearoff tablebase");
      }));

    for (const [k, query] of ["?p=0,1,0,0,1/0,1,1&roll=61", "?p=2,3,3,3,2,2/1,2,4,2,3,3", "?p=1,0,0,2,0,0,1/4", "?p=nonsense"].entries()) {
      if (mode === "static" && k !== 1) continue; // the same elements, but for those that say what is not covered
      test(`axe finds nothing, wide and light, narrow and dark: ${query}`, () =>
        visit(base, query, async (page) => {
          for (const summary of k ? [] : await page.locator("details:visible > summary").all()) await summary.click();
          await page.locator('.body[aria-busy="true"]').first().waitFor({ state: "detached" });
          await page.addScriptTag({ content: AXE });
          for (const [name, width, colorScheme] of [["wide", 1280, "light"], ["narrow", 360, "dark"]]) {
            await page.setViewportSize({ width, height: 900 });
            await page.emulateMedia({ colorScheme });
            const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"], rules: { "label-content-name-mismatch": { enabled: true } } }));
            assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).join(" ")}`), []);
            assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width);
            if (SHOTS && k < 2) await page.screenshot({ path: `${SHOTS}/${mode}-${name}-${colorScheme}-${k}.png`, fullPage: true });
          }
        }, { axe: true }));
    }

    test("all of the page is small", () =>
      visit(base, "", async (page) => {
        const urls = await page.evaluate(() => performance.getEntriesByType("resource").map((r) => r.name));
        const { gzipSync } = await import("node:zlib");
        let size = 0;
        for (const url of [page.url(), ...urls.filter((u) => /assets/.test(u))]) size += gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer()), { level: 9 }).length;
        assert.ok(size > 20000 && size < 150000, `${size} bytes`);
      }));
  });
}

async function drag(page, from, to) {
  const [a, b] = [await from.boundingBox(), await to.boundingBox()];
  await page.mouse.move(a.x + a.width / 2, a.y + a.height / 2);
  await page.mouse.down();
  await page.mouse.move(a.x + a.width / 2 + 12, a.y + a.height / 2 + 4, { steps: 3 });
  await page.mouse.move(b.x + b.width / 2, b.y + b.height / 2, { steps: 5 });
  await page.mouse.up();
}

const NO_BEAVERS = "XGID=-BCBB----------------abbc-:0:0:1:00:0:0:0:0:10";

for (const [mode, base] of Object.entries(PAGES)) {
  test(`an identifier's rules hold, ${mode}`, () =>
    visit(base, "", async (page) => {
      await set(page, NO_BEAVERS);
      assert.match(search(page), /&beavers=false$/);
      assert.equal(await page.locator("#action .verdict").textContent(), "No double, take");
      const link = search(page);
      await page.goto(base + link);
      await settled(page);
      assert.equal(await page.locator("#action .verdict").textContent(), "No double, take");
      assert.equal(search(page), link);
    }));
}

test("a static page calculates what the served one does, at a score and for money", async () => {
  const queries = [
    "?p=0,1,0,0,2/0,1,2&away=2-4&roll=61&met=g11&extend_met=true", "?p=1,2,1/0,2,1,1&away=1-3&roll=41&crawford=true",
    "?p=XGID%3D--A--A----------------aa--%3A0%3A1%3A1%3A61%3A3%3A4%3A0%3A7%3A10", "?p=3,1,1,1/2,1,1&roll=21&jacoby=true&cube=owned",
    "?p=2,3,3,1,2,2/1,2,4,2,3,3&roll=61", "?p=4,4,1,3/0,0,3,4,4,4&away=3-5&roll=52",
  ];
  for (const query of queries) {
    const said = [];
    for (const base of [process.env.BGFMT_CALCULATING, PAGES.static]) {
      await visit(base, query, async (page) => {
        const texts = [await status(page), await page.title(), await page.locator("#action").textContent()];
        for (const name of ["Equities", "Plays", "All rolls"]) texts.push(await cells(page, name));
        said.push(texts);
      }, { expected: /503/ });
    }
    assert.deepEqual(said[1], said[0]);
    assert.match(said[1][0], /^(Answered by (calculation|ts_06x04)|Estimate(,| of ))/);
  }
  await visit(PAGES.static, queries[0], async (page) => {
    const group = page.getByRole("group", { name: "Match score" });
    assert.ok(await group.getByRole("checkbox", { name: "Match play" }).isChecked());
    assert.equal(search(page), queries[0], "the link is as it was");
    assert.equal(await group.getByRole("combobox", { name: "Match equity table" }).inputValue(), "g11");
    await group.getByRole("checkbox", { name: "Match play" }).uncheck();
    await settled(page);
    assert.match(await status(page), /^Answered by ts_06x04/);
  });
});

test("a calculation in the page shows how far it is, and can be cancelled", () =>
  visit(PAGES.static, "?p=1/1", async (page) => {
    const [cancel, bar] = [page.getByRole("button", { name: "Cancel" }), page.getByRole("progressbar", { name: "Calculating" })];
    await page.getByRole("textbox", { name: "Position" }).fill("XGID=-BBAAAA------------aaabba-:0:0:1:00:0:0:0:9:10");
    await page.getByRole("button", { name: "Set" }).click();
    await page.getByRole("status").getByText(/^Calculating$/).waitFor();
    await bar.waitFor();
    await cancel.click();
    await settled(page);
    assert.match(await status(page), /^Answered by os_p06\.bd/); // the race alone
    assert.ok(await cancel.isHidden() && await bar.isHidden());
    await page.getByRole("button", { name: "Ask again" }).waitFor();
    await set(page, "1,1,1/1,1");
    assert.match(await status(page), /^Answered by calculation/);
  }));

test("served and static say the same", async () => {
  const said = {};
  for (const [mode, base] of Object.entries(PAGES)) {
    await visit(base, "?p=1,1,0,1/0,2,1&roll=53&cube=owned", async (page) => {
      said[mode] = [await status(page), await page.title()];
      for (const name of ["Equities", "Plays", "All rolls", "Race"]) said[mode].push(await cells(page, name));
    });
  }
  assert.deepEqual(said.served, said.static);
});

test("a match score is taken over, set and left again", () =>
  visit(PAGES.served, "?p=0,1,0,0,1/0,1,1&away=2-3", async (page) => {
    const group = page.getByRole("group", { name: "Match score" });
    assert.ok(await group.getByRole("checkbox", { name: "Match play" }).isChecked());
    assert.equal(await group.getByRole("spinbutton", { name: "They need" }).inputValue(), "3");
    const [heads, first] = await cells(page, "Equities");
    assert.deepEqual([heads.slice(1), first[0]], [["MWC", "EMG", "difference"], "No double"]);
    assert.match(first.slice(1, 3).join(" "), /^\d\d\.\d\d % [+-]0\.\d{4}$/);
    await group.getByRole("spinbutton", { name: "You need" }).fill("1");
    await group.getByRole("spinbutton", { name: "You need" }).press("Tab");
    await group.getByRole("checkbox", { name: "Crawford game" }).check();
    await settled(page);
    assert.equal(search(page), "?p=0,1,0,0,1/0,1,1&away=1-3&crawford=true");
    assert.match(await region(page, "Cube action").textContent(), /No double/);
    assert.equal(await group.getByRole("combobox", { name: "Match equity table" }).inputValue(), "Kazaross-XG2");
    await group.getByRole("checkbox", { name: "Match play" }).uncheck();
    await settled(page);
    assert.equal(search(page), "?p=0,1,0,0,1/0,1,1");
  }));

for (const base of [process.env.BGFMT_CALCULATING, PAGES.static]) test(`a play that is exactly equal is as good, not close: ${base}`, () =>
  visit(base, "?p=2,1,0,1,1/0,1,1,2,1&away=3-5&roll=63", async (page) => {
    assert.match(await status(page), /numbers exact/);
    const [, best, equal] = await cells(page, "Plays");
    assert.deepEqual([best[0], equal[0]], ["5/off 4/1", "5/2 4/off"]);
    assert.deepEqual([equal[1], equal[2], equal[4], equal[5]], [best[1], "", "", "as good"]);
    assert.equal(await region(page, "Plays").getByText(/close/i).count(), 0);
  }, { expected: /503/ }));

test("plays at a score say what they lose, in chances to win the match and in EMG", () =>
  visit(PAGES.served, "?p=0,1,2,0,1/0,1,1,2&roll=61&away=3-5", async (page) => {
    const [heads, best, second] = await cells(page, "Plays");
    assert.deepEqual(heads.slice(0, 5), ["Play", "MWC", "lost", "EMG", "lost"]);
    assert.match(best.slice(0, 5).join("|"), /^5\/off 3\/2\|\d\d\.\d\d %\|\|[+-]\d\.\d{4}\|$/);
    assert.match(second.slice(0, 5).join("|"), /^5\/off 2\/1\|\d\d\.\d\d %\|-\d\.\d\d %\|[+-]\d\.\d{4}\|-\d\.\d{4}$/);
  }));

for (const base of [process.env.BGFMT_CALCULATING, PAGES.static]) test(`actions by score, market losers and take points are there when asked for: ${base}`, () =>
  visit(base, "?p=0,1,2,0,1/0,1,1,2", async (page) => {
    await page.getByText("Actions by score").click();
    const grid = region(page, "Actions by score");
    await grid.getByRole("table").waitFor();
    const rows = await cells(page, "Actions by score");
    assert.deepEqual([rows.length, rows[2].join(" ")], [6, "2 D/P D/P D/T N/T N/T"]);
    await grid.getByRole("combobox").selectOption("3");
    await grid.getByRole("link", { name: "2-3 away: Double, take" }).click();
    await page.waitForURL("**&away=2-3");
    await settled(page);
    assert.equal(search(page), "?p=0,1,2,0,1/0,1,1,2&away=2-3");
    await page.getByText("Behind the cube action").click();
    const behind = region(page, "Behind the cube action");
    await behind.getByRole("table").waitFor();
    assert.match((await cells(page, "Behind the cube action"))[0].join(" "), /^Market losers \d\d\.\d\d %$/);
    await set(page, "0,2");
    assert.ok(await behind.isHidden());
  }, { expected: /503/ }));

test("what takes long says so and can be cancelled: then the tables alone are asked", () =>
  visit(process.env.BGFMT_CALCULATING, "?p=1/1", async (page) => {
    const asked = [];
    await page.route("**/v1/probe*", (route) => {
      asked.push(route.request().url());
      if (/settle=false/.test(asked.at(-1))) route.continue();
    });
    await point(page, "Your", 2).click();
    await page.getByRole("status").getByText(/^Calculating$/).waitFor();
    const [cancel, again] = ["Cancel", "Ask again"].map((name) => page.getByRole("button", { name }));
    await cancel.click();
    await settled(page);
    assert.match(await status(page), /^Answered by /);
    assert.ok(await cancel.isHidden());
    await page.unroute("**/v1/probe*");
    await again.click();
    await settled(page);
    assert.ok(await again.isHidden());
    assert.equal(asked.length, 2);
  }, { expected: /503/ }));

test("once the network is back the page asks at once", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    await page.context().setOffline(true);
    await point(page, "Your", 2).click();
    await page.getByText(/There is no network; the query is repeated when it is back\.$/).waitFor();
    await page.context().setOffline(false);
    await settled(page);
    assert.match(await page.title(), /1 1 0 0 0 0 \/ 1/);
  }, { expected: /ERR_INTERNET_DISCONNECTED/ }));

test("a page that found no server finds it later, whatever was set meanwhile", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    await page.route("**/v1/**", (route) => route.abort());
    const again = page.reload();
    await page.getByText(/trying again$/).waitFor();
    await again;
    await point(page, "Your", 2).click();
    await page.waitForTimeout(100);
    await page.unroute("**/v1/**");
    await page.getByText(/^Answered by /).waitFor();
    assert.match(await page.title(), /1 1 0 0 0 0 \/ 1/);
  }, { expected: /ERR_FAILED/ }));

test("keyboard alone: a position, its dice, a play, the cube", () =>
  visit(PAGES.served, "?p=0,1,0,0,1/0,1,1", async (page) => {
    const name = () => page.evaluate(() => document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent.trim());
    const tab = async (wanted, key = "Tab") => {
      for (let k = 0; k < 60; k++) {
        await page.keyboard.press(key);
        if ((await name()) === wanted) return;
      }
      assert.fail(`Tab does not reach ${wanted}`);
    };
    await page.keyboard.press("/");
    await page.keyboard.type("0,1,2,0,1/0,1,1,2");
    await page.keyboard.press("Enter");
    await settled(page);
    await tab("Cube in the middle");
    await page.keyboard.press("ArrowDown");
    await settled(page);
    assert.equal(search(page), "?p=0,1,2,0,1/0,1,1,2&cube=owned");
    await page.keyboard.press("ArrowUp");
    await tab("First die 1");
    await page.keyboard.press("ArrowLeft");
    await tab("Second die 1");
    await page.keyboard.press("Space");
    await settled(page);
    assert.equal(search(page), "?p=0,1,2,0,1/0,1,1,2&roll=61");
    await tab("5/off 3/2");
    await page.keyboard.press("Enter");
    await settled(page);
    assert.equal(search(page), "?p=0,1,1,2/0,2,1");
  }));

test("the cube and the plays do not wait for the grid of all rolls", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    let late;
    await page.route("**/v1/play*roll=all*", (route) => { late = route; }, { times: 1 });
    const box = page.getByRole("textbox", { name: "Position" });
    await box.fill("0,1,0,0,1/0,1,1");
    await box.press("Enter");
    await page.getByText("Double, take", { exact: true }).first().waitFor();
    assert.match(await status(page), /^Answered by ts_06x04/);
    assert.equal(await page.getByRole("main").getAttribute("aria-busy"), "true");
    assert.match((await cells(page, "All rolls"))[1].join(), /^1,1\/off/, "the grid before stays until the new one is there");
    await late.continue();
    await settled(page);
    assert.match((await cells(page, "All rolls"))[1].join(), /^1,5\//);
  }));

test("a late answer is dropped", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    let late;
    const asked = new Promise((go) => page.route("**/v1/probe*position=1%2C1*", (route) => { late = route; go(); }, { times: 1 }));
    await point(page, "Your", 2).click();
    await asked;
    await point(page, "Your", 3).click();
    await settled(page);
    await late.continue().catch(() => {});
    assert.match(await page.title(), /1 1 1 0 0 0 \/ 1/);
  }));

test("a late reading of a text is dropped, and the page is busy until it comes", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    let late;
    const asked = new Promise((go) => page.route("**/v1/race", (route) => { late = route; go(); }, { times: 1 }));
    const box = page.getByRole("textbox", { name: "Position" });
    await box.fill("nonsense");
    await box.press("Enter");
    await asked;
    assert.equal(await page.getByRole("main").getAttribute("aria-busy"), "true");
    await point(page, "Your", 2).click();
    await settled(page);
    await late.continue().catch(() => {});
    await page.waitForTimeout(300);
    assert.deepEqual([search(page), await box.getAttribute("aria-invalid")], ["?p=1,1/1", null]);
    assert.match(await status(page), /^Answered by /);
  }));

test("Escape stops the reading of a text that the server has begun", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    let late;
    const asked = new Promise((go) => page.route("**/v1/race", (route) => { late = route; go(); }, { times: 1 }));
    const box = page.getByRole("textbox", { name: "Position" });
    await box.fill("nonsense");
    await box.press("Enter");
    await asked;
    await box.press("Escape");
    await settled(page); // no answer has come, and the page is not busy
    await late.continue().catch(() => {});
    await page.waitForTimeout(300);
    assert.deepEqual([search(page), await box.inputValue(), await box.getAttribute("aria-invalid")], ["?p=1/1", "1/1", null]);
    assert.match(await status(page), /^Answered by /);
  }));

test("a server that fails is named", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    await page.route("**/v1/probe*", (route) => route.abort());
    await point(page, "Your", 2).click();
    await page.getByText(/^No answer: the server did not answer; trying again$/).waitFor();
    assert.equal(await page.getByText(/Not covered/).count(), 0);
    await page.unroute("**/v1/probe*");
    await settled(page);
    assert.match(await status(page), /^Answered by /);
    assert.match(await page.title(), /1 1 0 0 0 0 \/ 1/);
  }, { expected: /ERR_FAILED/ }));

test("while the server compiles the page is working, and asks again", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    const body = JSON.stringify({ error: { status: 503, code: "compiling", message: "ask again" } });
    await page.route("**/v1/probe*", (route) => route.fulfill({ status: 503, headers: { "Retry-After": "1" }, contentType: "application/json", body }));
    await point(page, "Your", 2).click();
    await page.getByText(/^Working: ask again$/).waitFor();
    assert.equal(await page.getByRole("main").getAttribute("aria-busy"), "true");
    await page.unroute("**/v1/probe*");
    await settled(page);
    assert.match(await status(page), /^Answered by /);
  }, { expected: /503/ }));

test("a table of hypergammon is asked, in contact too", async () => {
  for (const [query, verdict] of [["?p=0,0,0,0,0,0,0,0,0,1/0,0,0,0,0,0,0,0,1", /Double, pass/], ["?p=0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1/0,0,0,0,0,0,0,0,1&roll=61", /No double, beaver/]]) {
    await visit(process.env.BGFMT_HYPERGAMMON, query, async (page) => {
      assert.match(await status(page), /^Answered by hyper1\.bd/);
      assert.match(await page.locator("#action").textContent(), verdict);
    });
  }
});

for (const [mode, base] of Object.entries(PAGES)) {
  test(`what is pasted is answered at once, ${mode}`, () =>
    visit(base, "?p=0,1/1&roll=61&cube=owned&away=3-5", async (page) => {
      const paste = async (selector, text, address) => {
        await page.locator(selector).evaluate((element, data) => {
          const clipboardData = new DataTransfer();
          clipboardData.setData("text", data);
          if (element.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true })) && element.value !== undefined) element.value = data;
        }, text);
        await page.waitForURL((url) => url.search === address).catch(() => assert.equal(search(page), address));
        await settled(page);
      };
      // a bare Position ID says no dice, no cube and no score
      await paste("#position", "CgAAEAEAAAAAAA", "?p=0,1,0,0,1/0,1,1");
      const owned = "XGID=--A--A----------------aa--:0:1:1:61:0:0:0:0:10";
      await paste('#die1 [value="1"]', owned, "?p=0,1,0,0,1/0,1,1&roll=61&cube=owned&beavers=false");
      const said = "what would you do here?\nxgid=--A--A----------------aa--:0:0:1:52:0:0:0:0:10\nthank you\n";
      await paste("#position", said, "?p=0,1,0,0,1/0,1,1&roll=52&beavers=false");
      const gnubg = "GNU Backgammon  Position ID: CgAAEAEAAAAAAA\n                 Match ID   : cAkAAAAAAAAE\n";
      await paste("h1", gnubg, "?p=0,1,0,0,1/0,1,1");
    }));
}

test("a table that cannot be read is named, and the others answer", () =>
  visit(PAGES.static, "", async (page) => {
    await page.route("**/tables/os_p06.bd", (route) => route.fulfill({ status: 200, body: "no table at all, and no ranges" }));
    await page.goto(`${PAGES.static}?p=1/1`);
    await settled(page);
    assert.match(await status(page), /^Answered by ts_06x04\.bd, .* Not read: os_p06\.bd: no table that this reader knows/);
    assert.match((await cells(page, "Tables"))[2][1], /^Not read: os_p06\.bd/);
  }, { first: true }));

test("each reason is told once, and headlines are sentences", async () => {
  for (const base of Object.values(PAGES)) {
    await visit(base, "?p=0,0,0,0,0,0,3/2&roll=61", async (page) => {
      const text = await page.getByRole("main").textContent();
      const reason = (await status(page)).replace("Not covered: ", "").split(". ")[0].slice(0, 60);
      assert.equal(text.split(reason).length, 2, reason);
    });
  }
  await visit(PAGES.served, "?p=0,1,0,0,1/0,1,1&away=1-3&crawford=true", async (page) => {
    assert.equal(await page.locator("#action .verdict").textContent(), "There is no doubling in the Crawford game.");
    assert.match(await page.title(), /^There is no doubling/);
  });
});

for (const [mode, base] of Object.entries(PAGES)) test(`the race of chequers outside home: ${mode}`, () =>
  visit(base, "?p=0,0,0,0,0,0,3/0,0,0,0,0,0,0,0,0,0,2", async (page) => {
    const race = await cells(page, "Race");
    assert.deepEqual(race[1], ["Pips", "21", "22"]);
    if (mode === "served") return; // by a server that calculates nothing
    assert.deepEqual(race[2].slice(0, 2), ["Mean rolls", "3.3474"]);
    assert.match(await region(page, "Race").textContent(), /Calculated, numbers exact\./);
    await set(page, "2,1,1,0,1,0,0,1,0,0,1,0,2/1,1,1,2,1,0,1,0,1");
    assert.match((await cells(page, "Race"))[2][1], /^\d\.\d{4}$/);
  }));

test("a wide screen is used, a phone shows rolls before settings, and what failed is short", () =>
  visit(PAGES.served, "?p=0,1,2,0,1/0,1,1,2", async (page) => {
    const top = async (name) => (await page.locator(name).boundingBox()).y;
    await page.setViewportSize({ width: 1920, height: 1000 });
    const { width } = await page.getByRole("main").boundingBox();
    assert.ok(width > 1800, `${width} of 1920 are used`);
    await page.setViewportSize({ width: 390, height: 844 });
    assert.ok(await top("#rolls") < await top("#settings"));
    await page.setViewportSize({ width: 1280, height: 900 });
    await set(page, "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1/0,0,0,0,1");
    for (const name of ["#action", "#rolls", "#race"]) {
      const { height } = await page.locator(name).boundingBox();
      assert.ok(height < 160, `${name} is ${height} high`);
    }
  }));

test("before its tables are known the page says that it is loading", () =>
  visit(PAGES.served, "?p=1/1", async (page) => {
    let go;
    await page.route("**/v1/tables", (route) => { go = () => route.continue(); });
    await page.reload();
    assert.equal(await status(page), "Loading");
    while (!go) await page.waitForTimeout(20);
    await go();
    await settled(page);
    assert.match(await status(page), /^Answered/);
  }));

test("opened as a file the page says what to do", async () => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`file://${process.env.BGFMT_FOLDER}/index.html`);
  await page.locator('main[aria-busy="false"]').waitFor({ timeout: TIMEOUT });
  assert.match(await status(page), /^No answer: .* from a web server only.* python3 -m http\.server, then open http:\/\/localhost:8000\/$/);
  await page.context().close();
});

test("a script that cannot be loaded is no blank page", () =>
  visit(PAGES.static, "?p=1/1", async (page) => {
    await page.route("**/chart.js", (route) => route.abort());
    await page.reload();
    await page.getByText("No answer: A part of the page could not be loaded. Load the page again.").waitFor();
    assert.equal(await page.getByRole("main").getAttribute("aria-busy"), "false");
  }, { first: true, expected: /ERR_FAILED/ }));

test("actions by score say that they are calculated, how far it is, and can be cancelled", () =>
  visit(PAGES.static, "?p=2,3,3,3,2,2/1,2,4,2,3,3", async (page) => {
    const grid = region(page, "Actions by score");
    await page.getByText("Actions by score").click();
    await grid.getByText("Calculating the action at each score").waitFor({ timeout: 1000 });
    await grid.getByRole("progressbar").waitFor();
    await grid.getByRole("button", { name: "Cancel" }).click();
    const again = grid.getByRole("button", { name: "Calculate" });
    await again.waitFor();
    assert.equal(await grid.getByText("Calculating").count(), 0);
    await grid.getByRole("combobox").selectOption("3");
    await grid.getByRole("table").waitFor();
    assert.equal((await cells(page, "Actions by score")).length, 4);
    assert.equal(await grid.locator(".waiting").isVisible(), false);
  }, { first: true }));

const LONG = "a-table-with-a-very-long-name-and-no-blank-in-it-of-two-sided-equities-for-six-points-and-four-chequers-each.bd";

test("nothing leaves its card, and nothing scrolls sideways", async () => {
  const out = () => {
    const wide = document.documentElement.scrollWidth - window.innerWidth;
    const found = wide > 0 ? [`the page is ${wide} px too wide`] : [];
    for (const card of document.querySelectorAll("section, #ask, #tools, #settings, #answer, header, footer")) {
      const edge = card.getBoundingClientRect();
      if (!edge.width) continue;
      for (const one of card.querySelectorAll("*")) {
        const box = one.getBoundingClientRect();
        if (!box.width || one.closest(".unseen, .scroll") || one.closest("svg") !== null && one.tagName !== "svg") continue;
        if (box.left < edge.left - 1 || box.right > edge.right + 1) found.push(`${card.id || card.className || card.tagName} ${one.tagName} ${one.id} ${one.className}: ${Math.round(box.left - edge.left)} ${Math.round(box.right - edge.right)}`);
      }
    }
    for (const one of document.querySelectorAll("button, label:not([for]), summary, .verdict, th, h2")) {
      if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth && !one.closest(".unseen, .scroll")) found.push(`${one.tagName} ${one.id} "${one.textContent.trim().slice(0, 20)}" is cut`);
    }
    const fields = [...document.querySelectorAll("main input, main select, main button")].map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => box.width);
    for (const [k, [one, a]] of fields.entries()) {
      for (const [other, b] of fields.slice(k + 1)) {
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) found.push(`${one.id} lies over ${other.id}`);
      }
    }
    return found.slice(0, 5);
  };
  for (const [mode, base] of Object.entries(PAGES)) {
    for (const query of [`?p=${"1,".repeat(mode === "served" ? 11 : 5)}1/2,2,2,2,2,2&roll=61&away=12-14&met=${LONG}`, "?p=0,1,0,0,1/0,1,1&roll=61&away=12-14"]) {
      await visit(base, query, async (page) => {
        await page.evaluate((long) => {
          for (const cell of document.querySelectorAll("#tables tbody th")) cell.textContent = long;
          for (const note of document.querySelectorAll("#action .soft, #race .soft, #plays .soft, #status")) note.textContent = `From ${long}, numbers within 0.0001.`;
        }, LONG);
        for (const width of [280, 320, 360, 390, 430, 520, 599, 601, 639, 641, 700, 800, 900, 959, 961, 1024, 1280, 1440, 1599, 1601, 1920, 2560]) {
          await page.setViewportSize({ width, height: 900 });
          assert.deepEqual(await page.evaluate(out), [], `${mode} ${width} ${query}`);
        }
      });
    }
  }
});
