// The browser that the journeys and the screenshots share.

import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

export function launch() {
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
