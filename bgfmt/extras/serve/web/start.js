// Says why the page does not start, where its modules cannot be loaded: those need a web server. No module itself.

(() => {
  const FILE = "Browsers let a page read its tables from a web server only, and this one was opened as a file. "
    + "In its folder run: python3 -m http.server, then open http://localhost:8000/";
  const FAILED = "A part of the page could not be loaded. Load the page again.";

  /** Show in the status line why there will be no answer. */
  function tell(reason) {
    document.querySelector("#status").textContent = `No answer: ${reason}`;
    document.querySelector("#answer").dataset.state = "failed";
    document.querySelector("main").setAttribute("aria-busy", "false");
  }

  const local = location.protocol === "file:";
  if (local) document.addEventListener("DOMContentLoaded", () => tell(FILE));
  window.addEventListener("error", ({ target }) => {
    if (target?.tagName === "SCRIPT" && !local) tell(FAILED);
  }, true);
})();
