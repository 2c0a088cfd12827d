// Approvals: nothing answers by accident, and the card says who answered.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { Browser, show, until, World } from "./browser.mjs";

const scripts = {
  plain: [{ toolCalls: [{ name: "shell", args: { command: "touch made" } }] }, { text: "Made." }],
  danger: [{ toolCalls: [{ name: "shell", args: { command: "rm -rf build" } }] }, { text: "Ok." }],
  parent: [{ toolCalls: [{ name: "spawn_subagent", args: { role: "helper", prompt: "Help",
    model: "plain" } }] }, { toolCalls: [{ name: "wait_subagents", args: {} }] }],
  question: [{ toolCalls: [{ name: "ask_user", args: { question: "Which database?",
    choices: ["SQLite", "Postgres"] } }] }, { text: "Thanks." }],
};

let world;
let browser;
let page;
let number = 0;
let session;

before(async () => {
  world = await World.create(scripts);
  browser = await Browser.open();
  page = await browser.page(world);
});
beforeEach(() => { session = `s${++number}`; });
after(async () => {
  await browser?.close();
  await world?.remove();
});

async function asked(model) {
  await world.submit(session, "Do it", { model });
  return (await world.fact(session, (e) => e.type === "action.required")).actionId;
}

const resolved = () => world.fact(session, (e) => e.type === "action.resolved");
const answers = async () => (await world.call("list_events", { sessionId: session, limit: 1000,
  types: ["action.resolved"] })).data.length;

test("keys that were meant for something else do not answer", async () => {
  await show(page, `#/session/${session}`);
  await world.submit(session, "Do it", { model: "plain" });
  await show(page, "#/");
  await show(page, `#/session/${session}`);
  const card = page.getByTestId("approval");
  await card.waitFor();
  for (const key of ["a", "Enter", "Space", "y", "d"]) await page.keyboard.press(key);
  await page.getByLabel("Prompt").fill("a message");
  await page.getByLabel("Prompt").press("a");
  await page.waitForTimeout(700);
  for (const key of ["a", "y"]) await page.keyboard.press(key);
  assert.equal(await answers(), 0);
  assert.equal(await card.count(), 1);
  await card.focus();
  await page.keyboard.press("a");
  assert.equal((await resolved()).payload.decision, "allow");
});

test("buttons work half a second after the card appeared, and send its digest", async () => {
  const actionId = await asked("plain");
  await show(page, "#/inbox");
  const card = page.locator(`[data-action-id="${actionId}"]`);
  await card.waitFor();
  const allow = card.getByTestId("approval-allow");
  assert.ok(await allow.isDisabled(), "at once it is disabled");
  await allow.click();  // waits until it is enabled
  assert.equal((await resolved()).payload.decision, "allow");
  await card.waitFor({ state: "detached" });
});

test("a card that moved needs its half second again", async () => {
  const actionId = await asked("plain");
  await show(page, `#/session/${session}`);
  const card = page.locator(`[data-action-id="${actionId}"]`);
  const deny = card.getByTestId("approval-deny");
  await until(() => deny.isEnabled(), "the guard");
  await page.evaluate(() => {
    document.querySelector(".timeline").prepend(Object.assign(document.createElement("p"),
      { textContent: "something new" }));
  });
  await until(() => deny.isDisabled(), "the guard again", 1_000);
  await deny.click();
  assert.equal((await resolved()).payload.decision, "deny");
});

test("a destructive command asks twice", async () => {
  const actionId = await asked("danger");
  await show(page, `#/session/${session}`);
  const card = page.locator(`[data-action-id="${actionId}"]`);
  assert.match(await card.innerText(), /Destructive/i);
  assert.match(await card.getByTestId("approval-undo").innerText(), /deleted/);
  const allow = card.getByTestId("approval-allow");
  await allow.click();
  await allow.getByText("Confirm: allow").waitFor();
  await page.waitForTimeout(600);
  assert.equal(await answers(), 0);
  await allow.click();
  assert.equal((await resolved()).payload.decision, "allow");
});

test("a question is answered by a form made from its schema", async () => {
  const actionId = await asked("question");
  await show(page, "#/inbox");
  const card = page.locator(`[data-action-id="${actionId}"]`);
  await card.getByLabel("Postgres").check();
  await card.locator("[data-decision=answer]").click();
  assert.deepEqual((await resolved()).payload.payload, { answer: "Postgres" });
});

test("after a lost race the card says how it was answered", async () => {
  const actionId = await asked("plain");
  await show(page, "#/inbox");
  const card = page.locator(`[data-action-id="${actionId}"]`);
  await until(() => card.getByTestId("approval-allow").isEnabled(), "the guard");
  // The page must not read the list again before the click.
  await page.route("**/v1/commands/list_actions", (route) => route.abort());
  const { digest } = (await world.call("list_actions", {})).data
    .find((each) => each.actionId === actionId);
  await world.call("respond_action", { actionId, decision: "deny", digest });
  await card.getByTestId("approval-allow").click();
  await card.getByText(/Someone else answered first: deny/).waitFor();
  await page.unroute("**/v1/commands/list_actions");
  assert.equal(await answers(), 1);
});

test("what a subagent asks is shown with its parent's timeline, and in the inbox", async () => {
  await world.submit(session, "Delegate", { model: "parent", mode: "default" });
  const first = await world.fact(session, (e) => e.type === "action.required");
  await world.call("respond_action", { actionId: first.actionId, decision: "allow",
    digest: first.payload.digest });
  const action = await world.fact(session, (e) => e.type === "action.required" &&
    e.threadId !== first.threadId);
  await show(page, "#/inbox");
  const card = page.locator(`[data-action-id="${action.actionId}"]`);
  await card.getByText("helper (subagent)").waitFor();
  await show(page, `#/session/${session}`);
  await card.getByText("helper (subagent)").waitFor();
  await card.getByTestId("approval-deny").click();
  const answer = await world.fact(session, (e) => e.type === "action.resolved" &&
    e.actionId === action.actionId);
  assert.equal(answer.payload.decision, "deny");
  await card.waitFor({ state: "detached" });
});

test("a token without the scope can look but not answer", async () => {
  const actionId = await asked("plain");
  const reader = await browser.page(world, session, "--scope", "read");
  const card = reader.locator(`[data-action-id="${actionId}"]`);
  await card.waitFor();
  await reader.waitForTimeout(700);
  assert.ok(await card.getByTestId("approval-allow").isDisabled());
  assert.match(await card.innerText(), /scope approve/);
  assert.ok(await reader.getByLabel("Prompt").isDisabled());
  await reader.close();
  assert.deepEqual(browser.problems, []);
});
