// Every view, in both themes, wide and narrow, empty and full: nothing that axe, the content policy
// or the console complains about, and nothing wider than the screen.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { Browser, show, state, violations, World } from "./browser.mjs";

const scripts = {
  main: [
    { reasoning: "First the plan.", text: "I will fix the test.", deltas: 4, toolCalls: [{
      name: "update_plan", args: { plan: [{ step: "Run the test", status: "in_progress" },
        { step: "Fix it", status: "pending" }] } }], usage: { inputTokens: 90, outputTokens: 20 } },
    { text: "Run it.", toolCalls: [{ name: "shell", args: { command: "echo no; exit 3" } },
      { name: "shell", args: { command: "echo ready; sleep 300", background: true } }] },
    { toolCalls: [{ name: "edit_file", args: { path: "a.txt", oldText: "one two",
      newText: "one three" } }] },
    { toolCalls: [{ name: "spawn_subagent", args: { role: "reviewer", prompt: "Review a.txt",
      model: "sub" } }] },
    { text: "**Done.**\n\n- `a.txt` is fixed\n\n| file | now |\n| --- | --- |\n| a.txt | +1 |" }],
  sub: [{ text: "It looks right." }],
  ask: [{ text: "May I?", toolCalls: [{ name: "shell",
    args: { command: "rm -rf build && git push --force origin main" } }] }],
  big: [{ toolCalls: [{ name: "shell",
    args: { command: "head -c 700000 /dev/zero | tr '\\0' x; printf '\\nend\\n'" } }] },
  { text: "Printed." }],
  question: [{ toolCalls: [{ name: "ask_user", args: { question: "Which database?",
    choices: ["SQLite", "Postgres"] } }] }],
};

let world;
let browser;
let page;

before(async () => {
  world = await World.create(scripts);
  browser = await Browser.open();
});
after(async () => {
  await browser?.close();
  await world?.remove();
});

async function fill() {
  await writeFile(path.join(world.workspace, "a.txt"), "zero\none two\n");
  await world.submit("full", "Fix the failing test", { mode: "bypass" });
  await world.submit("ask", "Clean up", { model: "ask" });
  await world.submit("question", "Choose", { model: "question" });
  await world.call("create_task", { sessionId: "full", objective: "Ship it", taskId: "ship" });
  await world.call("create_task", { sessionId: "full", objective: "Tag it", blockedBy: ["ship"] });
  await world.call("connect_channel", { sessionId: "full", channelId: "editor",
    nativeProtocol: "acp" });
  await world.call("send_channel_message", { channelId: "editor", kind: "note", text: "hello" });
  await world.call("link_peer_task", { channelId: "editor", taskId: "ship", nativeProtocol: "a2a",
    remoteTaskId: "remote-1" });
  await world.call("create_job", { sessionId: "full", options: { mode: "bypass" },
    runner: { kind: "command", command: "grep -v two" }, items: [{ input: "one" },
      { input: "two" }] });
  await world.fact("full", (e) => e.type === "job.failed" || e.type === "job.completed");
  await world.fact("full", (e) => e.type === "subagent.completed");
  await world.fact("full", (e) => e.type === "turn.completed" && e.threadId === "main" ||
    e.type === "turn.completed");
}

const views = { sessions: ["#/", "session-row"], inbox: ["#/inbox", "approval"],
  timeline: ["#/session/full", "timeline"], approval: ["#/session/ask", "approval"],
  question: ["#/session/question", "approval"],
  log: ["#/session/full/log", "log-row"], tasks: ["#/session/full/tasks", "job-row"],
  agents: ["#/session/full/agents", "subagent-tree"],
  processes: ["#/session/full/processes", "process-row"],
  usage: ["#/session/full/usage", "usage-chart"], policy: ["#/session/full/policy", "explain-step"],
  channels: ["#/session/full/channels", "channel-row"],
  past: ["#/session/full?at=30", "timeline"] };

