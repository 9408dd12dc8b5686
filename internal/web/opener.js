"use strict";
// Hands a trace to the Perfetto UI by its protocol: PING until it answers PONG, then the bytes.
// https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui
(() => {
  const viewer = document.body.dataset.viewer;
  const status = document.getElementById("status");
  const say = (text) => { status.textContent = text; };
  const mega = (bytes) => (bytes / 1e6).toFixed(1) + " MB";

  async function read(address, what) {
    const answer = await fetch(address, { credentials: "same-origin" });
    if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
    const chunks = [];
    let length = 0;
    const reader = answer.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      chunks.push(value);
      length += value.length;
      say(what + ": read " + mega(length));
    }
    return new Blob(chunks).arrayBuffer();
  }

  function answers(page) {
    return new Promise((resolve, reject) => {
      let timer = 0;
      const heard = (event) => {
        if (event.source !== page || event.origin !== viewer || event.data !== "PONG") return;
        end();
        resolve();
      };
      const end = () => {
        clearInterval(timer);
        window.removeEventListener("message", heard);
      };
      window.addEventListener("message", heard);
      timer = setInterval(() => {
        if (page.closed) {
          end();
          reject(new Error("its window was closed"));
          return;
        }
        page.postMessage("PING", viewer);
      }, 50);
    });
  }

  async function open(button) {
    const what = button.dataset.rank;
    const page = window.open(viewer, "_blank");
    if (!page) {
      say("The browser did not allow a new window: allow it for this page, or download the trace.");
      return;
    }
    button.disabled = true;
    try {
      const [buffer] = await Promise.all([read(button.dataset.trace, what), answers(page)]);
      const size = buffer.byteLength;
      const title = document.body.dataset.title + ", " + what;
      page.postMessage({ perfetto: { buffer, title, fileName: "trace.json.gz" } }, viewer, [buffer]);
      say(what + ": handed over, " + mega(size));
    } catch (error) {
      say(what + ": " + error.message);
    }
    button.disabled = false;
  }

  for (const button of document.querySelectorAll("button[data-trace]")) {
    button.addEventListener("click", () => open(button));
  }
})();
