export const title = "the page loads under a sub-path, and its program answers scripts and a worker";

export default async ({ page, url, check, open, browser }) => {
  await open();
  check("its address is a sub-path", new URL(page.url()).pathname === new URL(url).pathname && url.endsWith("/galley/"));
  check("it shows something", (await page.locator("body").innerText()).trim().length > 0);
  check("the notice that it is not running is away", !(await page.isVisible("#galley-fallback")));
  check("no script is written into the page", (await page.locator("script:not([src])").count()) === 0);

  const functions = await page.evaluate(() =>
    ["evaluate", "front", "plan", "schema"].filter((name) => typeof globalThis.galley?.[name] !== "function"),
  );
  check("scripts can call the program", functions.length === 0, `missing: ${functions}`);

  const addresses = await page.evaluate(() => globalThis.galleyAssets);
  check(
    "the addresses of programs and worker are absolute",
    [addresses.worker, ...Object.values(addresses.page), ...Object.values(addresses.reader), ...Object.values(addresses.details)].every((address) => address.startsWith(url)),
    JSON.stringify(addresses),
  );

  // Called before the program is there, once unknown and once meaningless: every call is answered, in order.
  const replies = await page.evaluate(
    ({ page: { js, wasm }, worker }) =>
      new Promise((resolve, reject) => {
        const search = new Worker(worker, { type: "module" });
        const replies = [];
        search.onerror = (event) => reject(new Error(event.message ?? "the worker did not load"));
        search.onmessage = ({ data }) => replies.push(data) === 2 && resolve(replies);
        search.postMessage({ id: 1, call: "evict", json: "{}" });
        search.postMessage({ id: 2, call: "front", json: "not json" });
        search.postMessage({ type: "init", js, wasm });
        search.postMessage({ type: "init", js: "nowhere", wasm: "nowhere" });
      }),
    addresses,
  );
  check("the worker refuses an unknown call", replies[0].id === 1 && "error" in replies[0], JSON.stringify(replies));
  check("the worker answers a call made too early", replies[1].id === 2 && "json" in replies[1], JSON.stringify(replies));

  const silent = await browser.newContext({ javaScriptEnabled: false });
  const still = await silent.newPage();
  await still.goto(url);
  check("without JavaScript it says what it needs", await still.isVisible("#galley-fallback"));
  await silent.close();

  const broken = await browser.newContext();
  await broken.route("**/*.wasm", (route) => route.abort());
  const stopped = await broken.newPage();
  await stopped.goto(url);
  await stopped.waitForSelector("#galley-fallback.shown");
  check("without its program it says so", await stopped.isVisible("#galley-fallback"));
  await broken.close();
};
