import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { violations } from "./browser.mjs";
import { root } from "./serve.mjs";

export const title = "the fastest plan follows the memory limit, with a worker, without one, and after it died";

export const context = { viewport: { width: 1366, height: 900 } };

const base = { v: 1, workload: { preset: "gpt2-xl", batch: 8 }, training: { lora_rank: 16 }, hardware: { preset: "rtx-4090" } };
const address = "#v=1&model=gpt2-xl&batch=8&lora_rank=16&card=rtx-4090&policy=best";

/** What the command line answers: its plan, as the end of an address. */
async function native(gib) {
  const request = { ...base, policy: { kind: "best" }, limits: { memory_gib: gib } };
  const cargo = ["run", "--release", "--quiet", "--locked", "--no-default-features", "--bin", "galley", "--", "plan"];
  const run = promisify(execFile)("cargo", cargo, { cwd: root, maxBuffer: 1 << 28 });
  run.child.stdin.end(JSON.stringify(request));
  const { policy, gap, optimal } = JSON.parse((await run).stdout);
  const keys = Object.entries(policy).map(([key, value]) => [key === "kind" ? "policy" : key, String(value)]);
  return { gap, optimal, plan: new URLSearchParams(keys).toString() };
}

/** Notes how long frames take, what the worker is told, and can end it. */
function instrument() {
  globalThis.seen = { frames: [], long: [], first: [], workers: [] };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) globalThis.seen.long.push(duration);
  }).observe({ entryTypes: ["longtask"] });
  let last = 0;
  const frame = (now) => {
    if (last) globalThis.seen.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const Native = globalThis.Worker;
  globalThis.Worker = class extends Native {
    asked = new Map();
    constructor(...given) {
      super(...given);
      globalThis.seen.workers.push(this);
      this.addEventListener("message", ({ data }) => {
        if (data.call !== "search" || !this.asked.has(data.id)) return;
        globalThis.seen.first.push(performance.now() - this.asked.get(data.id));
        this.asked.delete(data.id);
      });
    }
    postMessage(message) {
      if (message.call === "search") this.asked.set(message.id, performance.now());
      super.postMessage(message);
      if (message.call === "search" && globalThis.killNext) this.terminate();
    }
  };
}

const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const limit = (page) => page.locator("input[type=range]#limit");
const settled = (page) => page.waitForSelector(".best-known[aria-busy=false]:not(.aged)", { timeout: 60_000 });
const shown = async (page) => {
  const table = page.locator("figure.chart-ratio > details.twin");
  if ((await table.getAttribute("open")) === null) await table.locator("summary").click();
  // Layer by layer, what is decided; and what it comes to.
  return `${await page.locator("section.verdict .figures").innerText()}\n${await table.locator("table").innerText()}`;
};

/** By hand: down the whole range, up again, and back to a share of it. */
async function drag(page, share) {
  const slider = limit(page);
  await slider.scrollIntoViewIfNeeded();
  const box = await slider.boundingBox();
  const at = (part) => [box.x + 9 + (box.width - 18) * part, box.y + box.height / 2];
  await page.mouse.move(...at(1));
  await page.mouse.down();
  const stops = [1, 0, 1, share];
  for (let leg = 1; leg < stops.length; leg++) {
    for (let step = 1; step <= 40; step++) {
      await page.mouse.move(...at(stops[leg - 1] + ((stops[leg] - stops[leg - 1]) * step) / 40));
      await page.waitForTimeout(16);
    }
  }
  await page.mouse.up();
}

/** The most processor time, ms, that a task of the page's main thread takes during `act`: what a busy machine adds to a frame is not in it. */
async function processor(page, act) {
  const client = await page.context().newCDPSession(page);
  const events = [];
  client.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const includedCategories = ["devtools.timeline", "disabled-by-default-devtools.timeline"];
  await client.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories } });
  await act();
  const complete = new Promise((resolve) => client.once("Tracing.tracingComplete", resolve));
  await client.send("Tracing.end");
  await complete;
  await client.detach();
  const thread = ({ pid, tid }) => `${pid}:${tid}`;
  const main = new Set(events.filter(({ name }) => name === "EventDispatch").map(thread));
  const tasks = events.filter((event) => event.name === "RunTask" && main.has(thread(event)));
  if (tasks.length === 0) throw new Error("the trace has no tasks");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur / 1000));
}

/** What the page shows of the plan that the command line answers with, for the limit that the slider stands at. */
async function expected(page, url, open) {
  const gib = Number(await page.inputValue("#limit-field"));
  const answer = await native(gib);
  const fresh = await page.context().newPage();
  await fresh.goto(`${url}${address.replace("policy=best", answer.plan)}&limit_gib=${gib}`);
  await fresh.waitForSelector("section.verdict");
  const text = await shown(fresh);
  await fresh.close();
  return { ...answer, gib, text };
}

