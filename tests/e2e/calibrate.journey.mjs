import { violations } from "./browser.mjs";

export const title = "a reader types the numbers of a run, fits, applies, goes back, and is told what cannot be";

export const context = { viewport: { width: 1366, height: 900 } };

export default async ({ page, check, open }) => {
  const setting = { v: 1, workload: { preset: "gpt2-xl", batch: 4 }, hardware: { preset: "a100-80g" }, policy: { kind: "keep" } };
  const engine = (door, request) =>
    page.evaluate(([door, json]) => JSON.parse(globalThis.galley[door](json)), [door, JSON.stringify(request)]);
  const box = page.locator("details.calibrate");
  const plan = (name) => box.getByRole("group", { name });
  const field = (group, label) => plan(group).getByLabel(label, { exact: true });
  const fit = () => box.getByRole("button", { name: "Fit", exact: true }).click();
  const status = () => box.getByRole("status").innerText();
  const step = () => page.locator("section.verdict dl.figures").innerText();

  await open("#v=1&model=gpt2-xl&batch=4&card=a100-80g&policy=keep");
  const before = await step();
  await box.locator("summary").focus();
  await page.keyboard.press("Enter");

  // A run of the same model on a slower card, as the engine has it.
  const run = {
    ...setting,
    hardware: { preset: "a100-80g", efficiency: 0.313, unmodelled_gib: 1.5 },
    training: { backward_ratio: 2.37 },
  };
  const plain = await engine("evaluate", run);
  const again = await engine("evaluate", { ...run, policy: { kind: "recompute" } });

  // Nothing, nonsense, then numbers that contradict each other.
  await fit();
  check("no number at all is answered in words", /Type at least one measured number/.test(await status()), await status());
  await field(/This plan/, "Step").fill("1,5");
  await fit();
  check("what is no number is named", /Step, this plan is "1,5"; expected a number/.test(await status()), await status());
  await field(/This plan/, "Step").fill(String(plain.step_s));
  await field(/recomputed/, "Step").fill(String(plain.step_s / 2));
  await fit();
  check("a contradiction is refused and explained", /recomputing adds time/.test(await status()), await status());
  check("and nothing can be applied", (await box.getByRole("button", { name: "Apply" }).count()) === 0);

  // One number, by keyboard: Enter fits.
  await field(/recomputed/, "Step").fill("");
  await field(/This plan/, "Step").focus();
  await page.keyboard.press("Enter");
  const partial = await status();
  check("one number fits one knob and says what the others take", /Backward over forward stays: it takes/.test(partial), partial);

  // All of it.
  await field(/This plan/, "Peak").fill(String(plain.peak_bytes / 2 ** 30));
  await field(/recomputed/, "Step").fill(String(again.step_s));
  await fit();
  const fitted = await status();
  for (const value of ["0.313", "2.37", "1.50"]) check(`the run's ${value} is found`, fitted.includes(value), fitted);
  const off = await box.locator("table.residuals td:last-child").allInnerTexts();
  check("every number comes out", off.length === 3 && off.every((text) => /^[−+]?0(\.0)?\s%$/.test(text)), off.join(", "));
  check("the views wait for Apply", (await step()) === before);
  const found = await violations(page);
  check("axe finds nothing in the open box", found.length === 0, found.join("\n       "));

  await box.getByRole("button", { name: "Apply" }).click();
  const shown = new Intl.NumberFormat("en", { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
  const measured = plain.step_s < 1 ? `${shown.format(plain.step_s * 1e3)} ms` : `${shown.format(plain.step_s)} s`;
  const flat = (text) => text.replace(/\s/g, " ");
  check("the page's step is the measured one", flat(await step()).includes(measured), `${measured} in ${await step()}`);
  const hash = new URL(page.url()).hash;
  check("the address carries the knobs", /efficiency=0\.313/.test(hash) && /backward_ratio=2\.37/.test(hash), hash);
  check("what is applied says so", await box.getByRole("button", { name: "Applied" }).isDisabled());

  // Back is one decision; forgetting is another.
  await page.goBack();
  await page.waitForFunction((text) => document.querySelector("section.verdict dl.figures").innerText === text, before);
  check("Back undoes the fit in one step", !new URL(page.url()).hash.includes("efficiency"));
  await box.getByRole("button", { name: "Apply" }).click();
  await box.getByRole("button", { name: "Forget" }).click();
  check("Forget takes the knobs away", (await step()) === before && !new URL(page.url()).hash.includes("efficiency"), page.url());
  await page.goBack();
  await page.waitForFunction((text) => document.querySelector("section.verdict dl.figures").innerText !== text, before);
  check("and Back brings them again", new URL(page.url()).hash.includes("efficiency=0.313"));

  // Another setting is another run.
  await page.getByLabel("Card", { exact: true }).selectOption("h100-80g");
  check("a fit of other settings is not passed off as one", /have changed since/.test(await status()), await status());
  await page.getByLabel("Plan", { exact: true }).selectOption("recompute");
  check("beside a plan that recomputes, the other keeps everything", (await plan(/everything kept/).count()) === 1);

  for (const width of [375, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    await page.waitForTimeout(200);
    const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(`at ${width} px nothing sticks out`, over <= 0, `${over} px`);
  }
};
