// Drags each slider of the built page across its range and reports how long the page takes.
//   node tests/e2e/drag.mjs [--steps 120] [--throttle 1] [--url-fragment '#...'] [--json FILE] [--vsync]
//
// A step is one pointer move. Its time runs from the dispatch of the input event to just after the frame that shows it has been
// painted (the first task after that frame's animation callbacks). `work` is the same without the wait for the frame: script,
// style, layout and paint on the main thread. Long tasks are those above 50 ms, as the browser reports them.
//
// Frames come as soon as they are ready. With --vsync they come 60 times a second, as on a screen: up to 16.7 ms of waiting
// for the next one are then part of `frame`, since these pointer moves, unlike a hand's, are not delivered in step with it.

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { launch, started } from "./browser.mjs";
import { serve } from "./serve.mjs";

const { values } = parseArgs({
  options: {
    steps: { type: "string", default: "120" },
    throttle: { type: "string", default: "1" },
    "url-fragment": { type: "string", default: "" },
    json: { type: "string" },
    vsync: { type: "boolean", default: false },
  },
});
const steps = Number(values.steps);

function instrument() {
  globalThis.drag = { frames: [], work: [], long: [] };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.drag.long.push(duration);
  }).observe({ entryTypes: ["longtask"] });
  let pending = null;
  addEventListener(
    "input",
    () => {
      if (pending) return;
      pending = performance.now();
      const began = pending;
      // The microtasks of this event (Yew's rendering) are done by the next task.
      const handled = new MessageChannel();
      handled.port1.onmessage = () => {
        const script = performance.now() - began;
        requestAnimationFrame(() => {
          const frame = performance.now();
          const painted = new MessageChannel();
          painted.port1.onmessage = () => {
            const now = performance.now();
            globalThis.drag.frames.push(now - began);
            globalThis.drag.work.push(script + (now - frame));
            pending = null;
          };
          painted.port2.postMessage(0);
        });
      };
      handled.port2.postMessage(0);
    },
    { capture: true },
  );
}

const quantile = (list, share) => list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))];

async function drag(page, id) {
  const slider = page.locator(`input[type=range]#${id}`);
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  const y = box.y + box.height / 2;
  await page.evaluate(() => Object.assign(globalThis.drag, { frames: [], work: [], long: [] }));
  await page.mouse.move(box.x + 8, y);
  await page.mouse.down();
  for (let i = 1; i <= steps; i++) {
    await page.mouse.move(box.x + 8 + ((box.width - 16) * i) / steps, y);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
  await page.waitForTimeout(300);
  return page.evaluate(() => globalThis.drag);
}

const server = await serve();
const browser = await launch(values.vsync ? [] : ["--disable-frame-rate-limit"]);
const context = await browser.newContext({ viewport: { width: 1366, height: 900 }, locale: "en-GB" });
const page = await context.newPage();
await page.addInitScript(instrument);
if (Number(values.throttle) > 1) {
  const client = await context.newCDPSession(page);
  await client.send("Emulation.setCPUThrottlingRate", { rate: Number(values.throttle) });
}
await page.goto(server.url + values["url-fragment"].replace(/^#?(?=.)/, "#"));
await started(page);
await page.waitForTimeout(1500);

const ids = await page.locator("input[type=range]").evaluateAll((list) => list.map(({ id }) => id).filter(Boolean));
const rows = [];
const all = { frames: [], work: [], long: [] };
const row = (name, { frames, work, long }) => ({
  slider: name,
  steps: frames.length,
  "frame p50": quantile(frames, 0.5),
  "frame p95": quantile(frames, 0.95),
  "frame max": Math.max(...frames),
  "work p50": quantile(work, 0.5),
  "work p95": quantile(work, 0.95),
  "work max": Math.max(...work),
  "long tasks": long.length,
});
for (const id of ids) {
  const measured = await drag(page, id);
  if (measured.frames.length === 0) continue;
  for (const key of Object.keys(all)) all[key].push(...measured[key]);
  rows.push(row(id, measured));
}
rows.push(row("all", all));
await browser.close();
await server.close?.();

const shown = (value) => (typeof value === "number" && !Number.isInteger(value) ? value.toFixed(1) : String(value));
const columns = Object.keys(rows[0]);
console.log(`milliseconds, ${steps} pointer moves a slider, CPU throttled ${values.throttle}×`);
console.log(`| ${columns.join(" | ")} |\n| ${columns.map(() => "---").join(" | ")} |`);
for (const entry of rows) console.log(`| ${columns.map((column) => shown(entry[column])).join(" | ")} |`);
if (values.json) await writeFile(values.json, JSON.stringify(rows, null, 2));
process.exit(0);
