// A small web server for tests: it serves one buffer by byte range, and misbehaves as told.

import { createServer } from "node:http";

/**
 * `serve(body, how)`: `how(request, response, index)` may answer in its own way and return true. Gives {url, asked,
 * close}, `asked` being the Range headers in order. `body` may be changed between requests by `set`.
 */
export async function serve(body, how = () => false) {
  const state = { body, tag: '"one"' };
  const asked = [];
  const server = createServer((request, response) => {
    const index = asked.push(`${request.method} ${request.headers.range ?? "all"}`) - 1;
    if (how(request, response, index, state)) return;
    ranged(request, response, state);
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${server.address().port}/table.bd`;
  const close = () => {
    server.closeAllConnections?.();
    server.close();
  };
  return { url, asked, state, close };
}

/** Answer as a good server does. `state.size` and `state.at(offset, length)` stand for a body too large to hold. */
export function ranged(request, response, { body, tag, size = body.length, at = (o, n) => body.subarray(o, o + n) }) {
  const found = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  if (!found) {
    response.writeHead(200, { "Content-Length": size, ETag: tag });
    response.end(at(0, size));
    return;
  }
  const first = Number(found[1]);
  if (first >= size) {
    response.writeHead(416, { "Content-Range": `bytes */${size}` });
    response.end();
    return;
  }
  const last = Math.min(Number(found[2]), size - 1);
  response.writeHead(206, { "Content-Range": `bytes ${first}-${last}/${size}`, "Content-Length": last - first + 1, ETag: tag });
  response.end(at(first, last - first + 1));
}
