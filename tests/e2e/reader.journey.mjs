import { violations } from "./browser.mjs";

export const title = "a reader picks a model and a card, drags, decides, pastes, switches language and theme, and goes back";

export const context = { viewport: { width: 1366, height: 900 } };

export const pages = (url) => ({
  "/course/host.html": `<!doctype html><html lang="en"><title>A course</title><link rel="icon" href="data:," /><iframe title="Galley" width="700" height="600"
    src="${url}?embed&views=timeline,ledger#v=1&model=gpt2&card=rtx-3090&policy=checkpoint&k=4"></iframe>`,
});

export default async ({ page, url, check, open, server }) => {
  const verdict = () => page.locator("section.verdict").innerText();
  const answered = () => page.waitForFunction(() => !document.querySelector("section[aria-busy=true]"));
  const slider = (id) => page.locator(`input[type=range]#${id}`);

  await open();
  await answered();
  check("the first view answers at once", /Fits, with/.test(await verdict()), await verdict());
  check("the search ran in a worker", !(await page.locator(".notices").innerText()).includes("without a worker"));

  // Pick Llama-2-7B and an RTX 4090, as the opening scenario has it, then another card and back.
  await page.getByLabel("Card", { exact: true }).selectOption("a100-80g");
  const roomy = await verdict();
  check("a larger card is told from the smaller", roomy.includes("80.0"), roomy);
  await page.getByLabel("Card", { exact: true }).selectOption("rtx-4090");
  await page.getByLabel("Model", { exact: true }).selectOption("llama-2-7b");

  // The page says what the engine says.
  const asked = { v: 1, workload: { preset: "llama-2-7b" }, hardware: { preset: "rtx-4090" }, training: { lora_rank: 16 } };
  const ask = (policy) => page.evaluate((json) => JSON.parse(globalThis.galley.evaluate(json)), JSON.stringify({ ...asked, policy }));
  const engine = await ask({ kind: "mix", k: 4, beta: 0.5 });
  const gib = (engine.peak_bytes / 2 ** 30).toFixed(1);
  check("the verdict's peak is the engine's", (await verdict()).includes(gib), `${gib} in ${await verdict()}`);

  // Each of the four sliders, by keyboard.
  for (const id of ["batch", "k", "beta", "bandwidth"]) {
    const before = await page.locator("#views").innerText();
    await slider(id).focus();
    await page.keyboard.press("PageUp");
    await page.keyboard.press("ArrowRight");
    await answered();
    check(`the arrow keys turn ${id} and the views follow`, (await page.locator("#views").innerText()) !== before);
    const spoken = await slider(id).getAttribute("aria-valuetext");
    check(`${id} is spoken with its value`, /\d/.test(spoken ?? ""), spoken);
  }

  // Every slider to both ends, by pointer, and nothing breaks.
  for (const id of await page.locator("input[type=range]").evaluateAll((list) => list.map(({ id }) => id))) {
    for (const share of [0.999, 0.001]) {
      const box = await slider(id).boundingBox();
      await page.mouse.click(box.x + box.width * share, box.y + box.height / 2);
    }
  }
  await answered();
  const drawn = await page.locator("svg").evaluateAll((list) => list.map((svg) => svg.outerHTML).join(""));
  check("no chart has a number that is none", !/NaN|Infinity|undefined/.test(drawn));

  // A decision is one entry of history.
  await open("#v=1&model=llama-2-7b&card=rtx-4090&lora_rank=16&policy=mix&k=4&beta=0.5");
  const [plan] = [page.getByLabel("Plan", { exact: true })];
  await plan.selectOption("offload");
  const offloaded = await verdict();
  check("the address carries the decision", new URL(page.url()).hash.includes("policy=offload"), page.url());
  await page.goBack();
  await page.waitForFunction((text) => document.querySelector("section.verdict").innerText !== text, offloaded);
  check("Back undoes it", (await plan.inputValue()) === "mix");

  // The best plan under λ, and a dot by keyboard.
  await answered();
  await page.getByRole("button", { name: "Use best under λ" }).click();
  const best = await verdict();
  await answered();
  check("the best plan is used", new URL(page.url()).hash.includes("policy="), best);
  await page.getByRole("slider", { name: "Plans on the front" }).focus();
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  check("the front's other end is chosen by keyboard", (await verdict()) !== best, await verdict());

  // Out of memory is a state, with its sentence and a picture.
  await page.getByLabel("Training", { exact: true }).selectOption("full");
  check("what does not fit is said", /Does not fit/.test(await verdict()), await verdict());
  check("and drawn", (await page.locator("figure.chart-ledger path.mark").count()) > 0);

  // Somebody's own model; nonsense first.
  await page.getByRole("button", { name: "Open a file" }).click();
  const box = page.getByLabel("JSON");
  const kept = await verdict();
  await box.fill('{"model_type": "mixtral", "num_local_experts": 8}');
  await page.getByRole("button", { name: "Use the text" }).click();
  const refusal = await page.locator(".paste [role=alert]").innerText();
  check("a config that is not modelled is refused by key", refusal.includes("num_local_experts"), refusal);
  check("the last good state stays", (await verdict()) === kept);
  await box.fill('{"model_type": "qwen3", "num_hidden_layers": 28, "hidden_size": 1024, "num_attention_heads": 16, "num_key_value_heads": 8, "intermediate_size": 3072, "vocab_size": 151936, "tie_word_embeddings": true}');
  await page.getByRole("button", { name: "Use the text" }).click();
  await page.waitForFunction((text) => document.querySelector("section.verdict").innerText !== text, kept);
  check("a config that reads is used", (await page.locator(".paste [role=alert]").count()) === 0);
  await page.getByRole("button", { name: "Close" }).click();

  // Both languages, both themes: axe, and no page wider than the window.
  for (const [lang, language] of [["en", "中文"], ["zh-CN", "English"]]) {
    for (const theme of ["light", "dark"]) {
      await page.locator("select#theme").selectOption(theme);
      const found = await violations(page);
      check(`axe finds nothing in ${lang}, ${theme}`, found.length === 0, found.join("\n       "));
    }
    check(`the document is in ${lang}`, (await page.locator("html").getAttribute("lang")) === lang);
    await page.getByRole("button", { name: lang === "en" ? "切换到中文" : "Switch to English" }).click();
    check(`the button now offers ${lang}`, (await page.locator(".page-menus button").first().innerText()) !== language);
  }
  for (const width of [375, 768, 1366, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    await page.waitForTimeout(200);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(`at ${width} px nothing sticks out`, over <= 0, `${over} px`);
  }

  // In somebody's course, under a sub-path.
  await page.goto(new URL("/course/host.html", server?.url ?? url).href);
  const frame = page.frameLocator("iframe");
  await frame.locator("figure.chart-timeline svg").first().waitFor();
  check("embedded it shows the views asked for", (await frame.locator("figure.chart-ledger").count()) === 1);
  check("and no header or menus", (await frame.locator("header, select").count()) <= 1 && (await frame.locator("header").count()) === 0);
};