async function check(name, axe = true) {
  if (axe) assert.deepEqual(await violations(page), [], name);
  const wider = await page.evaluate(() =>
    document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wider <= 0, `${name} is ${wider} px wider than the screen`);
  assert.deepEqual(browser.problems.splice(0), [], name);
}

test("the sign-in form and the empty views say what to do", async () => {
  page = await browser.context.newPage();
  await page.goto(`${world.url}/`);
  await page.getByTestId("login-token").waitFor();
  await check("login");
  await page.getByTestId("login-token").fill("nonsense");
  await page.getByTestId("login-submit").click();
  await page.getByText("does not know this token").waitFor();
  await page.getByTestId("login-token").fill(world.token);
  await page.getByTestId("login-submit").click();
  await page.getByTestId("empty").waitFor();
  assert.match(await page.getByTestId("empty").innerText(), /agentrt run/);
  await check("no sessions");
  await show(page, "#/inbox");
  await page.getByText("Nothing waits for you").waitFor();
  await check("empty inbox");
  await world.call("create_session", { sessionId: "bare" });
  for (const name of ["", "/tasks", "/agents", "/processes", "/usage", "/policy", "/channels"]) {
    await show(page, `#/session/bare${name}`);
    await page.getByTestId("empty").first().waitFor();
    await check(`empty ${name}`);
  }
  await show(page, "#/session/none");
  await page.getByText("There is no session none").waitFor();
  await show(page, "#/nowhere");
  await page.getByText("There is no view at").waitFor();
});

test("every view is accessible and fits, in both themes and widths", async () => {
  await fill();
  for (const [colorScheme, width] of [["light", 1280], ["dark", 1280], ["light", 360],
    ["dark", 360]]) {
    // Tall enough for everything: what lies beneath the prompt would count as too small.
    await page.setViewportSize({ width, height: 4000 });
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const [name, [hash, testid]] of Object.entries(views)) {
      await show(page, hash);
      if (name === "policy")
        await page.locator(".decisions summary", { hasText: "spawn_subagent" }).click();
      await page.getByTestId(testid).first().waitFor();
      await state(page, "live");
      // Each theme and each width meets axe once; that takes half of the time of all four pairs.
      await check(`${name} ${colorScheme} ${width}`, (colorScheme === "light") === (width > 800));
    }
  }
});

test("the timeline shows what the log says", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await show(page, "#/session/full");
  const timeline = page.getByTestId("timeline");
  await timeline.getByText("Done.").waitFor();
  const kinds = await page.getByTestId("item").evaluateAll((items) =>
    items.map((item) => item.dataset.kind));
  for (const kind of ["input", "reasoning", "agent_message", "todo", "command", "file_change"])
    assert.ok(kinds.includes(kind), `${kind} in ${kinds}`);
  assert.match(await timeline.innerText(), /exit 3/);
  const words = await page.locator(".diff mark").allInnerTexts();
  assert.deepEqual(words, ["wo", "hree"], "the change within the line is marked");
  const events = await world.call("list_events", { sessionId: "full", limit: 1000 });
  await page.locator("[data-testid=as-of]").getByText(String(events.asOfSequence)).waitFor();
});

test("a stored output is read in pieces, clipped and saved as a file", async () => {
  await world.submit("big", "Print", { model: "big", mode: "bypass" });
  await world.fact("big", (e) => e.type === "turn.completed");
  await show(page, "#/session/big");
  await page.locator(".steps summary").first().click();
  await page.getByText("Stored output").first().click();
  const stored = page.locator(".stored");
  await stored.getByText("the first 256.0 KiB").waitFor();
  await stored.getByText(/… \(\d[\d,]* more characters\)/).first().waitFor();
  await stored.getByRole("button", { name: "Show more" }).click();
  await stored.getByText("the first 512.0 KiB").waitFor();
  const download = page.waitForEvent("download");
  await stored.getByRole("button", { name: "Save as a file" }).click();
  const file = await readFile(await (await download).path());
  assert.equal(file.length, 700_005);
  assert.equal(file.subarray(-5).toString(), "\nend\n");
  assert.deepEqual(browser.problems.splice(0), []);
});

