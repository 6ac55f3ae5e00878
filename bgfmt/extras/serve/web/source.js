// Where answers come from: a server (`bgfmt serve`), or tables read by byte range (`bgfmt site`). Both give the same
// objects, and nothing else in the page knows which it is.

import * as ask from "./ask.js";
import * as bgfmt from "./bgfmt.js";

const { BgfmtError, open, parse } = bgfmt;

/**
 * What went wrong, in the codes of the API: "not_covered", "bad_position", "compiling", ...; "network" for everything
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
 * {title, features, mets, tables, answer(question, signal) -> {probe, rolls}, read(text) -> position,
 * more(question, options, signal) -> cube answer}; `read` and `more` are null where nobody can.
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
  const answer = async (question, signal) => {
    const common = { position: question.position, cube: cube(question.cube), ...question.match };
    const position = parse(question.position);
    if (!tables.some((t) => fits(t, position))) await calculable(position, common, signal);
    const asked = [
      json(`v1/probe?${query({ ...common, roll: question.roll })}`, signal),
      json(`v1/play?${query({ ...common, roll: "all", top: 1 })}`, signal),
    ];
    return both(asked, signal);
  };
  // the server knows more identifiers than the page does, and what programs put on the clipboard
  const read = async (text) => {
    const { results: [found] } = await json("v1/race", null, { positions: [text] }); // no error for the console, as in `calculable`
    if (found.error?.code.startsWith("bad_")) throw new AskError(found.error.code, found.error.message);
    return (await json(`v1/probe?${query({ position: text })}`)).position;
  };
  // the actions at all scores, or what lies behind one; by POST as in `calculable`
  const more = async ({ position, cube: owner, match }, options, signal) => {
    const item = { position, cube: owner, settle: "true", ...match, ...options };
    const { results: [found] } = await json("v1/cube", signal, { positions: [item] });
    if (found.error) throw new AskError(found.error.code, found.error.message);
    return found;
  };
  return { title: "", features, mets, tables, answer, read, more };
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
async function both(asked, signal) {
  const [probe, rolls] = await Promise.allSettled(asked);
  signal?.throwIfAborted();
  if (probe.status === "rejected") throw probe.reason;
  if (rolls.status === "fulfilled") return { probe: probe.value, rolls: rolls.value };
  return { probe: probe.value, rolls: null, why: rolls.reason };
}

async function site() {
  const { title, tables } = await json("site.json");
  const opened = new Map();
  const table = (entry) => {
    if (!opened.has(entry.name)) {
      const opening = open(new URL(entry.url, document.baseURI), { name: entry.name });
      // of a table that lies elsewhere nothing is known before
      opening.then((t) => Object.assign(entry, { kind: t.kind, points: t.points, chequers: t.chequers, size: t.size, failed: null })).catch((error) => {
        entry.failed = error.message;
        opened.delete(entry.name); // asked again next time
      });
      opened.set(entry.name, opening);
    }
    return opened.get(entry.name);
  };
  const answer = async (question, signal) => {
    const { position, roll, cube, match: { beavers, ...match } } = question;
    const settled = await Promise.allSettled(tables.map(table));
    signal?.throwIfAborted();
    const there = settled.filter((t) => t.status === "fulfilled").map((t) => t.value);
    const failed = settled.find((t) => t.status === "rejected");
    if (!there.length) throw new AskError("network", failed?.reason.message ?? "this page has no tables");
    const named = (promise) => promise.catch((error) => {
      if (signal?.aborted || !(error instanceof BgfmtError)) throw error;
      throw new AskError(["not_covered", "bad_position"].includes(error.code) ? error.code : "network", error.message);
    });
    const options = { cube, ...match, beavers: beavers && beavers === "true", signal };
    return both(
      [named(ask.probe(there, position, { ...options, roll: roll ?? undefined })), named(ask.play(there, position, "all", { ...options, top: 1 }))],
      signal,
    );
  };
  return { title, features: [], mets: [], tables, answer, read: null, more: null };
}
