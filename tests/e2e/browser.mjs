// The browser that the journeys and the screenshots share.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

export function launch(flags = []) {
  const executablePath = process.env.CHROME || "/usr/bin/chromium";
  if (!existsSync(executablePath)) {
    throw new Error(`no browser at ${executablePath}: run scripts/setup, or set CHROME`);
  }
  return chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      ...flags,
    ],
  });
}

/** Waits until the program runs and has drawn something; throws with the reason where it cannot. */
export async function started(page) {
  await page.waitForFunction(
    () => {
      const fallback = document.getElementById("galley-fallback");
      if (fallback?.classList.contains("shown")) throw new Error("the page says that it is not running");
      const app = document.getElementById("app") ?? document.body;
      return (!fallback || fallback.hidden) && app.innerText.trim().length > 0;
    },
    undefined,
    { timeout: 30_000 },
  );
}

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

/**
 * What axe-core finds wrong with the page as it is now, one line each. It is evaluated rather than added as a script:
 * the page's content security policy would refuse that.
 */
export async function violations(page, options = {}) {
  await page.evaluate(await readFile(axe, "utf8"));
  return page.evaluate(async (options) => {
    const { violations } = await globalThis.axe.run(document, options);
    return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.target.join(" ")}`));
  }, options);
}
