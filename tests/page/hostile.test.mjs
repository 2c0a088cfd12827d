// Hostile text in every member of every fact type: nothing runs, nothing is loaded, no view fails.
// The facts are made up from the published schema, so a new type is tested without a line here.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Browser, show, state, World } from "./browser.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const schema = JSON.parse(await readFile(path.join(root, "schema/events.schema.json"), "utf8"));
const hostile = "<img src=x onerror=owned()><script>owned()</script> [x](javascript:owned()) " +
  "![i](http://127.0.0.1:9/i.png) \u202edesrever\u0007 \u001b[31mred ]]>--> %00 {{7*7}} " +
  `${"W".repeat(300)}`;
const depthMax = 6;

// A value of the schema: texts are hostile, lists have two entries, and nothing optional is absent.
function valueOf(part, depth = 0) {
  if (part === true || part === undefined)
    return { command: hostile, path: hostile, [hostile.slice(0, 40)]: [hostile, { a: hostile }] };
  if (part.$ref) return valueOf(schema.$defs[part.$ref.slice("#/$defs/".length)], depth);
  if (part.enum) return part.enum[part.enum.length - 1];
  if (part.const !== undefined) return part.const;
  const choice = part.oneOf ?? part.anyOf;
  if (choice) return valueOf(choice[0], depth);
  const type = Array.isArray(part.type) ? part.type[0] : part.type;
  switch (type) {
    case "string":
      return part.format === "date-time" ? "2026-01-01T00:00:00.000Z" : hostile;
    case "integer":
    case "number":
      return part.maximum ?? 3;
    case "boolean":
      return true;
    case "array":
      return depth > depthMax ? []
        : [valueOf(part.items, depth + 1), valueOf(part.items, depth + 1)];
    case "object":
    default: {
      const out = {};
      if (depth > depthMax) return out;
      for (const [name, each] of Object.entries(part.properties ?? {}))
        out[name] = valueOf(each, depth + 1);
      if (part.additionalProperties && part.additionalProperties !== true)
        out[hostile.slice(0, 60)] = valueOf(part.additionalProperties, depth + 1);
      return out;
    }
  }
}

const ids = ["threadId", "turnId", "taskId", "runId", "attemptId", "stepId", "toolCallId",
  "actionId", "processId", "jobId", "jobItemId", "subagentId", "modelRequestId", "artifactId"];

function facts() {
  const types = schema.allOf.map((each) => each.if.properties.type.const);
  const out = [];
  // Twice: once with well-formed ids, so that facts refer to each other, and once without any.
  for (const referring of [true, false])
    for (const type of [...types, "vendor.unheard_of"]) {
      const fact = { type, eventId: `evt_${out.length + 1}`, schemaVersion: "0.4.0",
        timestamp: "2026-01-01T00:00:00.000Z", sequence: out.length + 1, runtimeId: "rt",
        sessionId: "evil", payload: valueOf(schema.$defs[type]) };
      if (referring) for (const id of ids) fact[id] = `${id}_1`;
      out.push(fact);
    }
  return out;
}

let world;
let browser;
let page;
const all = facts();

before(async () => {
  world = await World.create({ main: [{ text: "hello" }] });
  browser = await Browser.open();
  page = await browser.page(world);
  await page.addInitScript(() => { window.owned = () => { window.ran = true; }; });
  await page.evaluate(() => { window.owned = () => { window.ran = true; }; });
  const json = (route, body) => route.fulfill({ contentType: "application/json",
    body: JSON.stringify(body) });
  const row = { sessionId: "evil", title: hostile, cwd: hostile, status: "idle", archived: false,
    threads: 1, turns: 1, preview: hostile, createdAt: all[0].timestamp,
    updatedAt: all[0].timestamp };
  const required = all.find((fact) => fact.type === "action.required");
  const action = { ...required.payload, actionId: "actionId_1", sessionId: "evil",
    threadId: "threadId_1", turnId: "turnId_1", status: "open", sequence: required.sequence,
    subagent: hostile, requiredAt: required.timestamp,
    chain: valueOf(schema.$defs["permission.evaluated"]).chain };
  await page.route("**/v1/commands/list_sessions", (route) => json(route, { data: [row] }));
  await page.route("**/v1/commands/list_actions", (route) => json(route, { data: [action] }));
  await page.route("**/v1/commands/get_session", (route) => json(route, { ...row,
    asOfSequence: all.length, generation: "g" }));
  await page.route("**/v1/commands/list_events", (route) => {
    const { after: from = 0, limit = 100 } = route.request().postDataJSON();
    return json(route, { data: all.slice(from, from + limit), generation: "g",
      asOfSequence: all.length });
  });
  await page.route("**/v1/outputs/**", (route) => route.fulfill({ body: hostile,
    contentType: "text/html" }));
  await page.route("**/v1/sessions/evil/events?*", (route) => {
    const params = new URL(route.request().url()).searchParams;
    const from = Number(params.get("after"));
    if (params.has("limit")) return json(route, { data: all.slice(from, from + 1) });
    const text = all.slice(from).map((each) =>
      `id: ${each.sequence}\nevent: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join("");
    return route.fulfill({ contentType: "text/event-stream", body: `: ok\n\n${text}` });
  });
});
after(async () => {
  await browser?.close();
  await world?.remove();
});

test("no member of any fact type runs, loads or breaks anything, in any view", async () => {
  assert.ok(all.length > 200, `${all.length} facts`);
  browser.requests.length = 0;
  const views = ["", "/log", "/tasks", "/agents", "/processes", "/usage", "/policy", "/channels",
    "/exports", `?at=${Math.floor(all.length / 2)}`];
  for (const hash of ["#/", "#/inbox", ...views.map((view) => `#/session/evil${view}`)]) {
    await show(page, hash);
    await page.getByTestId("connection").waitFor();
    await page.waitForTimeout(300);
    // Everything that can be unfolded, which may fold out more.
    for (let round = 0; round < 3; ++round)
      await page.evaluate(() => document.querySelectorAll("details:not([open]) > summary")
        .forEach((summary) => summary.click()));
    await page.waitForTimeout(200);
    const found = await page.evaluate(() => ({ ran: Boolean(window.ran),
      foreign: [...document.querySelectorAll("main script, main img, main iframe, main object")]
        .map((element) => element.outerHTML.slice(0, 100)),
      links: [...document.querySelectorAll("main a[href]")].map((link) => link.href),
      empty: document.querySelector("main")?.textContent.trim() === "",
      hidden: [...document.body.querySelectorAll("*")].filter((element) =>
        [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE &&
          /[\u0007\u001b\u202e]/.test(node.data)) && !/^(OPTION|SCRIPT)$/.test(element.tagName))
        .map((element) => element.outerHTML.slice(0, 120)),
      wider: document.documentElement.scrollWidth - document.documentElement.clientWidth }));
    assert.equal(found.ran, false, hash);
    assert.deepEqual(found.foreign, [], hash);
    assert.equal(found.empty, false, `${hash} shows nothing`);
    assert.deepEqual(found.hidden, [], `${hash} shows characters that hide or reorder text`);
    assert.ok(found.wider <= 0, `${hash} is ${found.wider} px wider than the screen`);
    for (const link of found.links) assert.match(link, /^(https?|mailto):/, hash);
    assert.deepEqual(browser.problems.splice(0), [], hash);
  }
  for (const url of browser.requests)
    assert.ok(url.startsWith(world.url) || url.startsWith("data:"), `${url} is loaded`);
});
