import { violations } from "./browser.mjs";

export const title = "what nobody needs at first is fetched when it is asked for, once, and where that fails the page says so and stays";

export const context = { viewport: { width: 1366, height: 900 } };

// What is taken away below.
export const expected = [/details(_bg)?\.(js|wasm)/, /net::ERR_FAILED/];

export default async ({ page, url, check, open }) => {
  const asked = [];
  page.on("request", (request) => /\/details/.test(request.url()) && asked.push(request.url()));
  const settled = () => page.waitForFunction(() => !document.querySelector("section[aria-busy=true]"));
  const peak = page.locator("section.verdict").getByRole("button", { name: /^Peak: / });
  const sheet = page.getByRole("dialog");

  await page.mouse.move(0, 0);
  await open("#v=1");
  await settled();
  check("a first visit does without it", asked.length === 0, String(asked));

  // On the way to a number it is fetched already, and once for all.
  await peak.hover();
  await page.waitForFunction(() => performance.getEntriesByType("resource").some((entry) => /details_bg\.wasm/.test(entry.name)));
  await peak.click();
  await sheet.waitFor();
  await page.keyboard.press("Escape");
  await page.getByText("How right is this?").click();
  await page.waitForSelector(".accuracy-status");
  check("one file of code, one of wasm and one of styles serve all of it", asked.length === 3 && asked.every((one) => one.startsWith(url)), String(asked));

  // A section keeps what was typed while it is closed.
  await page.waitForSelector(".accuracy-status[aria-busy=false]", { timeout: 60_000 });
  await page.getByLabel("Find").fill("gpt-2 xl");
  await page.getByText("How right is this?").click();
  await page.waitForFunction(() => !document.querySelector(".accuracy .rows"));
  await page.getByText("How right is this?").click();
  await page.waitForSelector(".accuracy .rows");
  check("closed and opened again, a section is as it was", (await page.getByLabel("Find").inputValue()) === "gpt-2 xl");

  // A press inside is heard once, and inside alone.
  const entries = await page.evaluate(() => history.length);
  await page.getByRole("button", { name: /^Load the scenario of GPT-2 XL/ }).first().click();
  await page.waitForFunction(() => location.hash.includes("gpt2-xl"));
  check("a loaded scenario is one entry of history", (await page.evaluate(() => history.length)) === entries + 1);

  // The explanation follows the page, in its language.
  await open("#v=1&lang=zh-CN");
  await page.locator("section.verdict button.why-number").first().click();
  await sheet.waitFor();
  check("it speaks the page's language", (await sheet.getAttribute("aria-labelledby")) === "explain-title" && /从何而来|来源|其中/.test(await sheet.innerText()), await sheet.innerText());
  const before = await page.locator("#explain-title b").innerText();
  await page.locator("input[type=range]#batch").evaluate((input) => {
    input.value = "15";
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  await page.waitForFunction((before) => document.querySelector("#explain-title b")?.innerText !== before, before);
  check("and follows a knob that is turned", true);

  // The door beside the page's own.
  const fit = await page.evaluate(async () => JSON.parse(await globalThis.galley.calibrate({
    v: 1, workload: { preset: "gpt2-xl" }, hardware: { preset: "a100-80g" }, policy: { kind: "keep" }, measured: { step_s: 0.5 } })));
  check("a script can calibrate", typeof fit.fitted?.efficiency === "number", JSON.stringify(fit));
  const knapsack = { size_bytes: [2, 3, 2, 4, 1], runtime_s: [1, 2, 1, 3, 2], budget_bytes: 5 };
  const packed = await page.evaluate(async (knapsack) => [
    JSON.parse(await globalThis.galley.exactPlan({ knapsack })), JSON.parse(globalThis.galley.plan({ knapsack }))], knapsack);
  check("and ask for the additive model there", packed[0].saved_runtime_s === 5, JSON.stringify(packed[0]));
  check("which the page's own door sends on", /exactPlan/.test(packed[1].error?.message), JSON.stringify(packed[1]));

  // Taken away: words and another try, for each part.
  await page.route(/\/details_bg\.wasm/, (route) => route.abort());
  await open("#v=1");
  await settled();
  await peak.click();
  const alert = page.locator(".explain-place").getByRole("alert");
  await alert.waitFor();
  check("what cannot be had is said", /could not be loaded/.test(await alert.innerText()), await alert.innerText());
  check("and the page runs on", await page.evaluate(() => document.getElementById("galley-fallback").hidden));
  const found = await violations(page);
  check("axe finds nothing", found.length === 0, found.join("\n       "));
  await page.locator(".explain-place").getByRole("button", { name: "Close" }).click();
  check("it can be put away", (await alert.count()) === 0 && (await peak.evaluate((node) => node === document.activeElement)));
  await page.locator("details.calibrate summary").click();
  await page.locator("details.calibrate").getByRole("alert").waitFor();
  await page.unroute(/\/details_bg\.wasm/);
  await page.locator("details.calibrate").getByRole("button", { name: "Try again" }).click();
  await page.locator("details.calibrate form").waitFor();
  check("another try brings it", (await page.locator("details.calibrate").getByRole("alert").count()) === 0);
};
