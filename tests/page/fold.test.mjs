// The fold of the page, without a browser: the past is the fold of fewer facts, repeated facts
// change nothing, and unknown types are counted.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import path from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
let fold;
let emptyView;

before(async () => {
  const packages = path.join(root, "build/web/node_modules");
  const esbuild = createRequire(path.join(packages, "package.json"))("esbuild");
  const { outputFiles } = await esbuild.build({ stdin: { resolveDir: path.join(root, "web/src"),
    contents: 'export { fold } from "./log/fold"; export { emptyView } from "./log/view";' },
  bundle: true, format: "esm", write: false, nodePaths: [packages] });
  ({ fold, emptyView } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`));
});

const ids = { turnId: "turn_1", threadId: "main", taskId: "task_1" };
const story = [
  ["session.created", { cwd: "/srv" }, {}],
  ["task.created", { visibility: "internal", status: "accepted", objective: "go",
    taskKind: "turn" }],
  ["turn.submitted", { status: "accepted", input: [{ type: "text", text: "go" }], source: "user",
    options: {} }],
  ["turn.started", { status: "running", bootId: "b" }],
  ["run.status", { status: "streaming", phase: "model", title: "Answering" }],
  ["item.started", { kind: "agent_message" }, { ...ids, stepId: "step_1" }],
  ["model.delta", { text: "Hel" }],
  ["model.delta", { text: "lo" }],
  ["model.completed", { toolCalls: [{ toolCallId: "call_1", name: "shell",
    args: { command: "ls" } }], stopReason: "tool_use", provider: "p", model: "m", durationMs: 1,
  usage: { inputTokens: 3, outputTokens: 2 } }],
  ["item.completed", { kind: "agent_message", status: "completed", text: "Hello" },
    { ...ids, stepId: "step_1" }],
  ["item.started", { kind: "command", toolName: "shell" },
    { ...ids, stepId: "step_2", toolCallId: "call_1" }],
  ["permission.evaluated", { decision: "ask", decisionSource: "mode" },
    { ...ids, stepId: "step_2", toolCallId: "call_1" }],
  ["action.required", { actionType: "permission", prompt: "Run it?" },
    { ...ids, stepId: "step_2", toolCallId: "call_1", actionId: "act_1" }],
  ["action.resolved", { decision: "allow", decisionSource: "human", answeredBy: "local" },
    { ...ids, actionId: "act_1" }],
  ["process.started", { command: "ls" },
    { ...ids, stepId: "step_2", toolCallId: "call_1", processId: "proc_1" }],
  ["process.output", { stream: "stdout", text: "a", offset: 0, nextOffset: 1 },
    { ...ids, processId: "proc_1" }],
  ["process.output", { stream: "stdout", text: "d", offset: 3, nextOffset: 4 },
    { ...ids, processId: "proc_1" }],
  ["process.completed", { exitCode: 0 }, { ...ids, stepId: "step_2", processId: "proc_1" }],
  ["context.compaction.started", { affectedTurnCount: 4, tokensBefore: 900 }],
  ["context.compaction.completed", { tokensBefore: 900, tokensAfter: 90 }],
  ["channel.connected", { transport: "websocket", peerRole: "client", capabilities: ["resume"],
    bootId: "b" }, { channelId: "chan_1" }],
  ["channel.permission_forwarded", {}, { channelId: "chan_1", actionId: "act_1" }],
  ["channel.disconnected", { reason: "connection_lost" }, { channelId: "chan_1" }],
  ["channel.resumed", { bootId: "b", gap: { fromSequence: 2, toSequence: 3,
    reason: "other_generation" } }, { channelId: "chan_1" }],
  ["channel.permission_returned", { decision: "allow" },
    { channelId: "chan_1", actionId: "act_1" }],
  ["channel.peer_task.linked", { nativeProtocol: "a2a", remoteTaskId: "r1" },
    { channelId: "chan_1", taskId: "task_1" }],
  ["channel.peer_task.updated", { remoteStatus: "working", recovery: "running" },
    { channelId: "chan_1", taskId: "task_1" }],
  ["some.future.fact", { what: "ever" }],
  ["turn.completed", { status: "completed", stopReason: "end_turn", durationMs: 5,
    usage: { inputTokens: 3, outputTokens: 2 } }],
].map(([type, payload, more = ids], at) => ({ type, payload, sequence: at + 1, sessionId: "s",
  timestamp: new Date(1_790_000_000_000 + at).toISOString(), ...more }));

function view(count) {
  const out = emptyView("s");
  for (const fact of story.slice(0, count)) fold(out, fact);
  return out;
}

const frozen = (value) => JSON.stringify(value, (_, each) =>
  (each instanceof Map || each instanceof Set ? [...each] : each));

test("the past equals what was shown live, at every fact", () => {
  const live = emptyView("s");
  const seen = story.map((fact) => {
    fold(live, fact);
    return frozen(live);
  });
  story.forEach((_, at) => assert.equal(frozen(view(at + 1)), seen[at], `fact ${at + 1}`));
});

test("a fact that arrives again changes nothing", () => {
  const whole = view(story.length);
  const before = frozen(whole);
  for (const fact of story) fold(whole, fact);
  assert.equal(frozen(whole), before);
});

test("the view says what the facts say", () => {
  assert.equal(view(7).entries.get("step_1").text, "Hel");
  assert.equal(view(13).actions.get("act_1").resolved, undefined);
  const whole = view(story.length);
  assert.equal(whole.asOf, story.length);
  assert.equal(whole.entries.get("step_1").text, "Hello");
  assert.deepEqual(whole.entries.get("call_1").args, { command: "ls" });
  assert.equal(whole.actions.get("act_1").resolved.answeredBy, "local");
  const process = whole.processes.get("proc_1");
  assert.equal(process.output, "ad");
  assert.equal(process.missing, 2, "the log lacks two bytes");
  assert.equal(whole.threads.get("main").status, "idle");
  assert.match(whole.entries.get("compaction:turn_1").text, /900 tokens became 90/);
  const channel = whole.channels.get("chan_1");
  assert.deepEqual([channel.status, channel.pending.size, channel.notes.length],
    ["connected", 0, 1]);
  assert.deepEqual(channel.peerTasks.get("task_1"), { taskId: "task_1", remoteTaskId: "r1",
    protocol: "a2a", remoteStatus: "working", recovery: "running" });
  assert.deepEqual([...whole.unknown], [["some.future.fact", 1]]);
});
