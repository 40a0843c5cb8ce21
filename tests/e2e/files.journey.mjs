import { readFile } from "node:fs/promises";
import { violations } from "./browser.mjs";

export const title = "a reader drops a profile, a trace of 40 MB, a curve and nonsense, compares, cancels and removes";

export const context = { viewport: { width: 1366, height: 900 } };

const fixture = (name) => readFile(new URL(`../fixtures/import/${name}`, import.meta.url), "utf8");

/** Drops a file of `text`, repeated to about `megabytes` where `part` is given, anywhere on the page. */
async function drop(page, name, { head = "", part = "", tail = "", megabytes = 0 }) {
  await page.evaluate(
    ({ name, head, part, tail, megabytes }) => {
      const count = part ? Math.ceil((megabytes * 1e6) / part.length) : 0;
      // One text of many lines is made of a few larger ones: a million parts would take the browser itself long.
      const thousand = part.repeat(1000);
      const pieces = [head, ...Array(Math.ceil(count / 1000)).fill(thousand), tail];
      const transfer = new DataTransfer();
      transfer.items.add(new File(pieces, name, { type: "application/json" }));
      const fire = (kind) =>
        document.querySelector("main").dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: transfer }));
      fire("dragenter");
      globalThis.dropped = () => fire("drop");
    },
    { name, head, part, tail, megabytes },
  );
  await page.locator(".drop-hint").waitFor();
  await page.evaluate(() => globalThis.dropped());
  await page.locator(".drop-hint").waitFor({ state: "detached" });
}

const memory = (i, bytes) =>
  JSON.stringify({ ph: "i", cat: "cpu_instant_event", s: "t", name: "[memory]", pid: 1, tid: 1, ts: 1000 + i, args: { "Total Allocated": bytes, "Device Type": 1, "Device Id": 0, Addr: 94512341231234, "Total Reserved": 2 * bytes } });

