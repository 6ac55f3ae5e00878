// Byte ranges, against servers that behave well and servers that do not.

import assert from "node:assert/strict";
import { test } from "node:test";

import { BgfmtError, count, open, RangeNotSupportedError } from "../bgfmt.js";
import { golden } from "./golden.js";
import { ranged, serve } from "./server.js";

const of = (code) => (error) => error instanceof BgfmtError && error.code === code && !/\n/.test(error.message);
const BODY = golden("ts_06x04.bd");
const FEW = { retries: 0, timeout: 2000 };

/** Run with a server, and close it whatever happens. */
async function on(how, visitor, body = BODY) {
  const server = await serve(body, how);
  try {
    await visitor(server);
  } finally {
    server.close();
  }
}

test("one request opens, neighbours are one request, nothing twice", () =>
  on(undefined, async ({ url, asked }) => {
    const table = await open(url);
    assert.deepEqual(asked, ["GET bytes=0-65535"]);
    assert.equal(table.size, BODY.length);
    const memory = await open(BODY);
    const numbers = [43000, 20000, 20000, 8190, 8191];
    const answers = await Promise.all([table.lookupMany(numbers), table.lookup(20000), table.lookup(43000)]);
    assert.deepEqual(answers[0], numbers.map((n) => memory.lookupSync(n)));
    assert.deepEqual(answers[1], memory.lookupSync(20000));
    assert.deepEqual(asked.slice(1).sort(), ["GET bytes=327680-352839", "GET bytes=65536-196607"]);
    assert.equal(new Set(asked).size, asked.length);
    const before = asked.length;
    await table.lookupMany(numbers);
    assert.equal(asked.length, before);
    const { requests, bytes, pages } = table.stats();
    assert.equal(requests, asked.length);
    assert.ok(bytes <= BODY.length && pages >= 3);
  }));

test("pages with one other between them are one request, further ones are not", () =>
  on(undefined, async ({ url, asked }) => {
    const table = await open(url, { pageBytes: 4096 });
    const at = (page) => Math.floor((page * 4096) / 8);
    await table.lookupMany([at(10), at(12), at(15)]);
    assert.deepEqual(asked.slice(1), [`GET bytes=${10 * 4096}-${13 * 4096 - 1}`, `GET bytes=${15 * 4096}-${16 * 4096 - 1}`]);
    await table.lookupMany([at(30), at(40)], { gapPages: 100 });
    assert.equal(asked[3], `GET bytes=${30 * 4096}-${41 * 4096 - 1}`);
  }));

test("a server without ranges: small files whole, large ones not at all", async () => {
  const whole = (request, response, _, { body }) => {
    response.writeHead(200, { "Content-Length": body.length });
    response.end(body);
    return true;
  };
  await on(whole, async ({ url, asked }) => {
    const table = await open(url);
    assert.equal((await table.lookup("0,1,0,0,1/0,1,1")).centered, 0.16050970554351807);
    assert.equal(table.lookupSync(3374).position_number, 3374);
    assert.equal(asked.length, 1);
    await assert.rejects(open(url, { wholeBytes: 1000 }), (error) => {
      assert.ok(error instanceof RangeNotSupportedError);
      return /352,840/.test(error.message) && /1,000/.test(error.message);
    });
  });
  let sent = 0;
  const endless = (request, response) => {
    response.writeHead(200);
    response.write("gnubg-TS-06-15-1".padEnd(39, "x") + "\n");
    const more = () => response.write(Buffer.alloc(65536)) && setImmediate(more);
    response.on("drain", more);
    const timer = setInterval(() => { sent += 1; }, 10);
    response.on("close", () => clearInterval(timer));
    more();
    return true;
  };
  await on(endless, async ({ url }) => {
    await assert.rejects(open(url, { wholeBytes: 1 << 20 }), (error) => /23,556,653,608/.test(error.message) && error.code === "no_ranges");
  });
  assert.ok(sent < 100);
});

test("hidden Content-Range: the size follows from the table", () => {
  const hidden = (request, response, _, state) => {
    const { writeHead } = response;
    response.writeHead = (status, headers) => {
      delete headers["Content-Range"];
      delete headers.ETag;
      return writeHead.call(response, status, headers);
    };
    ranged(request, response, state);
    return true;
  };
  const all = ["ts_06x04.bd", "os_p06.bd", "os_p04.bd", "os_p03.bd", "ts_01x01.bd", "os_p04_nd.bd"].map((name) =>
    on(hidden, async ({ url }) => {
      const table = await open(url);
      const memory = await open(golden(name));
      assert.equal(table.size, memory.size, name);
      const last = (table.kind === "two-sided" ? table.positions ** 2 : table.positions) - 1;
      assert.deepEqual(await table.lookupMany([0, last, last >> 1]), await memory.lookupMany([0, last, last >> 1]));
    }, golden(name)));
  return Promise.all(all);
});

