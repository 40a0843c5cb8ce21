export const title = "a reader trains over many cards: stages, bytes per parameter, states on the host, and what is not counted";

export default async ({ page, check, open: load }) => {
  // A search that is left running would end with its page.
  const answered = () => page.waitForFunction(() => !document.querySelector("section[aria-busy=true]"));
  const open = async (fragment) => {
    await load(fragment);
    await answered();
  };
  const verdict = () => page.locator("section.verdict").innerText();
  const slider = (id) => page.locator(`input[type=range]#${id}`);
  const notices = () => page.locator(".notices").innerText();
  const peak = async () => (await verdict()).match(/Peak ±[\d.]+\s%\s+([\d.]+)/)?.[1];
  const turn = async (id, key) => {
    await slider(id).focus();
    await page.keyboard.press(key);
  };

  await open("#v=1&model=gpt3-175b&card=a100-80g");
  check("without a pipeline no stage is asked for", (await slider("stage").count()) === 0);
  check("and nothing is left out of the time", !(await notices()).includes("not counted"));

  await answered();
  await open("#v=1&model=gpt3-175b&card=a100-80g&tp=8&pp=8&accumulation=64&policy=selective");
  const said = await notices();
  check("all-reduces and sends are said not to be counted", /tensor parallelism; sends/.test(said), said);
  const [first, step] = [await peak(), await verdict()];
  await turn("virtual-stages", "ArrowRight");
  check("interleaving holds more", Number(await peak()) > Number(first), `${await peak()} after ${first}`);
  check("and is in the address", page.url().includes("virtual_stages=2"), page.url());
  check("the verdict's time follows", (await verdict()) !== step);
  await turn("stage", "End");
  check("the last stage has the head", (await page.locator("#views").innerText()).includes("head"));

  // Bytes per parameter: by policy until a field is filled, and again when it is emptied.
  await page.getByText("All settings").click();
  const table = page.locator("table.states");
  const caption = await table.locator("caption").innerText();
  check("the table is labelled states only", caption.includes("states only, activations excluded"), caption);
  const sum = () => table.locator("tfoot td").first().innerText();
  check("mixed AdamW is 16 bytes", (await sum()) === "16", await sum());
  const field = page.locator("#states-gradient_bytes");
  await field.fill("4");
  await field.press("Enter");
  check("with fp32 gradients it is 18", (await sum()) === "18", await sum());
  await field.fill("");
  await field.press("Enter");
  check("an empty field is by policy again", (await sum()) === "16", await sum());

  await page.locator("#set-training-offload_states").selectOption("all");
  check("weights leave with ZeRO 3 alone", /zero|ZeRO/.test(await notices()), await notices());
  await page.locator("#set-training-offload_states").selectOption("optimizer");
  check("states on the host are told", (await table.innerText()).includes("On the host"));

  await answered();
  await open("#v=1&model=llama-3-8b&card=h100-80g&tp=5");
  check("heads that cannot be shared out are refused", /divisor of heads/.test(await notices()), await notices());

  await open("#v=1&model=llama-2-7b&card=a100-80g&lora_rank=16&policy=offload&medium=ssd");
  check("the drive's life is told", /rated 600 TB last [\d.,]+ days/.test(await verdict()), await verdict());
};
