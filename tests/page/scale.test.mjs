// A session of 100,000 facts: the page keeps few elements and little memory, and a jump in the log
// costs few requests. The facts are made up by the test, so that it needs no daemon of that size.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, show, until, World } from "./browser.mjs";

const facts = 100_000;
const elementsMax = 2_000;
const heapBytesMax = 100_000_000;
const requestsPerJumpMax = 3;

let world;
let browser;
let page;
let reads = 0;

function fact(sequence) {
  const first = sequence === 1;
  const turn = Math.floor(sequence / 100);
  const types = ["item.started", "model.delta", "item.completed", "run.status"];
  const type = first ? "session.created" : types[sequence % types.length];
  const payloads = { "session.created": { cwd: "/srv/big" }, "model.delta": { text: "word " },
    "item.started": { kind: "agent_message" }, "run.status": { status: "running", phase: "model",
      title: "Answering" }, "item.completed": { kind: "agent_message", status: "completed",
      text: `answer ${sequence}` } };
  return { type, eventId: `evt_${sequence}`, schemaVersion: "0.4.0", runtimeId: "rt", sequence,
    timestamp: new Date(1_790_000_000_000 + sequence).toISOString(), sessionId: "big",
    threadId: "main", turnId: `turn_${turn}`, stepId: `step_${Math.floor(sequence / 4)}`,
    payload: payloads[type] };
}

function range(after, limit) {
  const out = [];
  for (let at = after + 1; at <= Math.min(facts, after + limit); ++at) out.push(fact(at));
  return out;
}

async function fake() {
  const json = (route, body) => route.fulfill({ contentType: "application/json",
    body: JSON.stringify(body) });
  await page.route("**/v1/commands/get_session", (route) => json(route, { sessionId: "big",
    cwd: "/srv/big", createdAt: fact(1).timestamp, asOfSequence: facts, generation: "g" }));
  await page.route("**/v1/commands/list_events", (route) => {
    const { after: from = 0, limit = 100 } = route.request().postDataJSON();
    reads += 1;
    return json(route, { data: range(from, limit), generation: "g", asOfSequence: facts });
  });
  await page.route("**/v1/sessions/big/events?*", (route) => {
    const params = new URL(route.request().url()).searchParams;
    const from = Number(params.get("after"));
    if (params.has("limit")) return json(route, { data: range(from, Number(params.get("limit"))) });
    const text = range(from, facts).map((each) =>
      `id: ${each.sequence}\nevent: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join("");
    return route.fulfill({ contentType: "text/event-stream", body: `: ok\n\n${text}` });
  });
}

before(async () => {
  world = await World.create({ main: [{ text: "hello" }] });
  browser = await Browser.open();
  page = await browser.page(world);
  await fake();
});
after(async () => {
  await browser?.close();
  await world?.remove();
});

const elements = () => page.evaluate(() => document.querySelectorAll("*").length);

test("the log of 100,000 facts is scrolled end to end", async () => {
  await show(page, "#/session/big/log");
  await page.locator(`[data-testid=log][aria-rowcount='${facts}']`).waitFor();
  await page.locator(`[data-sequence='${facts}'] .log-type:not(:empty)`).waitFor();
  for (const wanted of [1, 50_000, 99_999, 12_345, 70_001]) {
    reads = 0;
    await page.getByTestId("log-jump").fill(String(wanted));
    await page.getByTestId("log-jump").press("Enter");
    await page.locator(`[data-sequence='${wanted}'] .log-type:not(:empty)`).waitFor();
    assert.ok(reads <= requestsPerJumpMax, `${reads} requests for a jump to ${wanted}`);
    assert.ok(await elements() < elementsMax, `${await elements()} elements`);
  }
  await page.getByTestId("log").evaluate(async (log) => {
    for (let top = 0; top < log.scrollHeight; top += log.scrollHeight / 60) {
      log.scrollTop = top;
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
    }
  });
  assert.ok(await elements() < elementsMax);
  const session = await browser.context.newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  assert.ok(usedSize < heapBytesMax, `${usedSize} bytes of heap`);
});

test("the timeline and the past of a long session stay small", async () => {
  await show(page, "#/session/big");
  await page.getByTestId("timeline").waitFor();
  await page.getByText("The view starts at").waitFor();
  assert.ok(await elements() < 2 * elementsMax, `${await elements()} elements`);
  await show(page, "#/session/big?at=50000");
  await page.getByText("as of fact 50000").waitFor();
  await page.getByTestId("scrubber").focus();
  await page.keyboard.press("ArrowRight");
  await until(async () => (await page.getByTestId("as-of").innerText()).includes("50001"),
    "the next fact", 5_000);
  assert.deepEqual(browser.problems, []);
});

test("more than 300 tasks are a list with counts", async () => {
  await world.call("create_session", { sessionId: "many" });
  for (let first = 0; first < 310; first += 62) {
    const calls = Array.from({ length: 62 }, (_, at) => ({ jsonrpc: "2.0", id: at,
      method: "create_task", params: { sessionId: "many", taskId: `many_${first + at}`,
        objective: `step ${first + at}` } }));
    const reply = await fetch(`${world.url}/v1/rpc`, { method: "POST", body: JSON.stringify(calls),
      headers: { Authorization: `Bearer ${world.token}`, "Content-Type": "application/json" } });
    assert.ok((await reply.json()).every((each) => each.result));
  }
  const plain = await browser.page(world);
  await show(plain, "#/session/many/tasks");
  await plain.getByText("310 tasks; the newest 300 are listed.").waitFor();
  await plain.locator(".task-counts").getByText("310").waitFor();
  await plain.getByText("step 309").waitFor();
  assert.equal(await plain.getByText("step 9", { exact: true }).count(), 0);
  assert.ok(await plain.evaluate(() => document.querySelectorAll("*").length) < 2 * elementsMax);
});
