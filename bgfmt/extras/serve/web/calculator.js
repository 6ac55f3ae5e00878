// The page's side of worker.js: questions wait for one another, and a cancelled one ends the worker.

import { BgfmtError, NotCoveredError } from "./bgfmt.js";

let worker = null;
let last = Promise.resolve();

/** As `answer` of estimate.js, beside the page; `progress(done, total)` counts pairs of boards, or boards of a table. */
export function calculate(question, { signal, progress = () => {} }) {
  const found = last.then(() => ask(question, signal, progress));
  last = found.catch(() => {});
  return found;
}

function ask(question, signal, progress) {
  signal?.throwIfAborted();
  worker ??= new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  return new Promise((resolve, reject) => {
    const stop = (error) => { // what is under way cannot be asked to end
      worker.terminate();
      worker = null;
      reject(error);
    };
    const abort = () => stop(signal.reason);
    signal?.addEventListener("abort", abort, { once: true });
    worker.onerror = () => stop(new BgfmtError("the calculation could not be loaded", "network"));
    worker.postMessage(question);
    worker.onmessage = ({ data: { done, found, refused, message } }) => {
      if (done) return progress(...done);
      signal?.removeEventListener("abort", abort);
      if (found) return resolve(found);
      return reject(refused === "not_covered" ? new NotCoveredError(message) : new BgfmtError(message));
    };
  });
}
