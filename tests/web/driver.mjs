// Firefox by its Marionette protocol and WebKit by WebDriver: one command has the same parameters in both. No dependency.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const COMMANDS = { // a command of Marionette: method and path of WebDriver
  Navigate: "POST /url", ExecuteScript: "POST /execute/sync", PerformActions: "POST /actions",
  SetTimeouts: "POST /timeouts", DeleteSession: "DELETE ",
};
const PATIENCE = 240000; // ms that a busy machine may take

/** What `found` gives, once it gives something. */
export async function until(found) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await pause(50)) {
    const there = await found();
    if (there) return there;
  }
  throw new Error(`not within ${PATIENCE} ms: ${found}`);
}

async function firefox(path, folder) {
  writeFileSync(join(folder, "user.js"), 'user_pref("marionette.port", 0);\n');
  const child = spawn(path, ["--headless", "--marionette", "--no-remote", "--profile", folder], { stdio: "ignore" });
  const file = join(folder, "MarionetteActivePort");
  const port = Number(await until(() => existsSync(file) && readFileSync(file, "utf8")));
  const socket = createConnection(port, "127.0.0.1");
  const waiting = new Map();
  let held = Buffer.alloc(0);
  socket.on("data", (more) => {
    held = Buffer.concat([held, more]);
    for (let colon; (colon = held.indexOf(":")) > 0;) {
      const end = colon + 1 + Number(held.subarray(0, colon));
      if (held.length < end) return;
      const said = JSON.parse(held.subarray(colon + 1, end));
      held = held.subarray(end);
      if (!Array.isArray(said)) continue; // its greeting
      const [, number, error, value] = said;
      const [resolve, reject] = waiting.get(number);
      if (error) reject(new Error(`${error.error}: ${error.message}`));
      else resolve(value && "value" in value ? value.value : value);
    }
  });
  const ask = (name, parameters) => new Promise((resolve, reject) => {
    const number = waiting.size + 1;
    waiting.set(number, [resolve, reject]);
    const text = JSON.stringify([0, number, `WebDriver:${name}`, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
  });
  await ask("NewSession", {});
  return { child, ask, close: () => socket.destroy() };
}

async function webkit(path) {
  const port = await new Promise((free) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port: found } = server.address();
      server.close(() => free(found));
    });
  });
  const child = spawn("xvfb-run", ["-a", path, `--port=${port}`], { stdio: "ignore", detached: true });
  const post = async (method, address, body) => {
    const answer = await fetch(`http://127.0.0.1:${port}${address}`, { method, body: method === "POST" ? JSON.stringify(body) : undefined });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  await until(() => post("GET", "/status").catch(() => null));
  const { sessionId } = await post("POST", "/session", { capabilities: {} });
  const ask = (name, parameters) => {
    const [method, address] = COMMANDS[name].split(" ");
    return post(method, `/session/${sessionId}${address}`, parameters);
  };
  return { child, ask, close: () => {} };
}

/** A browser: {go(url), run(function, ...arguments), keys(...), close()}; a function runs in the page. */
export async function browse(engine, path) {
  const folder = mkdtempSync(join(tmpdir(), "bgfmt-"));
  const { child, ask, close } = await { firefox, webkit }[engine](path, folder);
  await ask("SetTimeouts", { script: 120000, pageLoad: 120000 });
  return {
    go: (url) => ask("Navigate", { url }),
    run: (fn, ...args) => ask("ExecuteScript", { script: `return (${fn})(...arguments);`, args }),
    keys: (...all) => ask("PerformActions", {
      actions: [{ type: "key", id: "keys", actions: all.flatMap((value) => [{ type: "keyDown", value }, { type: "keyUp", value }]) }],
    }),
    async close() {
      await ask("DeleteSession", {}).catch(() => {});
      close();
      if (child.exitCode === null) {
        const ended = new Promise((end) => child.once("exit", end));
        if (engine === "webkit") process.kill(-child.pid);
        else child.kill();
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
