import { violations } from "./browser.mjs";

export const title = "a reader whose scenario does not fit makes it fit with one click, and asks why a tensor and the peak are what they are";

export const context = { viewport: { width: 1366, height: 900 } };

export default async ({ page, check, open }) => {
  const verdict = page.locator("section.verdict");
  const changes = page.locator(".misfit ol button");
  const sheet = page.getByRole("dialog");
  const settled = () => page.waitForFunction(() => !document.querySelector("section[aria-busy=true]"));
  const request = (policy) => ({ v: 1, workload: { preset: "llama-2-7b" }, hardware: { preset: "rtx-4090" }, training: { lora_rank: 16 }, policy });

  // What does not fit: what is missing, and three ways out.
  await open("#v=1&model=llama-2-7b&card=rtx-4090&lora_rank=16&policy=keep");
  await changes.first().waitFor();
  check("there are three changes", (await changes.count()) === 3, String(await changes.count()));
  const answer = await page.evaluate(async (text) => JSON.parse(await globalThis.galley.nearest(text)), JSON.stringify(request({ kind: "keep" })));
  check("the door names the same", answer.changes.length === 3 && !answer.fits, JSON.stringify(answer));
  const gib = (bytes) => (bytes / 2 ** 30).toFixed(1);
  const said = await page.locator(".misfit").innerText();
  check("the missing bytes are the engine's", said.includes((answer.missing_bytes / 2 ** 30).toPrecision(3)), said);
  for (const [i, change] of answer.changes.entries()) {
    const label = await changes.nth(i).innerText();
    check(`${change.change}: its peak is the engine's`, label.includes(gib(change.peak_bytes)), label);
  }
  const found = await violations(page);
  check("axe finds nothing", found.length === 0, found.join("\n       "));

  // By keyboard; one entry of history.
  const entries = await page.evaluate(() => history.length);
  await changes.first().focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("section.verdict.fits"));
  check("the first makes it fit", /^Fits/.test(await verdict.locator(".headline").innerText()));
  check("with the peak that it promised", (await verdict.locator(".figures").innerText()).includes(gib(answer.changes[0].peak_bytes)));
  check("the place is gone", (await page.locator(".misfit").count()) === 0);
  check("it is one decision", (await page.evaluate(() => history.length)) === entries + 1);
  await page.goBack();
  await changes.first().waitFor();
  check("Back undoes it", await verdict.evaluate((node) => node.classList.contains("fails")));

  // Every one of them really fits.
  for (let i = 1; i < 3; i += 1) {
    await changes.nth(i).click();
    await page.waitForFunction(() => document.querySelector("section.verdict.fits"));
    check(`change ${i + 1} makes it fit`, true);
    await page.goBack();
    await changes.first().waitFor();
  }

  // The place stays while a slider is dragged, so that nothing jumps under the hand.
  await open("#v=1&model=gpt2&card=rtx-4090&policy=keep&batch=60");
  await changes.first().waitFor();
  const top = () => page.locator("main").evaluate((node) => node.getBoundingClientRect().top + scrollY);
  const before = await top();
  const turn = (value, type) =>
    page.locator("input[type=range]#batch").evaluate((input, [value, type]) => {
      input.value = value;
      input.dispatchEvent(new Event("input", { bubbles: true }));
      if (type) input.dispatchEvent(new Event(type, { bubbles: true }));
    }, [value, type]);
  await turn("2");
  await page.waitForFunction(() => document.querySelector("section.verdict.fits"));
  check("it is there until the knob is let go", (await page.locator(".misfit").count()) === 1);
  check("nothing jumps meanwhile", Math.abs((await top()) - before) < 40, `${before} ${await top()}`);
  await turn("2", "change");
  await page.waitForFunction(() => !document.querySelector(".misfit"));
  check("then it goes", true);

  // A peak that does not move: asked from the verdict's own sentence.
  await open("#v=1&model=llama-3-8b&card=h100-80g&seq=8192&dtype=bf16&policy=offload-boundaries");
  await settled();
  const unmoved = verdict.getByRole("button", { name: /frees after forward/ });
  await unmoved.focus();
  await page.keyboard.press("Enter");
  await sheet.locator(".changes button").first().waitFor();
  const why = await sheet.innerText();
  check("the peak's answer names instant, operation and holders", /Why did the peak not move\?/.test(why) && /backward of block 1\./.test(why) && /Optimizer states/.test(why), why);
  check("and the lever", /Gradients and optimizer states on the host/.test(await sheet.locator(".changes button").first().innerText()), why);
  const peak = async () => (await verdict.locator(".figures dd").first().innerText()).trim();
  const high = await peak();
  await sheet.locator(".changes button").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction((high) => document.querySelector("section.verdict .figures dd")?.innerText.trim() !== high, high);
  check("the lever moves it", parseFloat(await peak()) < parseFloat(high), `${high} ${await peak()}`);
  check("and the sheet is closed", (await sheet.count()) === 0);
  await verdict.getByRole("button", { name: /^Peak: / }).press("Enter");
  await sheet.getByText("What sets the peak").waitFor();
  check("it can be asked of every peak", true);
  await page.keyboard.press("Escape");

  // A tensor's sentence, from the table of what a layer saves.
  await open("#v=1&model=llama-2-7b&card=rtx-4090&lora_rank=16&policy=mix&k=4&beta=0.5");
  await settled();
  await page.locator(".saves > button.why-number").press("Enter");
  await sheet.locator(".tensors dd").first().waitFor();
  const sentences = await sheet.locator(".tensors dd").allInnerTexts();
  check("each tensor has its sentence", sentences.length > 3 && sentences.every((text) => /^(Keep|Recompute|Offload).*\.$/.test(text)), sentences.join("\n"));
  check("with times and a turning point", sentences.some((text) => /GB\/s/.test(text) && /ms/.test(text)), sentences.join("\n"));

  // In Chinese, on a phone: nothing wider than the screen.
  await page.setViewportSize({ width: 375, height: 740 });
  await open("#v=1&model=llama-2-7b&card=rtx-4090&lora_rank=16&policy=keep&lang=zh-CN");
  await changes.first().waitFor();
  check("it speaks Chinese", /以下任一改动都可行/.test(await page.locator(".misfit").innerText()), await page.locator(".misfit").innerText());
  const boxes = await changes.evaluateAll((nodes) => nodes.map((node) => node.getBoundingClientRect()).map(({ left, right, height }) => ({ left, right, height })));
  check("they are as wide as a phone, and high enough for a finger", boxes.every(({ left, right, height }) => left >= 0 && right <= 375 && height >= 44), JSON.stringify(boxes));
  check("nothing scrolls sideways", await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await verdict.getByRole("button", { name: /^峰值/ }).press("Enter");
  await sheet.locator(".changes button").first().waitFor();
  const chinese = await sheet.innerText();
  check("the peak's answer too", /峰值由什么决定/.test(chinese) && /什么能降低它/.test(chinese), chinese);
};
