// The worker: the page's own program, loaded a second time where a long search disturbs nobody, the reader of files, or
// the program "details" with its questions.
//
//   in   {type: "init", js, wasm}            once: addresses of one of the programs (galleyAssets of boot.js)
//        {id, call: "front" | "plan" | "inverse", json}  at any time; calls made before the program is there wait for it
//        {id, call: "search" | "survey", json}  the same, in slices: a newer one of the same name ends the older one
//        {call: "stop"}                      ends the search of a plan
//        {id, call: "import", blob}          reads a file, piece by piece; {id, read: bytes} after each
//   out  {id, json}  or  {id, error}         in the order of the calls
//        {id, call, json}                    what a slice found; without json a sign of life, each second

const calls = {
  front: (program, { json }) => program.front(json),
  inverse: (program, { json }) => program.inverse(json),
  plan: (program, { json }) => program.plan(json),
  import: (program, { id, blob }) => program.import_blob(blob, (read) => postMessage({ id, read })),
  search: begin,
  survey: begin,
  stop: () => void running.delete("search"),
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

const running = new Map(); // by call: {program, id, said: when something was last said of it}
const turns = new MessageChannel(); // what is posted to the worker is heard between two slices; timers would wait 4 ms
let turning = false;
let dead = null;

function begin(program, { id, call, json }) {
  const error = program.begin(call === "search", json);
  if (error) throw new Error(error);
  running.delete(call);
  running.set(call, { program, id, said: 0 });
  go();
}

function go() {
  if (turning || running.size === 0) return;
  turning = true;
  turns.port2.postMessage(null);
}

turns.port1.onmessage = () => {
  turning = false;
  // A plan of which nothing is known comes first; then the one that waits longest.
  const call = running.get("search")?.said === 0 ? "search" : running.keys().next().value;
  if (call) slice(call, running.get(call));
  go();
};

function slice(call, one) {
  const { program, id } = one;
  running.delete(call);
  try {
    const json = program.go_on(call === "search", 8);
    if (json !== undefined) running.set(call, one);
    const now = performance.now();
    if (json || now - one.said > 1000) {
      postMessage(json ? { id, call, json } : { id, call });
      one.said = now;
    }
  } catch (error) {
    failed(id, error);
  }
}

function failed(id, error) {
  // After a trap the program's memory is unusable: later calls get the same answer, and the page starts a new worker.
  if (error instanceof WebAssembly.RuntimeError) dead = error;
  postMessage({ id, error: String(error?.message ?? error) });
}

async function answer(data) {
  const { id, call } = data;
  try {
    if (!Object.hasOwn(calls, call)) throw new Error(`unknown call: ${call}`);
    const bindings = await program;
    if (dead) throw dead;
    const json = calls[call](bindings, data);
    if (json !== undefined) postMessage({ id, json });
  } catch (error) {
    failed(id, error);
  }
}

addEventListener("message", ({ data }) => {
  if (data?.type === "init") give(data);
  else if (data?.call !== undefined) answer(data);
});
