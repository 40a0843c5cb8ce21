// How long the built page's program takes, in headless Chromium, to plan: from text to the first answer that is proved to be within 2 % of the
// best possible, and to the end; and to the exact front of the additive model. Each the least and the median of some runs.
//   node tests/e2e/plan.mjs [--runs 15]

import { parseArgs } from "node:util";
import { launch, started } from "./browser.mjs";
import { serve } from "./serve.mjs";

const { values } = parseArgs({ options: { runs: { type: "string", default: "15" } } });
const runs = Number(values.runs);

/** A model, and a third of the way from its states to what keeping everything takes. */
const models = {
  "llama-2-7b, LoRA, one card": {
    workload: { preset: "llama-2-7b" }, training: { lora_rank: 16 }, hardware: { preset: "rtx-4090", memory_gib: 80 },
  },
  "llama-3-70b, 80 layers by tensor": {
    workload: { preset: "llama-3-70b" }, training: { tp: 8, sp: true, zero: 3, dp: 8 },
    hardware: { preset: "h100-80g", memory_gib: 200 },
  },
  "llama-3-70b, LoRA, a link of 6 GB/s": {
    workload: { preset: "llama-3-70b" }, training: { lora_rank: 16, frozen_dtype: "nf4" },
    hardware: { preset: "a100-80g", memory_gib: 400, d2h_gbps: 6, h2d_gbps: 6 },
  },
};

/** 96 layers of few kinds: embedding, equal blocks, head. */
function chain() {
  const size = 1 << 28;
  const sizes = [size / 4, ...Array(94).fill(size), size / 2];
  return {
    additive: {
      size_bytes: sizes, recompute_residual_bytes: sizes.map((bytes) => bytes / 16), recompute_s: sizes.map((bytes) => bytes / size / 50),
      cpu_link_bandwidth_bytes_per_s: 25e9, ssd_write_bandwidth_bytes_per_s: 5e9, ssd_read_bandwidth_bytes_per_s: 6e9,
      hidden_s: 1, memory_limit_bytes: 24 * size, host_limit_bytes: 40 * size,
    },
  };
}

async function plans({ request, runs }) {
  const page = await import(galleyAssets.page.js);
  const kept = JSON.parse(page.evaluate(JSON.stringify({ ...request, policy: { kind: "keep" } })));
  const gib = (bytes) => bytes / 2 ** 30;
  const memory = gib(kept.peak_bytes) - (gib(kept.activation_bytes) * 2) / 3;
  const text = JSON.stringify({ ...request, policy: { kind: "best" }, limits: { memory_gib: memory } });
  const times = { certified: [], whole: [] };
  let gap, first;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    const error = page.begin(true, text);
    if (error) throw new Error(error);
    let certified = null;
    for (;;) {
      // In slices as the worker's, but short: news are told at once, then every sixth slice.
      const told = page.go_on(true, 0.5);
      if (told) {
        const [, summary, bound] = JSON.parse(told);
        gap = summary.runs && bound ? summary.step / bound - 1 : Infinity;
        if (certified === null && gap <= 0.02) [certified, first] = [performance.now() - start, gap];
      }
      if (told === undefined) break;
    }
    times.whole.push(performance.now() - start);
    times.certified.push(certified ?? Infinity);
  }
  return { memory, gap, first, times };
}

async function fronts({ request, runs }) {
  await galley.exactFront(request); // fetches the program
  const details = await import(galleyAssets.details.js);
  const text = JSON.stringify(request);
  const times = [];
  let answer;
  for (let run = 0; run < runs; run++) {
    const start = performance.now();
    answer = details.exactFront(text);
    times.push(performance.now() - start);
  }
  const { exact, points } = JSON.parse(answer);
  return { exact, points: points.length, times };
}

const sorted = (times) => [...times].sort((a, b) => a - b);
const row = (name, times, note) => {
  const all = sorted(times);
  console.log(`${name.padEnd(58)} ${all[0].toFixed(1).padStart(8)} ${all[all.length >> 1].toFixed(1).padStart(8)}  ${note}`);
};

const server = await serve();
const browser = await launch();
const page = await browser.newPage();
await page.goto(server.url);
await started(page);
console.log(`${"ms".padEnd(58)} ${"least".padStart(8)} ${"median".padStart(8)}`);
for (const [name, request] of Object.entries(models)) {
  const { gap, first, times } = await page.evaluate(plans, { request, runs });
  const percent = (share) => `${(share * 100).toFixed(2)} % above the bound`;
  row(`${name}: within 2 %`, times.certified, percent(first));
  row(`${name}: to the end`, times.whole, percent(gap));
}
const { exact, points, times } = await page.evaluate(fronts, { request: chain(), runs });
row("exact additive front, embedding, 94 equal layers, head", times, `${points} points, exact: ${exact}`);
await browser.close();
await server.close();
