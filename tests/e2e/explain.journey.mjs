import { violations } from "./browser.mjs";

export const title = "a reader asks where numbers come from, by keyboard and by finger, and returns to where the number stands";

export const context = { viewport: { width: 1366, height: 900 } };

export const pages = (url) => ({
  "/course/host.html": `<!doctype html><html lang="en"><title>A course</title><link rel="icon" href="data:," /><iframe title="Galley" width="760" height="700"
    src="${url}?embed&views=verdict,ledger#v=1&model=gpt2&card=rtx-3090&policy=checkpoint&k=4"></iframe>`,
});

export default async ({ page, url, check, open, server }) => {
  const sheet = page.getByRole("dialog");
  const peak = () => page.locator("section.verdict").getByRole("button", { name: /^Peak: / });
  const box = (locator) => locator.boundingBox();

  await open("#v=1&model=llama-2-7b&card=rtx-4090&lora_rank=16&policy=mix&k=4&beta=0.5");
  await page.waitForFunction(() => !document.querySelector("section[aria-busy=true]"));
  const before = await box(page.locator("main"));

  // By keyboard: open, read, Escape, and the focus is back.
  await peak().focus();
  check("a number says that it can be asked", (await peak().getAttribute("aria-expanded")) === "false");
  await page.keyboard.press("Enter");
  await sheet.waitFor();
  check("it opens by Enter", (await peak().getAttribute("aria-expanded")) === "true");
  check("the sheet has the focus", await sheet.evaluate((node) => node === document.activeElement));
  const text = await sheet.innerText();
  check("it adds up the categories", /Weights/.test(text) && /Activations/.test(text) && /=/.test(text), text);
  check("it says how far to trust it", /±10/.test(text), text);
  const answer = await page.evaluate(() =>
    JSON.parse(globalThis.galley.evaluate(JSON.stringify({
      v: 1, workload: { preset: "llama-2-7b" }, hardware: { preset: "rtx-4090" }, training: { lora_rank: 16 }, policy: { kind: "mix", k: 4, beta: 0.5 } }))));
  check("its number is the engine's", text.includes((answer.peak_bytes / 2 ** 30).toFixed(1)), text);
  const after = await box(page.locator("main"));
  check("nothing jumps", before.y === after.y && before.height === after.height, `${before.y} ${after.y}`);
  const found = await violations(page);
  check("axe finds nothing while it is open", found.length === 0, found.join("\n       "));

  // Deeper into the formula, and back.
  await sheet.getByRole("button", { name: /GiB/ }).first().press("Enter");
  await page.waitForFunction(() => /States only/.test(document.querySelector("[role=dialog]")?.innerText ?? ""));
  const deeper = await sheet.innerText();
  check("weights are parameters times bytes, with a source", /N_base|Nbase/.test(deeper) && /1910\.02054/.test(deeper), deeper);
  await sheet.getByRole("button", { name: "Back" }).press("Enter");
  check("and back", /Activations/.test(await sheet.innerText()));
  await page.keyboard.press("Escape");
  check("Escape closes it", (await sheet.count()) === 0);
  check("the focus is back at the number", await peak().evaluate((node) => node === document.activeElement));

  // By pointer: a press beside it closes it, on another number it moves there, on the same it closes.
  await peak().click();
  await sheet.waitFor();
  await page.mouse.click(1200, 860);
  check("a press beside it closes it", (await sheet.count()) === 0);
  await peak().click();
  await page.locator("section.verdict").getByRole("button", { name: /^Step: / }).click();
  check("another number takes its place", /Forward/.test(await sheet.innerText()) && (await sheet.count()) === 1);
  await page.locator("section.verdict").getByRole("button", { name: /^Step: / }).click();
  check("the same number closes it", (await sheet.count()) === 0);

  // Every number that is there opens, lies inside the window and says something.
  const numbers = page.locator("button.why-number:visible");
  const count = await numbers.count();
  check("there are many", count >= 30, `${count}`);
  const bad = [];
  for (let i = 0; i < count; i += 1) {
    const name = await numbers.nth(i).getAttribute("aria-label");
    await numbers.nth(i).scrollIntoViewIfNeeded();
    await numbers.nth(i).focus();
    await page.keyboard.press("Enter");
    if ((await sheet.count()) !== 1) {
      bad.push(`${name} does not open`);
      continue;
    }
    const { x, width } = await box(sheet);
    const said = await sheet.innerText();
    if (x < 0 || x + width > 1366 || !/[=]/.test(said) || /NaN|undefined/.test(said)) bad.push(`${name}: ${said}`);
    await page.keyboard.press("Escape");
  }
  check("each opens and says where it comes from", bad.length === 0, bad.join("\n       "));

  // A saved tensor of a layer.
  await page.getByText("What it saves, tensor by tensor").click();
  await page.locator(".saves").getByRole("button", { name: /^MLP gate: / }).click();
  const tensor = await sheet.innerText();
  check("a saved tensor is its shape times bytes", /sequences in a micro-batch/.test(tensor) && /layer_saved\.json/.test(tensor), tensor);
  await page.keyboard.press("Escape");

  // A finger on a phone: from the bottom, as wide as the window.
  await page.setViewportSize({ width: 375, height: 700 });
  await peak().click();
  await page.waitForTimeout(300);
  const low = await box(sheet);
  check("on a phone it comes from the bottom", low.x === 0 && low.width === 375 && Math.abs(low.y + low.height - 700) < 1.5, JSON.stringify(low));
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check("and nothing sticks out", over <= 0, `${over} px`);
  await sheet.getByRole("button", { name: "Close" }).click();
  check("its button closes it, and the focus is back", (await sheet.count()) === 0 && (await peak().evaluate((node) => node === document.activeElement)));

  // Inside somebody's course.
  await page.setViewportSize({ width: 1366, height: 900 });
  await page.goto(new URL("/course/host.html", server?.url ?? url).href);
  const frame = page.frameLocator("iframe");
  await frame.getByRole("button", { name: /^Peak: / }).first().click();
  check("embedded it opens too", /GiB|MiB/.test(await frame.getByRole("dialog").innerText()));
};
