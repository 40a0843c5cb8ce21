import { violations } from "./browser.mjs";

export const title = "a reader asks the other way round, puts answers to use, goes back, and is never made to wait";

export const context = { viewport: { width: 1366, height: 900 } };

export default async ({ page, check, open }) => {
  const engine = (request) => page.evaluate((json) => JSON.parse(globalThis.galley.evaluate(json)), JSON.stringify(request));
  const door = (request) => page.evaluate(async (json) => JSON.parse(await globalThis.galley.inverse(json)), JSON.stringify(request));
  const box = page.locator("details.inverse");
  const row = (name) => box.locator(".question", { has: page.getByRole("button", { name, exact: true }) });
  const flat = (text) => text.replace(/\s/g, " ");
  const answer = async (name) => {
    await page.waitForFunction(
      (name) => {
        const rows = [...document.querySelectorAll("details.inverse .question")];
        const row = rows.find((row) => row.querySelector("button").textContent === name);
        return row?.querySelector("[role=status] p") && row.querySelector("[aria-busy]")?.getAttribute("aria-busy") === "false";
      },
      name,
      { timeout: 60_000 },
    );
    return flat(await row(name).getByRole("status").innerText());
  };
  const ask = async (name) => {
    await row(name).getByRole("button", { name, exact: true }).click();
    return answer(name);
  };
  const use = (name) => row(name).getByRole("button", { name: "Use it" }).click();
  const hash = () => new URL(page.url()).hash;
  const request = {
    v: 1,
    workload: { preset: "llama-2-7b" },
    training: { lora_rank: 16 },
    hardware: { preset: "rtx-4090" },
    policy: { kind: "mix", k: 4, beta: 0.5 },
  };

  await open("#v=1");
  // By keyboard: the box, the first question, its answer, put to use.
  await box.locator("summary").focus();
  await page.keyboard.press("Enter");
  await row("Largest batch that fits").waitFor();
  await row("Largest batch that fits").getByRole("button").first().focus();
  await page.keyboard.press("Enter");
  const batch = await answer("Largest batch that fits");
  const asked = await door({ ...request, inverse: { ask: "batch" } });
  check("the page says what the door says", batch.includes(`Batch ${asked.value} fits`) && batch.includes(`${asked.value + 1} does not`), batch);
  check("the value after it does not fit", !(await engine({ ...request, workload: { ...request.workload, batch: asked.value + 1 } })).fits);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.waitForFunction((n) => location.hash.includes(`batch=${n}`), asked.value);
  const fits = await page.locator("section.verdict").innerText();
  check("put to use, the page fits", /fits/i.test(fits) && !/does not fit/i.test(fits), fits);
  check("and the button says so", await row("Largest batch that fits").getByRole("button", { name: "In use" }).isDisabled());
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("batch="));
  check("Back undoes it, and it can be used again", (await row("Largest batch that fits").getByRole("button", { name: "Use it" }).count()) === 1);

  // The longest sequence, exactly and by the granule.
  const sequence = await ask("Longest sequence that fits");
  check("the longest sequence is given with its multiple", /tokens fit/.test(sequence) && /largest multiple of 128/.test(sequence), sequence);

  // Under the best plan a larger batch fits.
  await box.getByLabel("Batch, sequence and link, under").selectOption("best");
  const best = await ask("Largest batch that fits");
  const more = Number(/Batch (\d+) fits/.exec(best)?.[1]);
  check("the best plan holds at least as much", more >= asked.value && /proved|proof/.test(best), best);
  await use("Largest batch that fits");
  await page.waitForFunction((n) => location.hash.includes(`batch=${n}`), more);
  check("its plan comes along", !/policy=mix/.test(hash()), hash());
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("batch="));

  // Memory: refused words, then a number.
  const field = box.getByLabel("Slowdown over keeping everything");
  await field.fill("a little");
  check("what is no number is named", /slowdown is "a little"/.test(await ask("Least memory at this slowdown")), await answer("Least memory at this slowdown"));
  await field.fill("10");
  const memory = await ask("Least memory at this slowdown");
  check("the least memory has a plan and a neighbour", /GiB: /.test(memory) && /With .* less (the fastest plan takes|no plan runs)/.test(memory), memory);
  await use("Least memory at this slowdown");
  await page.waitForFunction(() => /memory_gib|limit/.test(location.hash));
  check("the budget moves to it", !/does not fit/i.test(await page.locator("section.verdict").innerText()));
  await page.goBack();

  // Cards.
  const card = await ask("Cheapest card that fits");
  check("the cheapest card has a price", /at \$[\d.]+ an hour/.test(card), card);
  const rows = await row("Cheapest card that fits").locator("tbody tr").count();
  check("every card is listed", rows === 12, String(rows));
  check("and where prices come from", /Prices move.*20\d\d/.test(await row("Cheapest card that fits").innerText()));
  await use("Cheapest card that fits");
  await page.waitForFunction(() => /card=rtx-3090|rtx-3090/.test(location.hash));
  await page.goBack();

  // Bandwidth: the answer, the tick, and the slider that stands on it.
  await box.getByLabel("Batch, sequence and link, under").selectOption("own");
  await page.waitForFunction(() => document.querySelector(".marks .tall")?.getAttribute("d"));
  const link = await ask("Least bandwidth that hides everything");
  const rate = /([\d.]+) GB\/s each way/.exec(link)?.[1];
  check("a bandwidth hides everything", rate !== undefined && /At [\d.]+ GB\/s it waits/.test(link), link);
  const about = flat(await page.locator("#bandwidth-about").innerText());
  check("the slider marks the same", about.includes(`from ${rate} GB/s this plan never waits`), about);
  const ticks = await page.locator(".marks path").first().getAttribute("d");
  check("and every layer's own", ticks.split("M").length > 10, ticks);
  const place = await page.evaluate((rate) => {
    const [tick, input] = [document.querySelector(".marks .tall"), document.querySelector("#bandwidth")];
    const [box, track] = [tick.getBoundingClientRect(), input.getBoundingClientRect()];
    const share = Math.log(rate) / Math.log(500);
    return box.x + box.width / 2 - (track.x + 8 + share * (track.width - 16));
  }, Number(rate));
  check("the tick stands where the thumb would", Math.abs(place) < 3, `${place} px`);
  await use("Least bandwidth that hides everything");
  await page.waitForFunction((rate) => location.hash.includes(rate), rate);
  check("put to use, the slider has it", (await page.locator("#bandwidth-field").inputValue()) === String(Number(rate)));
  await page.goBack();

  // The front: its knee and its line of equal cost, in the picture and in the table.
  await page.waitForFunction(() => document.querySelector(".chart-pareto .knee path") && !document.querySelector("section[aria-busy=true]"));
  check("the knee is named", (await page.locator(".knee text").textContent()) === "knee");
  check("beside the line of equal cost", (await page.locator(".iso").count()) === 1);
  await page.locator(".chart-pareto details.twin summary").click();
  const named = page.locator(".chart-pareto tbody th", { hasText: "(knee)" });
  await named.first().waitFor();
  check("the table has it too", (await named.count()) === 1);

  // Another setting: an old answer says so and cannot be used.
  await page.locator("#batch-field").fill("2");
  await page.keyboard.press("Enter");
  const stale = row("Largest batch that fits");
  check("an old answer is not passed off as one", /settings have changed/.test(await stale.getByRole("status").innerText()) && (await stale.getByRole("button").count()) === 1);
  const found = await violations(page);
  check("axe finds nothing in the open box", found.length === 0, found.join("\n       "));

  for (const width of [375, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    await page.waitForTimeout(200);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(`at ${width} px nothing sticks out`, over <= 0, `${over} px`);
  }

  // In Chinese, with a workload that has fewer questions.
  await open("#v=1&lang=zh-CN&workload=lesson");
  await page.getByText("反过来问").click();
  await box.locator(".question").first().waitFor();
  check("a lesson has no sequence to ask about", (await box.locator(".question").count()) === 4);
  const chinese = await ask("放得下的最大批量");
  check("it speaks the page's language", /批量 \d+ 放得下|任何批量都放不下/.test(chinese), chinese);

  // While it searches, the page goes on: no long task belongs to a question, which a worker answers.
  await open("#v=1");
  await box.locator("summary").click();
  await box.getByLabel("Batch, sequence and link, under").selectOption("best");
  await page.waitForTimeout(1000);
  const longest = await page.evaluate(async () => {
    const found = [];
    const observer = new PerformanceObserver((list) => found.push(...list.getEntries().map((entry) => entry.duration)));
    observer.observe({ type: "longtask" });
    const button = [...document.querySelectorAll("details.inverse button")].find((button) => button.textContent === "Longest sequence that fits");
    button.click();
    while (document.querySelector("details.inverse [aria-busy=true]") || !document.querySelector("details.inverse [role=status] p")) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    observer.disconnect();
    return Math.max(0, ...found);
  });
  check("no task of the page is long while a question is answered", longest < 100, `${longest} ms`);

  // Where workers are blocked, the page answers itself.
  await page.addInitScript(() => {
    globalThis.Worker = class {
      constructor() {
        throw new Error("blocked");
      }
    };
  });
  await open("#v=1");
  await box.locator("summary").click();
  const alone = await ask("Largest batch that fits");
  check("without workers the answer is the same", alone === batch, alone);
};
