// The client against a real daemon.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { Agentrt, AgentrtError } from "../dist/index.js";
import { Daemon, Home } from "./daemon.mjs";

let home, daemon, rt;
before(async () => {
  home = await Home.create();
  daemon = await Daemon.start(home);
  rt = new Agentrt({ url: daemon.url, token: daemon.token });
});
after(async () => {
  await daemon.end();
  await home.remove();
});

const text = (value) => [{ type: "text", text: value }];
const ended = (event) => event.type === "turn.completed" || event.type === "turn.failed";

async function upToEnd(events) {
  const seen = [];
  for await (const event of events) {
    seen.push(event);
    if (ended(event)) break;
  }
  return seen;
}

test("a submitted turn is followed from its first fact to its end", async () => {
  const { sessionId, turnId } = await rt.call("submit_turn", { input: text("hello") });
  const states = [];
  const seen = await upToEnd(rt.events(sessionId, { after: 0, onState: (s) => states.push(s) }));
  assert.deepEqual(seen.map((event) => event.sequence), seen.map((_, index) => index + 1));
  assert.equal(seen.at(-1).turnId, turnId);
  assert.ok(["behind", "live"].includes(states[0]), String(states));
  const session = await rt.call("get_session", { sessionId });
  assert.equal(session.history[0].turnId, turnId);
});

test("the stream reports that it is live after the last stored fact", async () => {
  const { sessionId } = await rt.run("hello");
  const { asOfSequence } = await rt.call("get_session", { sessionId });
  const control = new AbortController();
  const states = [], seen = [];
  for await (const event of rt.events(sessionId, { signal: control.signal,
    onState: (state) => {
      states.push(state);
      if (state === "live") setTimeout(() => control.abort(), 50);
    } })) seen.push(event);
  assert.deepEqual(states, ["behind", "live"]);
  assert.equal(seen.length, asOfSequence);
});

test("types selects facts", async () => {
  const { sessionId } = await rt.run("hello");
  const seen = await upToEnd(rt.events(sessionId, { types: ["turn.started", "turn.completed"] }));
  assert.deepEqual(seen.map((event) => event.type), ["turn.started", "turn.completed"]);
});

test("all events come with a cursor to resume from", async () => {
  const { turnId } = await rt.run("hello");
  const seen = [];
  for await (const each of rt.allEvents()) {
    seen.push(each);
    if (each.event.turnId === turnId && ended(each.event)) break;
  }
  const middle = Math.floor(seen.length / 2);
  for await (const each of rt.allEvents({ cursor: seen[middle].cursor })) {
    assert.equal(each.event.eventId, seen[middle + 1].event.eventId);
    break;
  }
});

test("run returns status, text and usage", async () => {
  const result = await rt.run("hello", { sessionId: "ran" });
  assert.deepEqual(result, { sessionId: "ran", turnId: result.turnId, status: "completed",
    text: "Hello from the script.", usage: { inputTokens: 10, outputTokens: 5 } });
});

test("run returns a text that is too long for an event", async () => {
  const { text: said } = await rt.run("talk", { options: { model: "long" } });
  assert.equal(said.length, 300_000);
});

test("run without onAction never waits", async () => {
  const result = await rt.run("go", { options: { model: "asks", mode: "default" } });
  assert.equal(result.status, "completed");
  assert.equal(result.text, "It is made.");
});

test("run asks onAction and sends the answer", async () => {
  const asked = [];
  const result = await rt.run("go", { options: { model: "asks", mode: "default" },
    onAction: (action) => {
      asked.push(action);
      return { decision: "deny", reason: "not now" };
    } });
  assert.equal(result.status, "completed");
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0].input, { command: "touch made; echo made it" });
  const resolved = [];
  for await (const event of rt.events(result.sessionId)) {
    if (event.type === "action.resolved") resolved.push(event.payload.decision);
    if (ended(event)) break;
  }
  assert.deepEqual(resolved, ["deny"]);
});

test("an upload gives the same ref again, and its bytes come back in pieces", async () => {
  await rt.call("create_session", { sessionId: "files" });
  const bytes = new Uint8Array(700_000).map((_, index) => index * 7);
  const ref = await rt.upload("files", bytes, { mediaType: "application/x-test" });
  assert.equal(await rt.upload("files", bytes, { mediaType: "application/x-test" }), ref);
  const pieces = [];
  for await (const piece of rt.output(ref)) pieces.push(piece);
  assert.ok(Buffer.concat(pieces).equals(Buffer.from(bytes)));
  const part = [];
  for await (const piece of rt.output(ref, { start: 10, end: 20 })) part.push(piece);
  assert.deepEqual([...Buffer.concat(part)], [...bytes.slice(10, 20)]);
});

test("one key has one effect", async () => {
  const params = { sessionId: "keyed", input: text("hello") };
  const one = await rt.call("submit_turn", params, { idempotencyKey: "k" });
  const two = await rt.call("submit_turn", params, { idempotencyKey: "k" });
  assert.equal(one.turnId, two.turnId);
});

test("errors have the documented code, and never the token", async () => {
  const failures = [
    [() => rt.call("get_session", { sessionId: "absent" }), "not_found", 404],
    [() => rt.call("submit_turn", { input: "no" }), "invalid_params", 400],
    [() => new Agentrt({ url: daemon.url, token: "wrong".repeat(10) })
      .call("list_sessions", {}), "unauthenticated", 401],
    [() => upToEnd(rt.events("ran", { after: 1e9 })), "gone", 410],
    [() => upToEnd(rt.events("absent")), "not_found", 404],
  ];
  for (const [act, code, status] of failures) {
    await assert.rejects(act, (error) => {
      assert.ok(error instanceof AgentrtError);
      assert.equal(error.code, code);
      assert.equal(error.status, status);
      assert.ok(!inspect(error, { depth: 9, showHidden: true }).includes(daemon.token));
      return true;
    });
  }
  const closed = new Agentrt({ url: "http://127.0.0.1:1", token: daemon.token });
  await assert.rejects(closed.call("list_sessions", {}), (error) =>
    error.code === "unavailable" && !inspect(error, { depth: 9 }).includes(daemon.token));
  assert.ok(!inspect(rt, { depth: 9, showHidden: true }).includes(daemon.token));
  assert.ok(!JSON.stringify(rt).includes(daemon.token));
});

test("a call ends when its signal aborts", async () => {
  const reason = new Error("enough");
  await assert.rejects(rt.call("list_sessions", {}, { signal: AbortSignal.abort(reason) }),
    (error) => error === reason);
});

test("local() reaches the owner over its socket, and names agentrt serve without one", async () => {
  const near = await Agentrt.local({ data: home.data });
  assert.equal((await near.run("hello")).status, "completed");
  const seen = await upToEnd(near.events("ran"));
  assert.equal(seen[0].sequence, 1);
  await assert.rejects(Agentrt.local({ data: `${home.folder}/nothing` }), (error) =>
    error.code === "unavailable" && error.message.includes("agentrt serve"));
});
