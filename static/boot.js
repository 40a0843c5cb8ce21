// Starts the program, and says so when it cannot run. Addresses come from the preload links that Trunk writes, so no
// file name is repeated here, and they are absolute, so that the page works under any folder.
//
// Leaves three globals:
//   galley        the functions that the program exports (evaluate, front, plan, schema), once it runs, and calibrate, inverse,
//                 nearest, exactPlan and exactFront, which fetch the program "details" and therefore return promises
//   galleyAssets  {worker, page, reader, details}: the worker's few lines, and {js, wasm} of each program
//   galleyDetails {show, drop}: places of the page that the program "details" draws (src/ui/hosted.rs), fetched with the first

const fallback = document.getElementById("galley-fallback");

function stopped() {
  fallback.hidden = false;
  fallback.classList.add("shown");
  document.body.prepend(fallback);
  fallback.scrollIntoView();
}

/** After a trap the program's memory is unusable, whoever called it. */
function watch(error) {
  if (error instanceof WebAssembly.RuntimeError) stopped();
}
addEventListener("error", (event) => watch(event.error));
addEventListener("unhandledrejection", (event) => watch(event.reason));

function preloaded(selector) {
  const link = document.querySelector(selector);
  if (!link) throw new Error(`the page has no ${selector}`);
  return link.href;
}

/** What the reader points at or reaches by keyboard just before asking for more. */
const soon = ".why-number, .accuracy summary, .expert summary";

function details({ js, wasm, css }) {
  let tries = 0;
  let program = null;
  let sheet = null;

  /** Its own style sheet, before anything is drawn that it is for. */
  const styled = (href) =>
    new Promise((onload, onerror) => {
      sheet?.remove();
      sheet = Object.assign(document.createElement("link"), { rel: "stylesheet", href, onload, onerror });
      document.head.append(sheet);
    });

  async function fetched() {
    // A browser may keep that an address failed, so that another try needs another.
    const again = tries ? `&again=${tries}` : "";
    try {
      const [bindings] = await Promise.all([import(js + again), styled(css + again)]);
      await bindings.default({ module_or_path: wasm + again });
      return bindings;
    } catch (error) {
      console.warn("galley: the details could not be had", error);
      program = null;
      tries += 1;
      throw error;
    }
  }

  const load = () => (program ??= fetched());
  const ahead = ({ target }) => {
    if (program === null && tries === 0 && target.closest?.(soon)) load().catch(() => {});
  };
  addEventListener("pointerover", ahead, { passive: true });
  addEventListener("focusin", ahead);

  const asked = new Map(); // the newest of each place
  return {
    load,
    show(place, kind, json, anchor) {
      const one = {};
      asked.set(place, one);
      const tell = (detail) => place.dispatchEvent(new CustomEvent("galley-details", { detail }));
      load().then(
        (bindings) => {
          if (asked.get(place) !== one) return;
          bindings.show(place, kind, json, anchor, tell);
          tell('"ready"');
        },
        () => asked.get(place) === one && tell('"failed"'),
      );
    },
    drop(place) {
      asked.delete(place);
      program?.then((bindings) => bindings.leave(place), () => {});
    },
  };
}

async function start() {
  const js = preloaded('link[rel="modulepreload"][href*="app-"]');
  const wasm = preloaded('link[rel="preload"][type="application/wasm"]');
  // Files without a hash of their own: the program's stands in for it, so that they never mix versions.
  const beside = (name) => new URL(`${name}?${wasm.split("/").pop()}`, import.meta.url).href;
  globalThis.galleyAssets = Object.freeze({
    worker: beside("worker.js"),
    page: { js, wasm },
    reader: { js: beside("reader.js"), wasm: beside("reader_bg.wasm") },
    details: { js: beside("details.js"), wasm: beside("details_bg.wasm"), css: beside("details.css") },
  });
  const { load, ...places } = details(globalThis.galleyAssets.details);
  globalThis.galleyDetails = Object.freeze(places);

  const bindings = await import(js);
  // Before the program's main() runs, so that it finds them; they work once it has.
  // A request may be text or the object itself.
  const text = (request) => (typeof request === "string" ? request : JSON.stringify(request ?? {}));
  const door = (name) => [name, (request) => bindings[name](text(request))];
  const later = (name) => [name, async (request) => (await load())[name](text(request))];
  globalThis.galley = Object.freeze({
    ...Object.fromEntries(["evaluate", "front", "plan", "schema"].map(door)),
    ...Object.fromEntries(["calibrate", "inverse", "nearest", "exactPlan", "exactFront"].map(later)),
  });
  await bindings.default({ module_or_path: wasm });
  fallback.hidden = true;
  fallback.classList.remove("shown");
  dispatchEvent(new CustomEvent("galley-started"));
}

start().catch((error) => {
  console.error(error);
  stopped();
});
