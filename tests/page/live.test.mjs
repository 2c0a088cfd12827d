// The page equals the log: after kill -9, in many tabs, with hostile texts; and its token stays
// where it belongs.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, show, state, until, World } from "./browser.mjs";

const hostile = "<img src=x onerror=alert(1)><script>alert(2)</script> [x](javascript:alert(3)) " +
  "![i](http://127.0.0.1:9/i.png) \u202edesrever\u0007 \u001b[31mred";

const scripts = {
  main: [{ text: "word ".repeat(40), deltas: 20, delayMs: 400 }],
  long: [{ text: "Some words of a long answer.\n\n".repeat(40), deltas: 60, delayMs: 2500 }],
  terminal: [{ toolCalls: [{ name: "shell", args: { background: true, tty: true,
    command: "printf '\\033[1mname? \\033[0m'; read name; echo \"hello $name\"; sleep 300" } }] }],
  hostile: [{ reasoning: hostile, text: hostile, toolCalls: [
    { name: "shell", args: { command: `echo '${hostile}'` } },
    { name: hostile.slice(0, 40), args: { path: hostile } },
    { name: "update_plan", args: { plan: [{ step: hostile, status: "pending" }] } }] },
  { text: hostile }],
};

let world;
let browser;

before(async () => {
  world = await World.create(scripts);
  browser = await Browser.open();
});
after(async () => {
  await browser?.close();
  await world?.remove();
});

async function last(sessionId) {
  return (await world.call("list_events", { sessionId, limit: 1 })).asOfSequence;
}

async function upToDate(page, sessionId) {
  const sequence = await last(sessionId);
  await until(async () => (await page.getByTestId("as-of").innerText()).includes(
    String(sequence)), `fact ${sequence}`);
}

test("the link is used up, and the token is in no address or request line", async () => {
  const link = await world.agentrt("open");
  const page = await browser.context.newPage();
  await page.goto(link);
  await page.getByTestId("session-list").waitFor();
  const code = /login=(\w+)/.exec(link)[1];
  assert.ok(!page.url().includes(code));
  const token = await page.evaluate(() => sessionStorage.getItem("agentrt.token"));
  assert.match(token, /^[0-9a-f]{64}$/);
  for (const url of browser.requests) {
    assert.ok(!url.includes(token), url);
    assert.ok(url.startsWith(world.url), `${url} is loaded from elsewhere`);
  }
  assert.equal(await page.evaluate(() => document.cookie), "");
  await page.goBack();
  assert.ok(!page.url().includes(code), "not in the history");
  const second = await browser.context.newPage();
  await second.goto("about:blank");
  await second.goto(link);
  await second.getByTestId("login-error").getByText("agentrt open").waitFor();
  await page.close();
  await second.close();
});

test("a new tab gets the token of another one; signing out ends both", async () => {
  const page = await browser.page(world);
  const second = await browser.context.newPage();
  await second.goto(`${world.url}/#/inbox`);
  await second.getByTestId("inbox").waitFor();
  await page.getByText("Sign out").click();
  await page.getByTestId("login-token").waitFor();
  await second.getByTestId("login-token").waitFor();
  await page.close();
  await second.close();
});

test("after kill -9 the page shows every missed fact once", async () => {
  const page = await browser.page(world);
  await world.submit("killed", "Say something");
  await show(page, "#/session/killed");
  await page.getByTestId("timeline").getByText("Say something").waitFor();
  await page.getByLabel("Prompt").fill("a draft");
  await world.end("SIGKILL");
  await state(page, "reconnecting");
  await world.start();
  await state(page, "live");
  await upToDate(page, "killed");
  assert.equal(await page.locator("[data-kind=input]").count(), 1);
  await page.reload();
  await page.getByTestId("timeline").getByText("Say something").waitFor();
  await upToDate(page, "killed");
  assert.equal(await page.getByLabel("Prompt").inputValue(), "a draft");
  await page.close();
});

test("a prompt is sent with Enter, not while an input method composes", async () => {
  const page = await browser.page(world);
  await world.call("create_session", { sessionId: "typed" });
  await show(page, "#/session/typed");
  const prompt = page.getByLabel("Prompt");
  await prompt.fill("hello");
  await prompt.dispatchEvent("keydown", { key: "Enter", isComposing: true });
  await page.waitForTimeout(200);
  assert.equal(await page.locator("[data-kind=input]").count(), 0);
  await prompt.press("Enter");
  await page.locator("[data-kind=input]").getByText("hello").waitFor();
  await world.fact("typed", (e) => e.type === "turn.completed");
  await upToDate(page, "typed");
  assert.equal(await prompt.inputValue(), "");
  await page.close();
});

