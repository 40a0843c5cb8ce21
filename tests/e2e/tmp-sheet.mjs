import { launch, started } from "./browser.mjs";
import { serve } from "./serve.mjs";
const out = process.argv[2];
const server = await serve();
const browser = await launch();
const F = "#v=1&model=llama-2-7b&card=rtx-4090&lora_rank=16&policy=mix&k=4&beta=0.5";
const G = "#v=1&model=gpt2&card=a100-80g&policy=checkpoint&k=4&attention=eager";
const sizes = [[375, 740], [1366, 900], [1920, 1080]];
for (const [w, h] of sizes) for (const [theme, lang] of (process.argv[3] ? [["light", "en"]] : [["light", "en"], ["dark", "zh-CN"]])) {
  const ctx = await browser.newContext({ viewport: { width: w, height: h }, hasTouch: w < 500 });
  const page = await ctx.newPage();
  const shots = [
    [F, "section.verdict .figures button", 0, "peak"],
    [F, "section.verdict .figures button", 2, "step"],
    [F, ".times button", 0, "forward"],
    [F, ".chart-counter .legend button", 4, "cat"],
    [F, ".chart-why button", 0, "why"],
    [G, ".saves > button", 0, "saved"],
  ];
  for (const [frag, sel, i, name] of shots) {
    await page.goto("about:blank");
    await page.goto(server.url + frag + `&lang=${lang}&theme=${theme}`);
    await started(page);
    await page.waitForTimeout(900);
    const b = page.locator(sel).nth(i);
    if (!(await b.count())) { console.log("none", name); continue; }
    await b.scrollIntoViewIfNeeded();
    await b.click();
    await page.waitForTimeout(350);
    await page.screenshot({ path: `${out}/${name}-${w}-${theme}-${lang}.png` });
  }
  await ctx.close();
}
await browser.close(); await server.close();
