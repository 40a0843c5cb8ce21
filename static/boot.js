// Starts the program, and says so when it cannot run. Addresses come from the preload links that Trunk writes, so no
// file name is repeated here, and they are absolute, so that the page works under any folder.
//
// Leaves two globals:
//   galley        the functions that the program exports (evaluate, front, plan, calibrate, schema), once it runs
//   galleyAssets  {worker, page, reader}: the worker's few lines, and {js, wasm} of each program that one may load

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

async function start() {
  const js = preloaded('link[rel="modulepreload"][href*="app-"]');
  const wasm = preloaded('link[rel="preload"][type="application/wasm"]');
  // Files without a hash of their own: the program's stands in for it, so that they never mix versions.
  const beside = (name) => new URL(`${name}?${wasm.split("/").pop()}`, import.meta.url).href;
  globalThis.galleyAssets = Object.freeze({
    worker: beside("worker.js"),
    page: { js, wasm },
    reader: { js: beside("reader.js"), wasm: beside("reader_bg.wasm") },
  });

  const bindings = await import(js);
  // Before the program's main() runs, so that it finds them; they work once it has.
  // A request may be text or the object itself.
  const text = (request) => (typeof request === "string" ? request : JSON.stringify(request ?? {}));
  const door = (name) => [name, (request) => bindings[name](text(request))];
  globalThis.galley = Object.freeze(Object.fromEntries(["evaluate", "front", "plan", "calibrate", "schema"].map(door)));
  await bindings.default({ module_or_path: wasm });
  fallback.hidden = true;
  fallback.classList.remove("shown");
  dispatchEvent(new CustomEvent("galley-started"));
}

start().catch((error) => {
  console.error(error);
  stopped();
});
