// Streams of the page: a hidden tab has none, a replaced store is read again, a bound token sees
// its session alone; and the keyboard.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Browser, show, state, until, violations, World } from "./browser.mjs";

let world;
let browser;

before(async () => {
  world = await World.create({ main: [{ text: "Hello." }],
    ask: [{ toolCalls: [{ name: "shell", args: { command: "touch made" } }] }] });
  browser = await Browser.open();
});
after(async () => {
  await browser?.close();
  await world?.remove();
});

async function subscribers() {
  const reply = await fetch(`${world.url}/metrics`,
    { headers: { Authorization: `Bearer ${world.token}` } });
  return Number(/^agentrt_subscribers (\d+)/m.exec(await reply.text())[1]);
}

// Headless pages are always visible, so the test says otherwise.
async function visibility(page, value) {
  await page.evaluate((wanted) => {
    Object.defineProperty(document, "visibilityState", { value: wanted, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, value);
}

test("a hidden tab closes its stream within five seconds and resumes where it was", async () => {
  const page = await browser.page(world);
  const { threadId } = await world.submit("hidden", "first");
  await show(page, "#/session/hidden");
  await state(page, "live");
  await until(async () => await subscribers() === 1, "the stream");
  await visibility(page, "hidden");
  await until(async () => await subscribers() === 0, "the end of the stream", 7_000);
  await world.call("submit_turn", { sessionId: "hidden", threadId,
    input: [{ type: "text", text: "second" }] });
  await page.waitForTimeout(500);
  assert.equal(await page.locator("[data-kind=input]").count(), 1);
  await visibility(page, "visible");
  await page.locator("[data-kind=input]").getByText("second").waitFor();
  assert.equal(await page.locator("[data-kind=input]").count(), 2);
  await page.close();
});

test("after the store was replaced the view is read again and says so", async () => {
  const page = await browser.page(world);
  await world.submit("replaced", "hello");
  await world.fact("replaced", (e) => e.type === "turn.completed");
  let refused = false;
  await page.route("**/v1/sessions/replaced/events?*", (route) => {
    if (refused) return route.continue();
    refused = true;
    return route.fulfill({ status: 410, contentType: "application/json",
      body: JSON.stringify({ error: { code: "gone", message: "another generation" } }) });
  });
  await show(page, "#/session/replaced");
  await page.getByText("The store was replaced").waitFor();
  await page.getByTestId("timeline").getByText("Hello.").waitFor();
  await state(page, "live");
  await page.close();
});

test("without a network the page says offline, and recovers", async () => {
  const page = await browser.page(world);
  await show(page, "#/");
  await state(page, "live");
  await browser.context.setOffline(true);
  await state(page, "offline");
  await browser.context.setOffline(false);
  await state(page, "live");
  await page.close();
});

test("a token that is bound to a session shows that session alone", async () => {
  await world.call("create_session", { sessionId: "other" });
  await world.submit("own", "Do it", { model: "ask" });
  const action = await world.fact("own", (e) => e.type === "action.required");
  const token = await world.agentrt("token", "create", "--scope", "read", "--scope", "approve",
    "--session", "own");
  const page = await browser.context.newPage();
  await page.goto(`${world.url}/#/`);
  await page.getByTestId("login-token").fill(token);
  await page.getByTestId("login-submit").click();
  const rows = page.getByTestId("session-row");
  await rows.first().waitFor();
  assert.deepEqual(await rows.evaluateAll((all) => all.map((row) => row.dataset.sessionId)),
    ["own"]);
  await show(page, "#/inbox");
  await page.locator(`[data-action-id="${action.actionId}"]`).waitFor();
  await show(page, "#/session/other");
  await page.getByText(/bound to another session/).waitFor();
  await page.getByText("Sign out").click();
  await page.close();
});

test("everything is within reach of the keyboard", async () => {
  const page = await browser.page(world);
  await page.getByTestId("session-row").first().waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.keyboard.press("j");
  const wanted = await page.evaluate(() => document.activeElement.dataset.sessionId);
  await page.keyboard.press("Enter");
  await page.getByTestId("timeline").waitFor();
  assert.ok(page.url().endsWith(`#/session/${wanted}`));
  await page.keyboard.press("2");
  await page.getByTestId("log").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  await page.getByTestId("inbox").waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("s");
  await page.getByTestId("session-list").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("no such session");
  await page.getByText("No session matches").waitFor();
  assert.deepEqual(browser.problems, []);
  await page.close();
});
