export const title = "the cases are fetched when asked for, computed, filtered, and a row's scenario is loaded and taken back";

export default async ({ page, url, check, open, context }) => {
  const asked = [];
  page.on("request", (request) => request.url().includes("cases.json") && asked.push(request.url()));
  await open("#v=1");
  check("a first visit does not fetch the cases", asked.length === 0);

  const section = page.getByRole("region", { name: "How right is this?" });
  await section.getByText("How right is this?").click();
  await page.waitForFunction(() => document.querySelectorAll(".accuracy .rows tbody tr").length > 0);
  check("opened, it fetches them once", asked.length === 1 && asked[0].startsWith(url), String(asked));

  // A slider moves while cases are computed: the verdict follows.
  const batch = page.locator("input[type=range]#batch");
  const verdict = () => page.locator("section.verdict").innerText();
  const before = await verdict();
  await batch.focus();
  await page.keyboard.press("ArrowRight");
  check("the page answers meanwhile", (await verdict()) !== before);

  await page.waitForSelector(".accuracy-status[aria-busy=false]", { timeout: 60_000 });
  const status = await section.getByRole("status").first().innerText();
  const [hold, all] = status.match(/\d+/g).map(Number);
  check("every figure is counted", all > 900 && hold > 0 && hold <= all, status);
  const sums = await section.locator(".groups tbody tr td:nth-of-type(1)").allInnerTexts();
  const counts = sums.map((text) => text.split("/").map(Number));
  const sum = (i) => counts.reduce((total, pair) => total + pair[i], 0);
  check("the groups add up to it", sum(0) === hold && sum(1) === all, `${sum(0)} of ${sum(1)}, ${status}`);

  const lines = section.locator(".rows tbody tr");
  check("a page of rows is shown, not all", (await lines.count()) <= 40 && (await lines.count()) > 5);
  await section.getByLabel("Only what does not come out").check();
  const failing = await section.locator(".pager").getByRole("status").innerText();
  check("as many fail as do not come out", Number(failing.match(/(\d+)$/)[1]) === all - hold, failing);
  check("each failing row is marked", (await lines.count()) === (await section.locator(".rows tbody tr.fails").count()));
  check(
    "and says what was found",
    (await section.locator(".rows tbody tr.fails .why").allInnerTexts()).every((text) => text.length > 20),
  );
  await section.getByLabel("Only what does not come out").uncheck();

  await section.getByRole("button", { name: "Parameters" }).click();
  check("a group is shown alone", (await section.getByLabel("Group", { exact: true }).inputValue()) !== "");
  await section.getByLabel("Find").fill("gpt-2 xl");
  check("words find rows", (await lines.count()) === 1, await lines.allInnerTexts().then(String));

  const last = page.url();
  await section.getByRole("button", { name: "Load the scenario of GPT-2 XL 1.56B" }).click();
  await page.waitForFunction((last) => location.href !== last, last);
  check("its scenario is in the address", page.url().includes("model=gpt2-xl"), page.url());
  check("and in the menu", (await page.locator("select#model").inputValue()) === "gpt2-xl");
  await page.goBack();
  check("Back returns", page.url() === last && (await page.locator("select#model").inputValue()) === "llama-2-7b");

  const embedded = await context.newPage();
  await embedded.goto(`${url}#v=1&embed=1`);
  await embedded.waitForSelector(".verdict");
  await embedded.waitForLoadState("networkidle");
  check("an embedded page has none of it", (await embedded.locator(".accuracy").count()) === 0);
};
