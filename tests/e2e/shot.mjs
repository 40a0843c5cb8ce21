// Screenshots of the built page, for looking at it.
//   node tests/e2e/shot.mjs --out DIR [--url-fragment '#...'] [--width 375,1366,1920] [--height 900]
//                           [--theme light,dark] [--lang en,zh-CN] [--motion no-preference,reduce] [--full] [--wait 500]

import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch, started } from "./browser.mjs";
import { serve } from "./serve.mjs";

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    "url-fragment": { type: "string", default: "" },
    width: { type: "string", default: "1366" },
    height: { type: "string", default: "900" },
    theme: { type: "string", default: "light" },
    lang: { type: "string", default: "en" },
    motion: { type: "string", default: "no-preference" },
    full: { type: "boolean", default: false },
    wait: { type: "string", default: "500" },
  },
});
if (!values.out) {
  console.error("where to? node tests/e2e/shot.mjs --out DIR");
  process.exit(2);
}

const fragment = values["url-fragment"].replace(/^#?(?=.)/, "#");
const list = (name) => values[name].split(",").filter(Boolean);
await mkdir(values.out, { recursive: true });
const server = await serve();
const browser = await launch();
let failed = false;

for (const width of list("width").map(Number))
  for (const colorScheme of list("theme"))
    for (const locale of list("lang"))
      for (const reducedMotion of list("motion")) {
        const context = await browser.newContext({
          viewport: { width, height: Number(values.height) },
          deviceScaleFactor: width < 600 ? 2 : 1,
          colorScheme,
          locale,
          reducedMotion,
        });
        const page = await context.newPage();
        page.on("pageerror", (error) => console.log(`  ${error}`));
        page.on("console", (message) => message.type() === "error" && console.log(`  ${message.text()}`));
        await page.goto(server.url + fragment);
        await started(page).catch((error) => {
          failed = true;
          console.log(`  ${error.message}`);
        });
        await page.waitForTimeout(Number(values.wait));
        const motion = reducedMotion === "reduce" ? "-still" : "";
        const path = join(values.out, `${width}-${colorScheme}-${locale}${motion}.png`);
        await page.screenshot({ path, fullPage: values.full });
        console.log(path);
        await context.close();
      }

await browser.close();
await server.close();
process.exit(failed ? 1 : 0);