export default async ({ page, url, check, open, browser }) => {
  await page.addInitScript(instrument);
  await open(address);
  await settled(page);
  const sentence = () => page.locator(".best-known").innerText();
  check("it is said how good the plan is", /Proved|at most [\d.]+\s%/.test(await sentence()), await sentence());

  // A busy machine has three tries; where other programs keep the processor from the page in all of them, its own time decides.
  const runs = [];
  while (runs.length < 3 && !(runs.at(-1)?.worst <= 50)) {
    await page.waitForTimeout(500);
    await page.evaluate(() => Object.assign(globalThis.seen, { frames: [], long: [], first: [] }));
    const busy = await processor(page, () => drag(page, 0.6));
    const { frames, long, first } = await page.evaluate(() => ({ ...globalThis.seen, workers: null }));
    runs.push({ worst: Math.max(...frames, ...long), frames, first, busy });
  }
  const best = runs.reduce((a, b) => (b.worst < a.worst ? b : a));
  const busy = Math.max(...runs.map((run) => run.busy));
  const said = `worst frame ${best.worst.toFixed(1)} ms, median ${median(best.frames).toFixed(1)} ms; longest task ${busy.toFixed(1)} ms of processor time; first answer of the worker after ${median(best.first).toFixed(1)} ms`;
  console.log(`       ${said}`);
  check("no frame of a drag over the whole range takes more than 50 ms", best.worst <= 50 || busy <= 50, said);
  await settled(page);
  const answer = await expected(page, url);
  check("the limit is one that matters", answer.gib > 12 && answer.gib < 20 && !answer.optimal, String(answer.gib));
  check("the final plan is the command line's", (await shown(page)) === answer.text, `${await shown(page)}\n--\n${answer.text}`);
  const percent = Number((await sentence()).match(/at most ([\d.]+)\s%/)?.[1]);
  check("and so is how far it may be from the best", percent >= 100 * answer.gap && percent < 100 * answer.gap + 0.01, `${await sentence()} ${answer.gap}`);
  check("the address asks for the best plan, not for a list", /policy=best/.test(page.url()) && !/plan=/.test(page.url()), page.url());
  check("the fastest plan is marked on the front", (await page.locator(".chart-pareto .chart-body .fastest").count()) === 1);
  const front = page.locator("figure.chart-pareto details");
  await front.locator("summary").click();
  check("and in its table", /Fastest plan found/.test(await front.locator("tbody tr").first().innerText()));
  const found = await violations(page);
  check("axe finds nothing", found.length === 0, found.join("\n       "));

  // By keyboard.
  const entries = await page.evaluate(() => history.length);
  await limit(page).focus();
  for (let press = 0; press < 8; press++) await page.keyboard.press("ArrowLeft");
  await settled(page);
  const keyed = await expected(page, url);
  check("arrow keys move the limit", keyed.gib === answer.gib - 2, `${answer.gib} → ${keyed.gib}`);
  check("and the plan follows", (await shown(page)) === keyed.text);
  check("in one entry of the history at most", (await page.evaluate(() => history.length)) <= entries + 1);
  await page.keyboard.press("Home");
  await settled(page);
  check("where nothing fits it is said", /No plan can fit/.test(await sentence()), await sentence());

  // The worker dies in the middle of a search: nothing tells the page, so that it has to notice.
  await page.evaluate(() => (globalThis.killNext = true));
  await page.keyboard.press("End");
  await page.waitForSelector(".notice >> text=No background worker answers", { timeout: 15_000 });
  check("a worker that died is noticed and said", true);
  await settled(page);
  for (let press = 0; press < 36; press++) await page.keyboard.press("ArrowLeft");
  await settled(page);
  const later = await expected(page, url);
  check("the page finds the same plan without it", later.gib === 15 && (await shown(page)) === later.text, String(later.gib));
  await page.waitForSelector("section.view[aria-busy=false]");
  check("and the front", (await page.locator(".chart-pareto .front-line").count()) === 1);

  // Workers are blocked from the start; the reader reads Chinese.
  const context = await browser.newContext({ locale: "zh-CN", viewport: { width: 390, height: 844 } });
  const blocked = await context.newPage();
  await blocked.addInitScript(() => {
    globalThis.Worker = class {
      constructor() {
        throw new Error("blocked");
      }
    };
  });
  await blocked.goto(`${url}${address}&limit_gib=15&lang=zh-CN`);
  await settled(blocked);
  const words = await blocked.locator(".best-known").innerText();
  check("in Chinese it is said how good the plan is", /已证明|至多比理论最快慢\s*[\d.]+/.test(words), words);
  check("and that there is no worker", (await blocked.locator(".notices").innerText()).includes("没有可用的后台线程"));
  await blocked.locator("header button", { hasText: "English" }).click();
  check("blocked workers end at the same plan", (await shown(blocked)) === later.text, `${await shown(blocked)}\n--\n${later.text}`);
  await context.close();
};
