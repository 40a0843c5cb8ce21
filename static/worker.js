// The worker: the page's own program, loaded a second time where a long search disturbs nobody, the reader of files, or
// the program "details" with its questions.
//
//   in   {type: "init", js, wasm}            once: addresses of one of the programs (galleyAssets of boot.js)
//        {id, call: "survey" | "front" | "plan" | "inverse", json}  at any time; calls made before the program is there wait for it
//        {id, call: "import", blob}          reads a file, piece by piece; {id, read: bytes} after each
//   out  {id, json}  or  {id, error}         in the order of the calls

const calls = {
  front: (program, { json }) => program.front(json),
  inverse: (program, { json }) => program.inverse(json),
  plan: (program, { json }) => program.plan(json),
  survey: (program, { json }) => program.survey(json),
  import: (program, { id, blob }) => program.import_blob(blob, (read) => postMessage({ id, read })),
};

let give;
const addresses = new Promise((resolve) => {
  give = resolve; // a promise keeps the first answer: a second init changes nothing
});
const program = addresses.then(async ({ js, wasm }) => {
  const bindings = await import(js);
  await bindings.default({ module_or_path: wasm });
  return bindings;
});
program.catch(() => {}); // every call reports it

let dead = null;

async function answer(data) {
  const { id, call } = data;
  try {
    if (!Object.hasOwn(calls, call)) throw new Error(`unknown call: ${call}`);
    const bindings = await program;
    if (dead) throw dead;
    postMessage({ id, json: calls[call](bindings, data) });
  } catch (error) {
    // After a trap the program's memory is unusable: later calls get the same answer, and the page starts a new worker.
    if (error instanceof WebAssembly.RuntimeError) dead = error;
    postMessage({ id, error: String(error?.message ?? error) });
  }
}

addEventListener("message", ({ data }) => {
  if (data?.type === "init") give(data);
  else if (data?.call !== undefined) answer(data);
});
