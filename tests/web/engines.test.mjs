// The page in a second and third browser engine: what players do first. BGFMT_ENGINES: JSON of {firefox, webkit}, the paths of those
// that there are; BGFMT_EXPECTED: JSON of [address, verdict, equities]; tests/extras/serve/test_page.py names them and BGFMT_SITE.

import assert from "node:assert/strict";
import { test } from "node:test";

import { browse, until } from "./driver.mjs";
import { serve } from "./folder.mjs";

/** Runs in the page: its answer, null while there is none. */
function answer() {
  const one = (selector) => document.querySelector(selector);
  if (!one("main[aria-busy=false]") || !one("#status").textContent) return null;
  const equities = [...document.querySelectorAll("#action tbody tr")].map((row) => row.children[1].textContent);
  return { status: one("#status").textContent, verdict: one("#action .verdict")?.textContent, search: location.search, equities };
}

/** Runs in the page: puts the page at an address into a frame. */
function frame(address) {
  document.body.replaceChildren(Object.assign(document.createElement("iframe"), { src: address, height: 800 }));
}

/** Runs in the page: how much wider than its frame that page is in a frame of a width, null while it has no answer. */
function wide(width) {
  const frame = Object.assign(document.querySelector("iframe"), { width });
  const page = frame.contentDocument;
  return page.querySelector("main[aria-busy=false] .verdict") && `${page.documentElement.scrollWidth - frame.clientWidth} px`;
}

for (const [engine, path] of Object.entries(JSON.parse(process.env.BGFMT_ENGINES))) {
  test(`the page in ${engine}`, async (t) => {
    const server = await serve(0, '"one"');
    const browser = await browse(engine, path);
    t.after(async () => {
      await browser.close();
      await server.close();
    });
    const base = `http://127.0.0.1:${server.port}/`;
    const answered = (search) => until(async () => {
      const found = await browser.run(answer);
      return found?.search === search && found;
    });
    for (const [address, verdict, equities] of JSON.parse(process.env.BGFMT_EXPECTED)) {
      await browser.go(base + address);
      const found = await answered(address);
      assert.deepEqual([found.verdict, found.equities], [verdict, equities], `${address}: ${found.status}`);
    }
    assert.deepEqual(server.asked.filter((one) => /^tables\/\S+$/.test(one)), []); // by ranges alone

    await browser.go(`${base}?p=0,1/0,1`);
    await answered("?p=0,1/0,1");
    await browser.keys("/", ..."0,1,0,0,1/0,1,1", "\uE007");
    const typed = await answered("?p=0,1,0,0,1/0,1,1");
    await browser.run(() => document.querySelector("#undo").click());
    await answered("?p=0,1/0,1");

    await until(() => browser.run(() => Boolean(navigator.serviceWorker.controller)));
    await server.close();
    await browser.go(`${base}?p=0,1,0,0,1/0,1,1`);
    const { verdict, equities } = await answered("?p=0,1,0,0,1/0,1,1");
    assert.deepEqual([verdict, equities], [typed.verdict, typed.equities]);

    const back = await serve(server.port, '"one"');
    t.after(back.close);
    await browser.go(`${base}nowhere`); //: a page without a policy
    await browser.run(frame, `${base}?p=1,1,1,1,1,1/2,2,2,2,2,2&roll=61&away=12-14`);
    for (const width of [320, 390, 768, 1280]) assert.match(await until(() => browser.run(wide, width)), /^(-\d+|0) px$/, `${width}`);
  });
}