test("nothing moves while an answer streams in", async () => {
  const page = await browser.page(world);
  await world.call("create_session", { sessionId: "still" });
  await show(page, "#/session/still");
  await page.getByTestId("composer").waitFor();
  await world.submit("still", "hello", { model: "long" });
  await page.locator("[data-kind=input]").waitFor();
  await page.evaluate(() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifts.push({ value: entry.value,
        what: entry.sources.map((source) => source.node?.outerHTML?.slice(0, 80)) });
    }).observe({ type: "layout-shift" });
  });
  await world.fact("still", (e) => e.type === "model.completed");
  assert.deepEqual(await page.evaluate(() => window.shifts), []);
  // The measure itself: something that does move is noticed.
  await page.evaluate(async () => {
    const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
    scrollTo({ top: 0 });
    await frame();
    await frame();
    const block = document.createElement("div");
    block.style.height = "90px";
    document.querySelector("[data-testid=composer]").parentElement.prepend(block);
    document.querySelector(".timeline").prepend(block.cloneNode());
  });
  await until(() => page.evaluate(() => window.shifts.length > 0), "a shift");
  await page.close();
});

test("little moves while a view loads", async () => {
  await world.submit("loads", "Tell me", { model: "long" });
  await world.fact("loads", (e) => e.type === "turn.completed");
  const page = await browser.page(world, "loads");
  await page.addInitScript(() => {
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) window.shifted += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  for (const view of ["", "/log", "/tasks", "/usage", "/policy"]) {
    await page.goto(`${world.url}/#/session/loads${view}`);
    await page.reload();
    await state(page, "live");
    await page.waitForTimeout(700);
    const shifted = await page.evaluate(() => window.shifted);
    assert.ok(shifted <= 0.05, `${view || "the timeline"} shifted by ${shifted}`);
  }
  for (const hash of ["#/", "#/inbox"]) {
    await page.goto(`${world.url}/${hash}`);
    await page.reload();
    await state(page, "live");
    await page.waitForTimeout(700);
    const shifted = await page.evaluate(() => window.shifted);
    assert.ok(shifted <= 0.05, `${hash} shifted by ${shifted}`);
  }
  await page.close();
});

test("a terminal is drawn as rows, and takes input", async () => {
  const page = await browser.page(world);
  await world.submit("term", "Start it", { model: "terminal", mode: "bypass" });
  await world.fact("term", (e) => e.type === "process.output");
  await show(page, "#/session/term/processes");
  const terminal = page.getByTestId("terminal");
  await terminal.getByText("name?").waitFor();
  await page.getByLabel("Input for the process").fill("Ada");
  await page.getByLabel("Input for the process").press("Enter");
  await terminal.getByText("hello Ada").waitFor();
  await page.getByText("Terminate", { exact: true }).click();
  await page.getByText("Confirm: terminate").click();
  await page.locator("[data-testid=process-row][data-status=terminated]").waitFor();
  assert.deepEqual(browser.problems, []);
  await page.close();
});

test("twelve tabs of one session all show its end", async () => {
  await world.call("create_session", { sessionId: "many" });
  const first = await browser.page(world);
  const pages = [first];
  while (pages.length < 12) pages.push(await browser.context.newPage());
  for (const page of pages) await page.goto(`${world.url}/#/session/many`);
  await Promise.all(pages.map((page) => page.getByTestId("timeline").waitFor()));
  await world.submit("many", "hello");
  await world.fact("many", (e) => e.type === "turn.completed");
  for (const page of pages) await upToDate(page, "many");
  for (const page of pages) await page.close();
});

test("hostile texts are shown, and nothing runs or is loaded", async () => {
  const page = await browser.page(world);
  await world.call("create_session", { sessionId: "hostile", title: hostile });
  await world.submit("hostile", hostile, { model: "hostile", mode: "bypass" });
  await world.call("create_task", { sessionId: "hostile", objective: hostile });
  await world.fact("hostile", (e) => e.type === "turn.completed");
  browser.requests.length = 0;
  for (const view of ["", "/log", "/tasks", "/agents", "/processes", "/usage", "/policy"]) {
    await show(page, `#/session/hostile${view}`);
    await state(page, "live");
    await page.locator("main h1").waitFor();
    for (const fold of await page.locator("summary").all()) await fold.click().catch(() => {});
    assert.equal(await page.locator("img, iframe, object, main script").count(), 0, view);
    assert.equal(await page.locator("a[href^=javascript]").count(), 0, view);
    const text = await page.locator("main").innerText();
    assert.ok(!/[\u202e\u0007\u001b]/.test(text), `${view} has raw control characters`);
  }
  for (const url of browser.requests) assert.ok(url.startsWith(world.url), url);
  assert.deepEqual(browser.problems, []);
  await page.close();
});
