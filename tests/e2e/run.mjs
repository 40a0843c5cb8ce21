// Runs every journey in this folder on the built page: node tests/e2e/run.mjs [NAME...]
//
// A journey is a file NAME.journey.mjs:
//
//   export const title = "what a reader does";
//   export default async ({ page, url, check, open, browser, context, server }) => {
//     await open("#v=1");                                  // the page, started; with a fragment if one is given
//     check("what must hold", await page.isVisible(...));  // one line of the report, true or a failure
//   };
//
// `export const context = {...}` sets options of the browser context (viewport, locale, colorScheme, ...), and
// `export const pages = (url) => ({"/host.html": "<iframe ...>"})` adds pages beside the built one. Every journey has a
// context of its own, and fails on any error in its console unless it lists it in `export const expected = [/.../]`.

import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { launch, started } from "./browser.mjs";
import { root, serve } from "./serve.mjs";

const here = new URL(".", import.meta.url);
const wanted = process.argv.slice(2);
const names = (await readdir(here))
  .filter((name) => name.endsWith(".journey.mjs"))
  .map((name) => name.replace(".journey.mjs", ""))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
  .sort();

if (names.length === 0) {
  console.error(`no journey is called ${wanted.join(", ") || "anything"}`);
  process.exit(2);
}

let passed = 0;
const failures = [];

function report(journey, what, holds, detail = "") {
  if (holds) passed += 1;
  else failures.push(`${journey}: ${what}`);
  console.log(`  ${holds ? "ok  " : "FAIL"} ${what}${!holds && detail ? `\n       ${detail}` : ""}`);
}

async function run(browser, name) {
  const journey = await import(new URL(`${name}.journey.mjs`, here));
  console.log(`${name}: ${journey.title ?? ""}`);
  const pages = {};
  const server = await serve({ pages });
  Object.assign(pages, journey.pages?.(server.url));
  const context = await browser.newContext({ locale: "en-GB", ...journey.context });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const errors = [];
  let leaving = false;
  const noted = (text) => (journey.expected ?? []).some((pattern) => pattern.test(text)) || errors.push(text);
  const listen = (page) => {
    page.on("pageerror", (error) => noted(String(error)));
    page.on("console", (message) => message.type() === "error" && noted(message.text()));
    page.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText;
      // A page that is left early has not got its icon yet, nor what it fetches beside what is shown.
      const cut = leaving && reason === "net::ERR_ABORTED";
      return /favicon/.test(request.url()) || cut || noted(`${request.url()}: ${reason}`);
    });
    page.on("response", (response) => response.status() >= 400 && noted(`${response.status()} ${response.url()}`));
  };
  listen(page);
  context.on("page", listen);
  const open = async (fragment = "") => {
    // From an empty page, or a change of the fragment alone would not load anything.
    leaving = true;
    await page.goto("about:blank");
    leaving = false;
    await page.goto(server.url + fragment);
    await started(page);
  };
  const check = (what, holds, detail) => report(name, what, holds, detail);
  try {
    await journey.default({ page, url: server.url, server, check, open, browser, context });
  } catch (error) {
    report(name, "runs to its end", false, String(error.stack ?? error).replaceAll("\n", "\n       "));
    const picture = join(root, "target", "e2e", `${name}.png`);
    await mkdir(join(root, "target", "e2e"), { recursive: true });
    if (await page.screenshot({ path: picture }).then(() => true, () => false)) console.log(`       see ${picture}`);
  }
  report(name, "leaves no error in the console", errors.length === 0, errors.join("\n       "));
  await context.close();
  await server.close();
}

const browser = await launch();
for (const name of names) await run(browser, name);
await browser.close();

if (failures.length > 0) console.log(`\nfailed:\n${failures.map((line) => `  ${line}`).join("\n")}`);
console.log(`\nend-to-end checks: ${passed} passed, ${failures.length} failed`);
process.exit(failures.length > 0 ? 1 : 0);