export default async ({ page, check, open }) => {
  const verdict = () => page.locator("section.verdict").innerText();
  const beside = page.locator("section.beside");
  const notices = () => page.locator(".notices").innerText();

  await open("#v=1&model=gpt2&card=rtx-3090&policy=mix&k=4");
  const before = await verdict();

  // A profile with its measurement.
  await drop(page, "profile.json", { head: await fixture("profile.json") });
  await beside.waitFor();
  check("a dropped profile becomes the model", (await verdict()) !== before);
  check("its measured peak is beside the predicted one", (await beside.innerText()).includes("640\u00a0MiB"), await beside.innerText());
  check("so is its step", (await beside.innerText()).includes("125\u00a0ms"));
  check("differences are named by what runs", /(Forward|Backward) of .*measured .*predicted/.test(await beside.innerText()), await beside.innerText());
  check("the measured curve is drawn over the ledger", (await page.locator("figure.chart-ledger path.measured-line").count()) >= 1);
  check("and in its legend", (await page.locator("figure.chart-ledger .legend").innerText()).includes("Measured"));
  await page.locator("figure.chart-ledger .twin summary").click();
  check("and in its table", (await page.locator("figure.chart-ledger thead").innerText()).includes("Measured"));
  await page.locator("figure.chart-ledger .twin summary").click();
  check("what no address carries is said", /profile is not in the address[^]*measurement is not in the address/.test(await notices()), await notices());
  check("the plan is the one that was measured", (await page.getByLabel("Plan", { exact: true }).inputValue()) === "keep");
  for (const theme of ["light", "dark"]) {
    await page.locator("select#theme").selectOption(theme);
    const found = await violations(page);
    check(`axe finds nothing wrong with the comparison, ${theme}`, found.length === 0, found.join("\n       "));
  }

  // Forty megabytes, while the page goes on answering.
  const events = Array.from({ length: 200 }, (_, i) => memory(i, 1e8 + ((i * 7919) % 1000) * 1e5)).join(",") + ",";
  const trace = { head: '{"schemaVersion":1,"traceEvents":[', part: events, tail: `${memory(5_000_000, 3e9)}]}`, megabytes: 40 };
  const old = await beside.innerText();
  await drop(page, "trace.json", trace);
  await page.locator(".importing").waitFor();
  check("while it reads, the old picture stays", (await beside.innerText()) === old);
  const before_cancel = Date.now();
  await page.locator(".importing button").click();
  check("cancelling stops it", (await page.locator(".importing").count()) === 0, `${Date.now() - before_cancel} ms`);
  check("and leaves everything as it was", (await beside.innerText()) === old);
  const start = Date.now();
  await drop(page, "trace.json", trace);
  // The page's own frames, while it reads.
  await page.evaluate(() => {
    globalThis.longest = 0;
    let last = Infinity;
    const frame = (now) => {
      globalThis.longest = Math.max(globalThis.longest, now - last);
      last = now;
      globalThis.watch = requestAnimationFrame(frame);
    };
    globalThis.watch = requestAnimationFrame(frame);
    globalThis.progress = new Set();
    new MutationObserver(() => {
      const bar = document.querySelector(".importing progress");
      if (bar) globalThis.progress.add(bar.value / bar.max);
    }).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  await page.locator(".importing").waitFor();
  await page.locator(".importing").waitFor({ state: "detached", timeout: 60_000 });
  const took = Date.now() - start;
  const { longest, progress } = await page.evaluate(() => (cancelAnimationFrame(globalThis.watch), { longest: globalThis.longest, progress: globalThis.progress.size }));
  console.log(`       40 MB in ${took} ms, ${progress} reports of progress, longest frame ${Math.round(longest)} ms`);
  check("the page answers meanwhile", longest < 500, `${longest} ms`);
  check("progress is reported on the way", progress > 5, `${progress} reports`);
  const read = await beside.innerText();
  check("a trace of 40 MB is read", read.includes("2.79\u00a0GiB"), read);
  check("what it leaves out is said", /points are drawn[^]*are left out; lows and highs stay/.test(read), read);
  check("so is the device", read.includes("CUDA 0"), read);
  const length = await page.locator("figure.chart-ledger path.measured-line").first().getAttribute("d");
  check("what is drawn is little", length.length < 60_000, `${length.length} characters`);

  // Nonsense is refused by name, and the picture stays.
  await drop(page, "cut.json", { head: '{"traceEvents": [{"name": ' });
  await page.locator(".notices [role=alert]").waitFor();
  check("a file that ends too early is refused by name", /cut\.json: It ends too early/.test(await notices()), await notices());
  check("and the picture stays", (await beside.innerText()) === read);
  await page.getByRole("button", { name: "Dismiss" }).click();
  check("the refusal can be dismissed", (await page.locator(".notices [role=alert]").count()) === 0);
  await drop(page, "long.json", { head: "[", part: "0,".repeat(500), tail: "0]", megabytes: 51 });
  await page.locator(".notices [role=alert]").waitFor();
  check("a file that is too long is refused at once", /5\d\u00a0MB; at most 50\u00a0MB/.test(await notices()), await notices());

  // By keyboard: the box, its file field, a curve.
  await page.getByRole("button", { name: "Open a file" }).focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Choose a file").setInputFiles({ name: "memory.json", mimeType: "application/json", buffer: Buffer.from(await fixture("memory.json")) });
  await page.waitForFunction((text) => document.querySelector("section.beside").innerText !== text, read);
  check("a chosen curve takes the trace's place", (await beside.innerText()).includes("Its maker remarks: segments"), await beside.innerText());
  const box = page.getByLabel("JSON");
  await box.fill('{"kind": "lesson", "layer_s": NaN}');
  await page.getByRole("button", { name: "Use the text" }).click();
  const alert = page.locator(".paste [role=alert]");
  await alert.waitFor();
  check("NaN is called by its name, and shown where it is", /NaN and Infinity[^]*column 3\d[^]*NaN/.test(await alert.innerText()), await alert.innerText());
  await page.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "Remove measurement" }).click();
  check("one click removes the measurement", (await beside.count()) === 0 && (await page.locator("path.measured-line").count()) === 0);
};
