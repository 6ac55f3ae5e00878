// Calculates races beside the page: one question at a time, each with its progress.

import { calculate } from "./calculate.js";

self.addEventListener("message", ({ data }) => {
  try {
    self.postMessage({ found: calculate(data, (...done) => self.postMessage({ done })) });
  } catch (error) {
    self.postMessage({ refused: error.code ?? null, message: error.message });
  }
});
