// Judges POST /agui with the client of AG-UI, which verifies the order of events:
// agui_sdk.mjs URL TOKEN plain|asks
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const require = createRequire(`${process.env.AGENTRT_NODE_PACKAGES}/package.json`);
const {HttpAgent} = await import(pathToFileURL(require.resolve('@ag-ui/client')).href);
const [url, token, part] = process.argv.slice(2);

function agentOf(threadId) {
  return new HttpAgent({url, threadId, headers: {Authorization: `Bearer ${token}`}});
}
async function run(agent, parameters = {}) {
  const events = [];
  const result = await agent.runAgent(
      parameters, {onEvent: ({event}) => { events.push(event); }});
  return {events, result};
}
const types = (events) => events.map((event) => event.type);

if (part === 'plain') {
  // A plain run.
  const plain = agentOf('plain');
  plain.addMessage({id: 'm1', role: 'user', content: 'hello'});
  const first = await run(plain, {runId: 'r1'});
  assert.deepEqual(types(first.events).filter((type) => !type.endsWith('CONTENT')), [
    'RUN_STARTED', 'STEP_STARTED', 'REASONING_START', 'REASONING_MESSAGE_START',
    'REASONING_MESSAGE_END', 'REASONING_END', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_END',
    'STEP_FINISHED', 'RUN_FINISHED']);
  assert.deepEqual(first.events.at(-1).outcome, {type: 'success'});
  assert.equal(plain.messages.at(-1).content, 'Hello from the script.');
} else {
  // A run with a call that asks for an approval.
  const asks = agentOf('asks');
  asks.addMessage({id: 'm1', role: 'user', content: 'ask'});
  const asked = await run(asks, {
    runId: 'r1', tools: [{name: 'paint', description: 'Paints.', parameters: {}}],
    context: [{description: 'page', value: 'home'}]});
  assert.equal(asked.events.find((event) => event.type === 'CUSTOM').name, 'agentrt.ignored');
  const finished = asked.events.at(-1);
  assert.equal(finished.outcome.type, 'interrupt');
  const [interrupt] = finished.outcome.interrupts;
  assert.equal(interrupt.reason, 'tool_call');
  assert.deepEqual(interrupt.responseSchema.required, ['approved']);
  assert.ok(types(asked.events).includes('MESSAGES_SNAPSHOT'));
  assert.ok(types(asked.events).includes('STATE_SNAPSHOT'));
  const resumed = await run(asks, {runId: 'r2', resume: [
    {interruptId: interrupt.id, status: 'resolved', payload: {approved: true}}]});
  const result = resumed.events.find((event) => event.type === 'TOOL_CALL_RESULT');
  assert.equal(result.toolCallId, interrupt.toolCallId);
  assert.deepEqual(resumed.events.at(-1).outcome, {type: 'success'});
}
console.log('ok');
