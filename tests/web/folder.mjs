// A site's folder on a web server that knows byte ranges, for tests. BGFMT_SITE: the folder.

import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";

const FOLDER = process.env.BGFMT_SITE;
const TYPES = { js: "text/javascript", html: "text/html", css: "text/css", json: "application/json", svg: "image/svg+xml", webmanifest: "application/manifest+json" };

/** The folder, by byte range unless the server knows no `ranges`; `tag` is its ETag, which says what version a table is of. */
export async function serve(port, tag, ranges = true) {
  const [asked, cached] = [[], []];
  const server = createServer((request, response) => {
    const name = new URL(request.url, "http://x").pathname.slice(1) || "index.html";
    asked.push(`${name} ${request.headers.range ?? ""}`.trim());
    if (!existsSync(join(FOLDER, name))) return response.writeHead(404, { "Content-Type": "text/html" }).end("<!doctype html>not found");
    const body = readFileSync(join(FOLDER, name));
    if (request.headers.range && request.headers["cache-control"] !== "no-cache") cached.push(name);
    const found = ranges && /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    const [first, last] = found ? [Number(found[1]), Math.min(Number(found[2]), body.length - 1)] : [0, body.length - 1];
    const headers = { "Content-Type": TYPES[name.split(".").pop()] ?? "application/octet-stream", "Cache-Control": "no-store" };
    if (name.startsWith("tables/")) headers.ETag = tag;
    if (found) headers["Content-Range"] = `bytes ${first}-${last}/${body.length}`;
    return response.writeHead(found ? 206 : 200, headers).end(body.subarray(first, last + 1));
  });
  await new Promise((ready) => server.listen(port, "127.0.0.1", ready));
  const close = () => new Promise((done) => {
    server.close(done);
    server.closeAllConnections();
  });
  return { asked, cached, port: server.address().port, close };
}
