// The HTML reports of `bgfmt annotate` and `bgfmt verify` in headless Chromium: nothing is cut, nothing scrolls
// sideways. BGFMT_REPORT: the file; BGFMT_CHROMIUM: the browser. Run by tests/extras/matches/test_annotate_page.py and
// tests/verifier/test_truth.py.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chromium } from "playwright-core";

test("the report fits a phone, a tablet and a desk", async (t) => {
  const browser = await chromium.launch({ executablePath: process.env.BGFMT_CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(process.env.BGFMT_REPORT);
  for (const summary of await page.locator("summary").all()) await summary.click();
  for (const width of [320, 390, 768, 1280, 1920]) {
    await page.setViewportSize({ width, height: 900 });
    const wrong = await page.evaluate(() => {
      const found = [];
      const most = document.documentElement.clientWidth;
      if (document.documentElement.scrollWidth > most) found.push(`the page is ${document.documentElement.scrollWidth} wide`);
      for (const one of document.querySelectorAll("main *:not(svg *)")) {
        const { left, right, width: wide } = one.getBoundingClientRect();
        if (wide && (left < 0 || right > most + 0.5)) found.push(`${one.tagName}.${one.className} reaches from ${left} to ${right}`);
      }
      for (const card of document.querySelectorAll(".card")) {
        const edge = card.getBoundingClientRect().right;
        for (const one of card.querySelectorAll("table, svg, p")) {
          if (one.getBoundingClientRect().right > edge) found.push(`${one.tagName} leaves its card`);
        }
      }
      return found.slice(0, 5);
    });
    assert.deepEqual(wrong, [], `${width}`);
  }
});