test("wrong ranges", async () => {
  const shifted = (request, response, index) => {
    if (index === 0) return false;
    response.writeHead(206, { "Content-Range": `bytes 0-65535/${BODY.length}`, ETag: '"one"' });
    response.end(BODY.subarray(0, 65536));
    return true;
  };
  const long = (request, response, index) => {
    if (index === 0) return false;
    const [first, last] = request.headers.range.slice(6).split("-");
    response.writeHead(206, { "Content-Range": `bytes ${first}-${last}/${BODY.length}`, ETag: '"one"' });
    response.end(Buffer.alloc(1 << 20));
    return true;
  };
  const many = (request, response, index) => {
    if (index === 0) return false;
    response.writeHead(206, { "Content-Type": "multipart/byteranges; boundary=x", ETag: '"one"' });
    response.end("--x--");
    return true;
  };
  const odd = (request, response) => {
    response.writeHead(206, { "Content-Range": "lines 1-2/3" });
    response.end("abc");
    return true;
  };
  for (const how of [shifted, long, many]) {
    await on(how, async ({ url }) => {
      const table = await open(url, FEW);
      await assert.rejects(table.lookup(40000), of("network"), how.name);
      assert.ok((await table.lookup(1)).win >= 0); // what was fetched before stays good
    });
  }
  await on(odd, async ({ url }) => assert.rejects(open(url, FEW), of("network")));
});

test("cut connections are tried again, and named when that does not help", async () => {
  let left = 2;
  const cut = (request, response, index) => {
    if (index === 0 || left-- <= 0) return false;
    const [first, last] = request.headers.range.slice(6).split("-").map(Number);
    response.writeHead(206, { "Content-Range": `bytes ${first}-${last}/${BODY.length}`, "Content-Length": last - first + 1, ETag: '"one"' });
    response.write(BODY.subarray(first, first + 1000), () => response.destroy());
    return true;
  };
  await on(cut, async ({ url, asked }) => {
    const table = await open(url);
    assert.deepEqual(await table.lookup(20000), (await open(BODY)).lookupSync(20000));
    assert.equal(asked.length, 4);
    left = 100;
    await assert.rejects(table.lookup(40000), of("network"));
    assert.equal(asked.length, 7);
    left = 0;
    assert.equal((await table.lookup(40000)).position_number, 40000);
  });
});

test("503 with Retry-After, 404, a slow server", async () => {
  let begun = 0;
  const busy = (request, response, index) => {
    if (index > 0) return false;
    begun = Date.now();
    response.writeHead(503, { "Retry-After": "1" });
    response.end();
    return true;
  };
  await on(busy, async ({ url }) => {
    await open(url);
    assert.ok(Date.now() - begun >= 990);
  });
  const gone = (request, response) => response.writeHead(404).end() !== null;
  await on(gone, async ({ url, asked }) => {
    await assert.rejects(open(url), (error) => error.code === "network" && error.status === 404);
    assert.equal(asked.length, 1);
  });
  await on(() => true, async ({ url }) => assert.rejects(open(url, { timeout: 50, retries: 1 }), of("network")));
  await assert.rejects(open("http://127.0.0.1:1/x.bd", { retries: 0 }), of("network"));
});

test("a replaced file is opened anew once", async () => {
  const other = golden("ts_05x04.bd");
  await on(undefined, async ({ url, state }) => {
    const table = await open(url);
    Object.assign(state, { body: other, tag: '"two"' });
    assert.deepEqual(await table.lookup(15000), (await open(other)).lookupSync(15000));
    assert.equal(table.points, 5);
    assert.deepEqual(await table.lookup(1), (await open(other)).lookupSync(1));
  });
  let turn = 0;
  const fickle = (request, response, _, state) => {
    state.tag = `"${turn++}"`;
    return false;
  };
  await on(fickle, async ({ url }) => {
    const table = await open(url);
    await assert.rejects(table.lookup(40000), of("changed"));
  });
  const whole = (request, response, index) => {
    if (index !== 1) return false;
    response.writeHead(200, { ETag: '"three"' }); // what a browser's own If-Range brings
    response.end(BODY);
    return true;
  };
  await on(whole, async ({ url, asked }) => {
    const table = await open(url);
    assert.equal((await table.lookup(40000)).position_number, 40000);
    assert.deepEqual(asked.slice(2), ["GET bytes=0-65535", "GET bytes=262144-327679"].slice(0, asked.length - 2));
  });
  await on(undefined, async ({ url, state }) => {
    const table = await open(url);
    Object.assign(state, { body: golden("ts_01x01.bd"), tag: '"one"' }); // 416 and another size
    await assert.rejects(table.lookup(40000), of("not_covered"));
    assert.equal(table.positions, 2);
  });
});

