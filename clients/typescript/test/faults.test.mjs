// The client behind a proxy that cuts, stalls, repeats and overflows, and across restarts.
import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { Agentrt } from "../dist/index.js";
import { Daemon, Home } from "./daemon.mjs";
import { Proxy } from "./proxy.mjs";

let home, daemon, proxy;
before(async () => {
  home = await Home.create();
  daemon = await Daemon.start(home);
});
after(async () => {
  await daemon.end();
  await home.remove();
});
afterEach(async () => {
  await proxy?.end();
  proxy = undefined;
});

const direct = () => new Agentrt({ url: daemon.url, token: daemon.token });
const hello = [{ type: "text", text: "hello" }];

// A client behind a proxy with these faults. Short limits keep the tests short.
async function behind(faults) {
  proxy = await Proxy.start(daemon.port, faults);
  return new Agentrt({ url: proxy.url, token: daemon.token, silenceMs: 700, timeoutMs: 1500 });
}

async function stored(sessionId) {
  const { asOfSequence } = await direct().call("get_session", { sessionId });
  const out = [];
  for await (const event of direct().events(sessionId)) {
    out.push(event.eventId);
    if (event.sequence === asOfSequence) return out;
  }
}

const faults = {
  cuts: [300, 900, 2000, 5000].map((after) => ({ kind: "cut", after })),
  stalls: [200, 1700].map((after) => ({ kind: "stall", after })),
  repeats: [{ kind: "cut", after: 1200 }, { kind: "repeat" }],
  overflows: [1500, 4000].map((after) => ({ kind: "overflow", after })),
};
for (const [name, list] of Object.entries(faults)) {
  test(`events: each fact once and in order when the proxy ${name}`, async () => {
    const { sessionId } = await direct().run("hello");
    const expected = await stored(sessionId);
    const rt = await behind([...list]);
    const seen = [];
    const states = [];
    for await (const event of rt.events(sessionId, { onState: (s) => states.push(s) })) {
      seen.push(event.eventId);
      if (seen.length === expected.length) break;
    }
    assert.deepEqual(seen, expected);
    assert.equal(proxy.faults.length, 0, "every fault happened");
    assert.ok(states.includes("reconnecting"), String(states));
  });
}

test("allEvents: each fact once when the proxy cuts, repeats and stalls", async () => {
  const { sessionId } = await direct().run("hello");
  const expected = await stored(sessionId);
  const rt = await behind([{ kind: "cut", after: 2500 }, { kind: "repeat" }]);
  const seen = [];
  for await (const { event } of rt.allEvents()) {
    if (event.sessionId === sessionId) seen.push(event.eventId);
    if (seen.length === expected.length) break;
  }
  assert.deepEqual(seen, expected);
});

test("a reply that is lost twice gives one turn", async () => {
  const rt = await behind([{ kind: "drop_reply" }, { kind: "hang" }]);
  const reply = await rt.call("submit_turn", { sessionId: "once", input: hello });
  const { history } = await direct().call("get_session", { sessionId: "once" });
  assert.deepEqual(history.map((turn) => turn.turnId), [reply.turnId]);
});

test("after five attempts without a reply, the call fails", async () => {
  const rt = await behind(Array.from({ length: 9 }, () => ({ kind: "drop_reply" })));
  await assert.rejects(rt.call("list_sessions", {}), { code: "unavailable" });
  assert.equal(proxy.faults.length, 4);
});

test("an upload and a download survive cuts", async () => {
  await direct().call("create_session", { sessionId: "files" });
  const bytes = Buffer.alloc(400_000, "abcdefg");
  const rt = await behind([{ kind: "drop_reply" }]);
  const ref = await rt.upload("files", bytes);
  const pieces = [];
  for await (const piece of rt.output(ref)) pieces.push(piece);
  assert.ok(Buffer.concat(pieces).equals(bytes));
});

test("kill -9 while following: reconnecting, then every missed fact once", async () => {
  const rt = new Agentrt({ url: daemon.url, token: daemon.token });
  const { sessionId, turnId } = await rt.call("submit_turn",
    { sessionId: "killed", input: hello, options: { model: "slow" } });
  const states = [], seen = [];
  for await (const event of rt.events(sessionId, { onState: (s) => states.push(s) })) {
    assert.equal(event.sequence, seen.length + 1);
    seen.push(event.eventId);
    if (event.type === "model.requested" && !states.includes("reconnecting")) {
      const port = daemon.port;
      await daemon.end("SIGKILL");
      daemon = await Daemon.start(home, port);
      await direct().call("submit_turn", { sessionId, input: hello });
    }
    if (event.type === "turn.completed" && event.turnId !== turnId) break;
    if (event.type === "run.status" && event.payload.resumable)
      await direct().call("interrupt_turn", { sessionId, turnId });
  }
  assert.ok(states.includes("reconnecting"), String(states));
  assert.deepEqual(seen, (await stored(sessionId)).slice(0, seen.length));
});
