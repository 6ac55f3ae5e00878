// Keeps the page for times without a network: its own files. What was read of tables the page keeps itself (kept.js).

const NAME = "bgfmt-page-@DIGEST@";
const FILES = @FILES@;
const PATIENCE = 3000; // milliseconds that a network may take before what is kept is shown

const addresses = new Set(FILES.map((file) => new URL(file, self.registration.scope).href));
const start = new URL("./", self.registration.scope).href;

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(NAME);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: "no-cache" })));
    await self.skipWaiting();
  })());
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((name) => name.startsWith("bgfmt-page-") && name !== NAME);
    await Promise.all(old.map((name) => caches.delete(name)));
    await self.clients.claim();
  })());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const address = request.url.replace(/[?#].*$/, "");
  const page = address === start || address === `${start}index.html`;
  if (request.method !== "GET" || !(page || addresses.has(address))) return;
  event.respondWith(page || address.endsWith("/site.json") ? fresh(request, page ? start : address) : kept(request, address));
});

/** Files whose address changes with their contents. */
async function kept(request, address) {
  return (await caches.match(address)) ?? fetch(request);
}

/** What may have changed: from the network where it answers in time. */
async function fresh(request, address) {
  const held = caches.match(address);
  const answer = fetch(request).then((response) => (response.ok ? response : held.then((one) => one ?? response)));
  const late = new Promise((go) => setTimeout(go, PATIENCE)).then(() => held).then((one) => one ?? answer);
  return Promise.race([answer, late]).catch(async (error) => {
    const one = await held;
    if (one) return one;
    throw error;
  });
}
