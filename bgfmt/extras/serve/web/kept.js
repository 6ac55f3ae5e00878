// Bytes of tables that were read, kept by the browser for later visits and for times without a network.
//
// `keeping` is a `fetch` for the reader of tables: an answer to a byte range is kept in blocks, and a range whose blocks
// are all there needs no network. A file that was replaced (its ETag, date or size says so) loses its blocks.

const NAME = "bgfmt-tables";
const BLOCK = 16384;
const MOST = 256 * 1024 * 1024; // bytes kept without being asked for
const PIECE = 64 * BLOCK;

const opened = () => (globalThis.caches ? caches.open(NAME).catch(() => null) : null); // none where a page is not secure
const blockOf = (url, block) => `${url}#`.replace(/#.*$/, `${url.includes("?") ? "&" : "?"}bgfmt-block=${block}`);
const factsOf = (url) => blockOf(url, "facts");
const wholeOf = (url) => blockOf(url, "whole"); // of a file that is kept because somebody asked for it

let dropped = 0; // counts the times that blocks were let go, so that none is kept of a file that was replaced meanwhile
let unmeasured = 0;
let settled = Promise.resolve(true); // whether the newest bytes could be kept

/** As `fetch`, for GET with one byte range. */
export async function keeping(url, settings = {}) {
  const range = /^bytes=(\d+)-(\d+)$/.exec(new Headers(settings.headers).get("Range") ?? "");
  const cache = range && (await opened());
  if (!cache) return fetch(url, settings);
  const [first, last] = [Number(range[1]), Number(range[2])];
  if (settings.cache === "reload" || settings.cache === "no-store") await drop(cache, url);
  else {
    const found = await held(cache, url, first, last).catch(() => null);
    if (found) return found;
  }
  // browsers hold requests for one file behind one another while their own cache fills
  const response = await fetch(url, { ...settings, cache: settings.cache ?? "no-store" });
  const facts = response.status === 206 ? told(response) : null;
  if (!facts || facts.first !== first) return response;
  const bytes = await response.arrayBuffer();
  settled = keep(cache, url, facts, bytes).then(() => true, () => false); // where there is no room it is read again
  return new Response(bytes, { status: 206, headers: response.headers });
}

/** Read a whole file, so that all of it is kept; `progress(bytes)` after each piece. */
export async function keepWhole(url, size, { signal, progress = () => {} } = {}) {
  await (await opened())?.put(wholeOf(url), new Response(""));
  for (let at = 0; at < size; at += PIECE) {
    const last = Math.min(at + PIECE, size) - 1;
    const response = await keeping(url, { signal, headers: { Range: `bytes=${at}-${last}` } });
    if (response.status !== 206) throw new Error(`the server answered ${response.status}`);
    await response.arrayBuffer();
    if (!(await settled)) throw new Error("there is no room to keep it");
    progress(last + 1);
  }
}

/** What a 206 says: where its bytes lie, the size of the file, and what tells a replaced one. */
function told(response) {
  const found = /^bytes (\d+)-(\d+)\/(\d+)$/i.exec(response.headers.get("Content-Range") ?? "");
  if (!found) return null; // another origin hides it
  const mark = response.headers.get("ETag") ?? response.headers.get("Last-Modified");
  const header = response.headers.has("ETag") ? "ETag" : "Last-Modified";
  return { first: Number(found[1]), size: Number(found[3]), mark, header };
}

async function held(cache, url, first, last) {
  const said = await cache.match(factsOf(url));
  if (!said) return null;
  const { size, mark, header } = await said.json();
  const end = Math.min(last + 1, size);
  if (first >= end) return null;
  const from = Math.floor(first / BLOCK);
  const there = [];
  for (let block = from; block * BLOCK < end; block++) {
    const one = await cache.match(blockOf(url, block));
    if (!one) return null;
    there.push(one.blob());
  }
  const bytes = await new Blob(await Promise.all(there)).slice(first - from * BLOCK, end - from * BLOCK).arrayBuffer();
  if (bytes.byteLength !== end - first) return null;
  const headers = { "Content-Range": `bytes ${first}-${end - 1}/${size}`, "Content-Length": String(end - first) };
  return new Response(bytes, { status: 206, headers: mark ? { ...headers, [header]: mark } : headers });
}

async function keep(cache, url, { first, size, mark, header }, bytes) {
  const before = dropped;
  const said = await cache.match(factsOf(url));
  const known = said && (await said.json());
  if (known && (known.size !== size || known.mark !== mark)) await drop(cache, url);
  else if (dropped !== before) return;
  const now = dropped;
  if (!known || known.mark !== mark || known.size !== size) {
    await cache.put(factsOf(url), new Response(JSON.stringify({ size, mark, header })));
  }
  for (let block = Math.ceil(first / BLOCK); ; block++) {
    const [from, end] = [block * BLOCK, Math.min((block + 1) * BLOCK, size)];
    if (from >= end || end > first + bytes.byteLength || dropped !== now) break;
    await cache.put(blockOf(url, block), new Response(bytes.slice(from - first, end - first)));
    unmeasured += 1;
  }
  if (unmeasured * BLOCK * 16 > MOST) await bound(cache);
}

/** Let the oldest quarter go where too much is kept that nobody asked for. */
async function bound(cache) {
  unmeasured = 0;
  const keys = await cache.keys();
  const fileOf = ({ url }) => url.replace(/[^=]*$/, "");
  const whole = new Set(keys.filter((key) => key.url.endsWith("=whole")).map(fileOf));
  const blocks = keys.filter((key) => /=\d+$/.test(key.url) && !whole.has(fileOf(key)));
  if (blocks.length * BLOCK <= MOST) return;
  await Promise.all(blocks.slice(0, Math.floor(blocks.length / 4)).map((key) => cache.delete(key)));
}

async function drop(cache, url) {
  dropped += 1;
  const start = blockOf(url, "");
  const keys = (await cache.keys()).filter((key) => key.url.startsWith(start));
  await Promise.all(keys.map((key) => cache.delete(key)));
}
