// Where answers come from: a server (`bgfmt serve`), or tables read by byte range (`bgfmt site`). Both give the same
// objects, and nothing else in the page knows which it is.

import * as ask from "./ask.js";
import * as bgfmt from "./bgfmt.js";

const { BgfmtError, open, parse } = bgfmt;

/**
 * What went wrong, in the codes of the API: "not_covered", "bad_position", "busy", ...; "network" for everything
 * else. `retry`: seconds after which it may go well, where the server says so.
 */
export class AskError extends Error {
  constructor(code, message, retry = null) {
    super(message);
    this.code = code;
    this.retry = retry;
  }
}

/**
 * {title, features, mets, tables, answer(question, signal, progress, early) -> {probe, rolls}, `early(probe)` before the rolls are
 * there, read(text, signal) -> position, more: {scores, behind}, each (question, options, signal, progress) -> cube answer};
 * what nobody can is null.
 */
export async function connect() {
  return document.querySelector('meta[name="bgfmt"]').content === "site" ? site() : server();
}

async function json(path, signal, asked = null) {
  let response;
  try {
    const post = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked) };
    response = await fetch(path, { signal, ...(asked ? post : {}) });
    const body = await response.json();
    if (response.ok) return body;
    const retry = Number(response.headers.get("Retry-After")) || null;
    throw new AskError(response.status < 500 || retry ? body.error.code : "network", body.error.message, retry);
  } catch (error) {
    if (signal?.aborted || error instanceof AskError) throw error;
    const status = response && !response.ok ? ` (${response.status})` : "";
    throw new AskError("network", `the server did not answer${status}`);
  }
}

async function server() {
  const { features, tables, mets = [] } = await json("v1/tables");
  const query = (more) => new URLSearchParams(Object.entries(more).filter(([, value]) => value)).toString();
  const cube = (value) => (value === "centered" ? null : value);
  const answer = async (question, signal, progress, early) => {
    const common = { position: question.position, cube: cube(question.cube), ...question.match };
    const position = parse(question.position);
    if (!tables.some((t) => fits(t, position))) await calculable(position, common, signal);
    const asked = [
      json(`v1/probe?${query({ ...common, roll: question.roll })}`, signal),
      json(`v1/play?${query({ ...common, roll: "all", top: 1 })}`, signal),
    ];
    return both(asked, signal, early);
  };
  // the server knows more identifiers than the page does, and what programs put on the clipboard
  const read = async (text, signal) => {
    const { results: [found] } = await json("v1/race", signal, { positions: [text] }); // no error for the console, as in `calculable`
    if (found.error?.code.startsWith("bad_")) throw new AskError(found.error.code, found.error.message);
    return (await json(`v1/probe?${query({ position: text })}`, signal)).position;
  };
  // the actions at all scores, or what lies behind one; by POST as in `calculable`
  const more = async ({ position, cube: owner, match }, options, signal) => {
    const item = { position, cube: owner, settle: "true", ...match, ...options };
    const { results: [found] } = await json("v1/cube", signal, { positions: [item] });
    if (found.error) throw new AskError(found.error.code, found.error.message);
    return found;
  };
  return { title: "", features, mets, tables, answer, read, more: { scores: more, behind: more } };
}

/** Whether a table has the sizes of a position. */
function fits({ kind, points, chequers }, { us, them }) {
  const sides = them && bgfmt.chequers(them) ? [us, them] : [us];
  if (kind === "two-sided" && sides.length < 2) return false;
  return sides.every((side) => bgfmt.highest(side) <= points && bgfmt.chequers(side) <= chequers);
}

/**
 * What no table has the size for is perhaps calculated. Asked by POST, which says in its answer what there is not,
 * where GET would be an error that the browser writes into its console.
 */
async function calculable({ them }, { position, cube: owner, ...match }, signal) {
  const two = them && bgfmt.chequers(them);
  const item = two ? { position, settle: true, ...match } : { position };
  const { results: [found] } = await json(`v1/${two ? "cube" : "race"}`, signal, { positions: [item] });
  if (found.error) throw new AskError(found.error.code, found.error.message);
}

/** The probe, which must answer, and the plays of all rolls, which may say why not. */
async function both(asked, signal, early) {
  asked[0].then((probe) => signal?.aborted || early(probe), () => {});
  const [probe, rolls] = await Promise.allSettled(asked);
  signal?.throwIfAborted();
  if (probe.status === "rejected") throw probe.reason;
  if (rolls.status === "fulfilled") return { probe: probe.value, rolls: rolls.value };
  return { probe: probe.value, rolls: null, why: rolls.reason };
}

const SMALL = 16384; // bytes of a page: a cold answer reads one or two of each table
const AT_ONCE = 16; // requests; by HTTP/1.1 browsers send six
const UNASKED = 16 * 1024 * 1024; // bytes of a table that a server without ranges sends whole without a word

/** Say why a table cannot be read, with its name instead of its address. */
function whyNot({ name }, error) {
  if (error.code !== "network" || error.status) return error.message.replace(/^https?:\S+?: /, `${name}: `);
  const why = navigator.onLine ? "its server does not answer" : "there is no network";
  return `${name}: ${why}, and these numbers are not kept on this device`;
}

