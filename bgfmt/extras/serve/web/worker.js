// Calculates and estimates races beside the page: one question at a time, each with its progress.

import { answer } from "./estimate.js";

self.addEventListener("message", ({ data }) => {
  try {
    self.postMessage({ found: answer(data, (...done) => self.postMessage({ done })) });
  } catch (error) {
    self.postMessage({ refused: error.code ?? null, message: error.message });
  }
});
