// A site in Chromium that loses its server: what was read is answered again, what was not is said, and nothing old stays.
// tests/extras/serve/test_page.py names the folder in BGFMT_SITE.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chromium } from "playwright-core";

import { serve } from "./folder.mjs";

test("a site without its server", async (t) => {
  let server = await serve(0, '"one"');
  const browser = await chromium.launch({ executablePath: process.env.BGFMT_CHROMIUM, args: ["--no-sandbox"] });
  t.after(async () => {
    await browser.close();
    await server.close();
  });
  const page = await (await browser.newContext()).newPage();
  const url = (position) => `http://127.0.0.1:${server.port}/?p=${position}`;
  const answer = async (position, reload = false) => {
    await (reload ? page.reload() : page.goto(url(position)));
    await page.waitForSelector("main[aria-busy=false]");
    return page.textContent("#status");
  };
  const read = await answer("0,1,0,0,1/0,1,1");
  assert.match(read, /^Answered by/);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.waitForFunction(async () => (await (await caches.open("bgfmt-tables")).keys()).length > 3);
  const session = await page.context().newCDPSession(page);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  assert.deepEqual(installabilityErrors.map((e) => e.errorId).filter((id) => id !== "in-incognito"), []);
  assert.ok(!server.asked.includes("tables/os_p06.bd")); // no table is fetched whole
  assert.deepEqual(server.cached, []); // ranges by the browser's own cache would wait for one another

  const { port } = server;
  await server.close();
  assert.equal(await answer("0,1,0,0,1/0,1,1", true), read);
  const without = await answer("1,0,0,2,1/0,0,0,0,0,4"); // calculated, as its bytes are not kept
  assert.match(without, /^Answered by calculation, numbers exact\..* Not read: ts_06x04\.bgts: its server does not answer, and these numbers are not kept on this device\./);
  assert.doesNotMatch(await page.textContent("main"), /http:/);

  server = await serve(port, '"two"'); // the tables were replaced: what was kept of them is not mixed with what comes now
  assert.match(await answer("1,0,0,2,1/0,0,0,0,0,4", true), /^Answered by ts_06x04/);
  assert.equal(await answer("0,1,0,0,1/0,1,1"), read);
  const before = server.asked.length;
  assert.equal(await answer("0,1,0,0,1/0,1,1", true), read);
  assert.deepEqual(server.asked.slice(before).filter((name) => name.startsWith("tables/")), []); // kept again

  const questions = [];
  page.on("dialog", (dialog) => questions.push(dialog.message()) && dialog.accept());
  for (const name of ["ts_06x04.bgts", "os_p06.bd"]) {
    const button = page.getByRole("button", { name: `Keep ${name} on this device` });
    const shares = await button.evaluateHandle((one) => {
      const said = [];
      new MutationObserver(() => said.push(parseInt(one.textContent))).observe(one, { childList: true, subtree: true });
      return said;
    });
    await button.click();
    await page.waitForFunction((one) => one.textContent === "Kept", await button.elementHandle());
    const rising = (await shares.jsonValue()).filter((share) => share >= 0);
    assert.ok(rising.length && rising.every((share, k) => share >= (rising[k - 1] ?? 0) && share <= 100), `${rising}`);
  }
  assert.deepEqual(questions.map((text) => /ts_06x04.*fetches 143 KB|os_p06.*fetches 1.47 MB/.test(text)), [true, true]);
  await server.close();
  assert.match(await answer("0,0,0,0,2,2/0,0,1,0,1,1"), /^Answered by/); // read by nobody before
});

test("a server without ranges: what no table can say is calculated", async (t) => {
  const server = await serve(0, '"one"', false);
  const browser = await chromium.launch({ executablePath: process.env.BGFMT_CHROMIUM, args: ["--no-sandbox"] });
  t.after(async () => {
    await browser.close();
    await server.close();
  });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.port}/?p=0,1,0,0,1/0,1,1`);
  await page.waitForSelector("main[aria-busy=false]", { timeout: 60000 });
  assert.match(await page.textContent("#status"), /^Answered by calculation, .* Not read: .* does not support byte ranges/);
});