test("the view of channels shows who is attached, now and in the past", async () => {
  await show(page, "#/session/full/channels");
  const row = page.getByTestId("channel-row");
  await row.getByText("acknowledged").waitFor();
  const text = await row.innerText();
  for (const part of [/client over http_json · acp/, /acknowledged \d+/, /remote-1/, /note: hello/])
    assert.match(text, part);
  const events = await world.call("list_events", { sessionId: "full", limit: 1000 });
  const { sequence } = events.data.find((each) => each.type === "channel.connected");
  await show(page, `#/session/full/channels?at=${sequence}`);
  await row.getByText("connected").waitFor();
  assert.doesNotMatch(await row.innerText(), /acknowledged|remote-1/);
  await show(page, `#/session/full/channels?at=${sequence - 1}`);
  await page.getByTestId("empty").waitFor();
  await show(page, "#/session/full/channels");
  await row.getByRole("button", { name: "Close" }).click();
  await row.getByRole("button", { name: /Confirm/ }).click();
  await row.getByText("closed", { exact: true }).first().waitFor();
});

test("a fact is shown with the bytes that the server sent", async () => {
  await show(page, "#/session/full/log");
  await page.getByTestId("log-jump").fill("4");
  await page.getByTestId("log-jump").press("Enter");
  const json = page.getByTestId("log-json");
  await json.getByText('"turn.submitted"').waitFor();
  assert.equal(JSON.parse(await json.locator("pre").innerText()).sequence, 4);
  const events = await world.call("list_events", { sessionId: "full", limit: 1000 });
  assert.equal(await page.getByTestId("log").getAttribute("aria-rowcount"),
    String(events.asOfSequence));
  const { turnId } = events.data.find((each) => each.type === "turn.submitted");
  await page.getByTestId("log-jump").fill(turnId);
  await page.getByTestId("log-jump").press("Enter");
  await page.locator("[data-testid=log-row][aria-selected=true]").getByText(/turn.submitted|task/)
    .waitFor();
  await page.getByTestId("log-jump").fill("turn_none");
  await page.getByTestId("log-jump").press("Enter");
  await page.getByRole("alert").getByText("turn_none").waitFor();
  await page.getByTestId("log-filter").fill("turn.completed");
  const ended = events.data.filter((each) => each.type === "turn.completed").length;
  await page.locator(`[data-testid=log][aria-rowcount='${ended}']`).waitFor();
  const types = await page.locator(".log-type").allInnerTexts();
  assert.deepEqual([...new Set(types)], ["turn.completed"]);
});

test("the past is the fold of fewer facts, and nothing can be sent there", async () => {
  const events = (await world.call("list_events", { sessionId: "full", limit: 1000 })).data;
  const edit = events.find((e) => e.type === "output.spilled" &&
    e.payload.mediaType === "text/x-diff").sequence;
  await show(page, `#/session/full?at=${edit - 8}`);
  await page.getByText(`as of fact ${edit - 8}`).waitFor();
  assert.equal(await page.locator(".diff").count(), 0);
  assert.equal(await page.getByTestId("composer").count(), 0);
  const slider = page.getByTestId("scrubber");
  await slider.focus();
  for (let step = 0; step < 10; ++step) await slider.press("ArrowRight");
  await page.getByText(`as of fact ${edit + 2}`).waitFor();
  assert.equal(await page.locator(".diff").count(), 1);
  assert.equal(await slider.getAttribute("aria-valuenow"), String(edit + 2));
  await page.keyboard.press("Escape");
  await page.getByTestId("composer").waitFor();
  assert.ok(!page.url().includes("at="));
});