test("a file cut short is told at open", async () => {
  await on(undefined, async ({ url }) => assert.rejects(open(url), of("truncated")), BODY.subarray(0, 200000));
  await on(undefined, async ({ url }) => assert.rejects(open(url), of("truncated")), golden("os_p06.bd").subarray(0, 500000));
  await on(undefined, async ({ url }) => assert.rejects(open(url), of("format")), Buffer.alloc(0));
  await on(undefined, async ({ url }) => assert.rejects(open(url), of("format")), Buffer.from("<html>not a table</html>"));
});

test("abort and close", async () => {
  const hang = (request, response, index) => index > 0;
  await on(hang, async ({ url }) => {
    const table = await open(url);
    const control = new AbortController();
    const first = table.lookup(40000, { signal: control.signal });
    const second = table.lookup(40000);
    control.abort();
    await assert.rejects(first, { name: "AbortError" });
    table.close();
    await assert.rejects(second, of("closed"));
  });
  await on(() => true, async ({ url }) => {
    const control = new AbortController();
    const opening = open(url, { signal: control.signal });
    control.abort(new Error("enough"));
    await assert.rejects(opening, { message: "enough" });
  });
  let stalled = true;
  const once = (request, response, index) => index > 0 && stalled;
  await on(once, async ({ url }) => {
    const table = await open(url);
    const control = new AbortController();
    const first = table.lookup(40000, { signal: control.signal });
    await new Promise((go) => setTimeout(go, 50));
    stalled = false;
    control.abort();
    await assert.rejects(first, { name: "AbortError" });
    assert.equal((await table.lookup(40000)).position_number, 40000); // not the request that was aborted
  });
});

test("no more requests at once than asked for", async () => {
  let under = 0;
  let most = 0;
  const watched = (request, response, _, state) => {
    most = Math.max(most, ++under);
    setTimeout(() => { under--; ranged(request, response, state); }, 15);
    return true;
  };
  await on(watched, async ({ url }) => {
    const table = await open(url, { pageBytes: 4096, concurrency: 3, gapPages: 0 });
    await table.lookupMany(Array.from({ length: 20 }, (_, k) => k * 2000));
    assert.equal(most, 3);
  });
});

test("headers and a password are the server's alone", () =>
  on((request, response) => {
    const known = request.headers["x-key"] === "7" || request.headers.authorization === `Basic ${btoa("me:hid den")}`;
    return !known && response.writeHead(403).end() !== null;
  }, async ({ url }) => {
    assert.equal((await open(url, { headers: { "X-Key": "7" } })).points, 6);
    await assert.rejects(open(url), (error) => error.status === 403);
    const table = await open(url.replace("http://", "http://me:hid%20den@"));
    assert.equal(table.name, url);
    await assert.rejects(open(url.replace("http://", "http://me:other@")), (error) => error.status === 403 && !/other/.test(error.message));
  }));

test("numbers far beyond 32 bits", async () => {
  const n = count(6, 15);
  const size = 40 + n * n * 8;
  const header = Buffer.from("gnubg-TS-06-15-1".padEnd(39, "x") + "\n");
  const at = (offset, length) => {
    const bytes = Buffer.alloc(length);
    for (let k = 0; k < length; k++) bytes[k] = offset + k < 40 ? header[offset + k] : Math.floor((offset + k - 40) / 8) % 251;
    return bytes;
  };
  const huge = (request, response) => {
    ranged(request, response, { body: header, tag: '"big"', size, at });
    return true;
  };
  await on(huge, async ({ url, asked }) => {
    const table = await open(url);
    assert.equal(table.size, 23556653608);
    const last = n * n - 1;
    const answer = await table.lookup(last);
    assert.equal(answer.position, "0 0 0 0 0 15 / 0 0 0 0 0 15");
    const value = (number) => Math.fround(Math.fround((number % 251) * 257 * Math.fround(1 / 32767.5)) - 1);
    assert.ok(Math.abs(answer.cubeless - value(last)) < 1e-6);
    assert.equal(asked.length, 2);
    const row = Array.from({ length: 200 }, (_, k) => 54263 * n + k * 271);
    await table.lookupMany(row, { gapPages: 16 });
    assert.equal(asked.length, 3);
    assert.equal((await table.lookup(BigInt(last))).position_number, last);
  });
});
