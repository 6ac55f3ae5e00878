// The other half of benchmarks/ranges.py: a server with a delay, and plugins/js in node and in Chromium.

import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { gzipSync } from "node:zlib";

import { open } from "../bgfmt.js";

const [folder, delay] = [process.argv[2], Number(process.argv[3])];
const TYPES = { js: "text/javascript", html: "text/html", css: "text/css", json: "application/json", svg: "image/svg+xml" };
const say = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
let touched = new Set();
let sent = 0;

const server = createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, "http://x").pathname.slice(1)) || "index.html";
  const path = join(folder, name);
  setTimeout(() => {
    if (!existsSync(path)) return response.writeHead(404).end();
    const { size } = statSync(path);
    const found = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const headers = { "Content-Type": TYPES[name.split(".").pop()] ?? "application/octet-stream", ETag: '"1"', "Accept-Ranges": "bytes" };
    const [first, last] = found ? [Number(found[1]), Math.min(Number(found[2]), size - 1)] : [0, size - 1];
    if (found) {
      touched.add(name);
      headers["Content-Range"] = `bytes ${first}-${last}/${size}`;
    }
    if (!found && /gzip/.test(request.headers["accept-encoding"] ?? "")) {
      const body = gzipSync(readFileSync(path));
      sent += body.length;
      return response.writeHead(200, { ...headers, "Content-Encoding": "gzip", "Content-Length": body.length }).end(body);
    }
    sent += last - first + 1;
    response.writeHead(found ? 206 : 200, { ...headers, "Content-Length": last - first + 1 });
    return createReadStream(path, { start: first, end: last }).pipe(response);
  }, delay);
});
await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
const url = `http://127.0.0.1:${server.address().port}/`;
say({ url });

/** Runs in node and, as text, in a page. */
async function ask(openTable, base, entry, { numbers, values }) {
  const parts = (entry.parts ?? [{ url: entry.url, size: entry.size }]).map((p) => ({ ...p, url: new URL(p.url, base).href }));
  const begin = performance.now();
  const { requests, bytes } = (await openTable({ parts })).stats();
  const opening = `${requests} requests, ${bytes} bytes, ${Math.round(performance.now() - begin)} ms`;
  const table = await openTable({ parts }, { cachePages: 2 });
  const found = { milliseconds: [], requests: [], bytes: [], right: 0, wrong: [] };
  for (const [k, number] of numbers.entries()) {
    const [before, start] = [table.stats(), performance.now()];
    const answer = await table.lookup(number);
    found.milliseconds.push(performance.now() - start);
    const after = table.stats();
    found.requests.push(after.requests - before.requests);
    found.bytes.push(after.bytes - before.bytes);
    const same = ["cubeless", "owned", "centered", "opponent"].every((name, c) => Object.is(answer[name], values[k][c]));
    found.right += Number(same);
  }
  return { opening, found };
}

await new Promise((go) => createInterface({ input: process.stdin }).once("line", go));
const asked = JSON.parse(readFileSync(join(folder, "asked.json"), "utf8"));
const entry = JSON.parse(readFileSync(join(folder, "site.json"), "utf8")).tables[0];
const report = (what, { opening, found }) => {
  say({ what, opening });
  say({ what, ...found, parts: [...touched].filter((name) => name.startsWith("tables/")).length });
  touched = new Set();
};
touched = new Set();
report("node", await ask(open, url, entry, asked));
const chromium = process.env.CHROMIUM ?? "/usr/bin/chromium";
const modules = new URL("../../../tests/web/node_modules/playwright-core/", import.meta.url);
if (existsSync(chromium) && existsSync(modules)) {
  const { chromium: browsers } = createRequire(import.meta.url)(modules.pathname);
  const browser = await browsers.launch({ executablePath: chromium, args: ["--no-sandbox"] });
  const page = await browser.newPage();
  await page.goto(url);
  const script = await page.evaluate(() => document.querySelector("script[type=module]").src);
  touched = new Set();
  const run = `async ([script, entry, asked]) => {
    const { open } = await import(new URL("bgfmt.js", script).href);
    return (${ask})(open, document.baseURI, entry, asked);
  }`;
  report("chromium", await page.evaluate(`(${run})(${JSON.stringify([script, entry, asked])})`));
  for (const [name, slow] of [["page", null], ["page, 3G", { offline: false, latency: 150, downloadThroughput: 2e5, uploadThroughput: 9e4 }]]) {
    const fresh = await (await browser.newContext({ serviceWorkers: "block" })).newPage();
    if (slow) await (await fresh.context().newCDPSession(fresh)).send("Network.emulateNetworkConditions", slow);
    sent = 0;
    const begin = performance.now();
    await fresh.goto(`${url}?p=0,1,0,0,1/0,1,1`);
    await fresh.waitForFunction(() => document.querySelector("#status").textContent.startsWith("Answered"));
    say({ page: name, milliseconds: Math.round(performance.now() - begin), bytes: sent });
  }
  await browser.close();
}
server.closeAllConnections();
server.close();
process.exit(0);