/** Tables of the folder itself. Each is opened when its first number is needed; what was read is kept by the browser. */
async function site() {
  navigator.serviceWorker?.register("sw.js").catch(() => {}); // without it the page needs a network
  const [{ keeping, keepWhole }, { title, tables, mets }] = await Promise.all([import("./kept.js"), json("site.json")]);
  const absolute = (url) => new URL(url, document.baseURI).href;
  const place = ({ url, parts }) => (parts ? { parts: parts.map((one) => ({ ...one, url: absolute(one.url) })) } : absolute(url));
  for (const entry of globalThis.caches ? tables.filter((t) => t.kind) : []) {
    entry.keep = async (progress) => {
      await navigator.storage?.persist?.();
      for (const { url, at = 0, size } of entry.parts ?? [entry]) { // parts overlap
        await keepWhole(absolute(url), size, { progress: (done) => progress(at + done) });
      }
    };
  }
  const opened = new Map();
  const begin = async (entry, wholeBytes = UNASKED) => {
    const pageBytes = entry.format === "bgfmt-ts" ? undefined : SMALL;
    try {
      return await open(place(entry), { name: entry.name, fetch: keeping, pageBytes, wholeBytes, concurrency: AT_ONCE });
    } catch (error) {
      const large = error.code === "no_ranges" && wholeBytes === UNASKED ? error.size : null;
      const said = `The server sends ${entry.name} whole only: fetch ${Math.ceil(large / 1e6)} MB?`;
      if (large && globalThis.confirm(said)) return begin(entry, large);
      throw error;
    }
  };
  const table = (entry) => {
    if (!opened.has(entry)) {
      const opening = begin(entry);
      // of a table that lies elsewhere nothing is known before
      opening.then(({ kind, points, chequers, positions, cubeful, gammon, size }) =>
        Object.assign(entry, { kind, points, chequers, positions, cubeful, gammon, size, failed: null })).catch((error) => {
        entry.failed = whyNot(entry, error);
        opened.delete(entry); // asked again next time
      });
      opened.set(entry, opening);
    }
    return opened.get(entry);
  };
  const told = (text) => (text === undefined ? undefined : text === "true");
  let held = null; // the match equity tables, once one is needed
  const metOf = async (name = mets[0]) => {
    held ??= json("mets.json").catch((error) => {
      held = null;
      throw error;
    });
    const found = (await held).find((one) => one.name === name);
    if (!found) throw new AskError("not_covered", `this page has no match equity table ${name}`);
    return found;
  };
  const calculate = async (...asked) => (await import("./calculator.js")).calculate(...asked); // not every visit needs it
  /** What the functions of ask.js take, from the texts of a question; `score`: a match equity table is needed. */
  const optionsOf = async ({ cube, match }, score) => {
    const { away, crawford, cube_value, jacoby, beavers, met, met_player, extend_met, settle } = match;
    const rules = { jacoby: told(jacoby), beavers: told(beavers), away, crawford: told(crawford), cube_value: cube_value && Number(cube_value) };
    const options = { cube, ...rules, calculate: settle === "false" ? null : calculate };
    if (!score) return options;
    return { ...options, met: await metOf(met), met_player: Number(met_player ?? 0), extend_met: told(extend_met) };
  };
  const answer = async (question, signal, progress, early) => {
    const { position, roll } = question;
    const common = { ...(await optionsOf(question, question.match.away)), signal, progress };
    return asked((there) => {
      const probe = ask.probe(there, position, { ...common, roll: roll ?? undefined });
      return [probe, probe.then(() => ask.play(there, position, "all", { ...common, top: 1 }))]; // what is waited for comes first
    }, signal, early);
  };
  const scores = async (question, { scores: upto }, signal, progress) => {
    const common = { ...(await optionsOf(question, true)), signal, progress };
    return named(ask.cube([], question.position, { ...common, scores: Number(upto) }), signal);
  };
  /** What lies behind a double takes thousands of records, too many of a large table that is read by byte range. */
  const behind = async (question, { insight }, signal, progress) => {
    const common = { ...(await optionsOf(question, true)), signal, insight, progress };
    const near = (there) => there.filter(({ format, size }) => format !== "bgfmt-ts" || size < UNASKED);
    return (await asked((there) => [ask.cube(near(there), question.position, common), null], signal, () => {})).probe;
  };
  const named = (promise, signal) => promise.catch((error) => {
    if (signal?.aborted || !(error instanceof BgfmtError)) throw error;
    throw new AskError(["not_covered", "bad_position"].includes(error.code) ? error.code : "network", error.message);
  });
  /** The answers to what is asked of the tables, those that can be opened. */
  const asked = async (questions, signal, early) => {
    const broken = new Map(); // tables that cannot be opened now, and why
    const lazy = (entry) => {
      const ask = (name) => async (...given) => {
        try {
          const found = await (await table(entry))[name](...given);
          entry.failed = null;
          return found;
        } catch (error) {
          if (signal?.aborted || ["not_covered", "bad_position"].includes(error.code)) throw error;
          entry.failed = whyNot(entry, error);
          broken.set(entry, error);
          throw error;
        }
      };
      return { ...entry, lookup: ask("lookup"), lookupMany: ask("lookupMany") };
    };
    await Promise.allSettled(tables.filter((t) => !t.kind).map(table));
    signal?.throwIfAborted();
    for (;;) {
      const there = tables.filter((t) => t.kind && !broken.has(t)).map(lazy);
      const before = broken.size;
      try {
        const found = await both(questions(there).map((one) => one && named(one, signal)), signal, early);
        if (broken.size === before) return found;
      } catch (error) {
        if (signal?.aborted) throw error;
        if (broken.size > before) continue; // without what cannot be read, the others answer, or calculation
        const lost = [...broken].find(([, { code }]) => code !== "no_ranges"); // asking again may help
        if (error.code === "not_covered" && lost && !there.length) throw new AskError("network", lost[0].failed);
        throw error;
      }
    }
  };
  return { title, features: ["match", "settle"], mets, tables, answer, read: null, more: { scores, behind } };
}
