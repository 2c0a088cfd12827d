// Judges `agentrt acp` with the SDK of the protocol; every line that the agent writes is checked
// against the protocol's schema: acp_sdk.mjs BINARY FOLDER
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {Readable, Writable} from 'node:stream';
import {pathToFileURL} from 'node:url';

const packages = process.env.AGENTRT_NODE_PACKAGES;
const require = createRequire(`${packages}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const acpFolder = join(packages, 'node_modules/@agentclientprotocol/sdk');
const acp = await import(pathToFileURL(join(acpFolder, 'dist/v1/stable/acp.js')).href);
const Ajv = (await load('ajv/dist/2020.js')).default;

const schema = JSON.parse(readFileSync(join(acpFolder, 'schema/v1/schema.json'), 'utf8'));
const ajv = new Ajv.default({strict: false, allErrors: true, validateFormats: false});
ajv.addSchema({...schema, $id: 'acp'});
const validators = new Map();
function check(name, value) {
  if (!validators.has(name)) validators.set(name, ajv.compile({$ref: `acp#/$defs/${name}`}));
  const validate = validators.get(name);
  const valid = validate(value);
  assert.ok(valid, `${name}: ${JSON.stringify(validate.errors)} ${JSON.stringify(value)}`);
}

const replies = {
  'initialize': 'InitializeResponse', 'session/new': 'NewSessionResponse',
  'session/load': 'LoadSessionResponse', 'session/resume': 'ResumeSessionResponse',
  'session/list': 'ListSessionsResponse', 'session/close': 'CloseSessionResponse',
  'session/prompt': 'PromptResponse', 'session/set_mode': 'SetSessionModeResponse',
  'session/set_config_option': 'SetSessionConfigOptionResponse'};
const requests = {
  'session/update': 'SessionNotification', 'session/request_permission': 'RequestPermissionRequest',
  'elicitation/create': 'CreateElicitationRequest',
  '$/cancel_request': 'CancelRequestNotification'};

const [binary, folder] = process.argv.slice(2);
const agent = spawn(binary, ['acp'], {cwd: folder, stdio: ['pipe', 'pipe', 'inherit']});
const sent = new Map();  // methods of our requests
let lines = 0;
function lineChecker(take) {
  let rest = '';
  return (bytes) => {
    rest += bytes.toString();
    const whole = rest.split('\n');
    rest = whole.pop();
    for (const line of whole) if (line.trim()) take(JSON.parse(line));
  };
}
agent.stdout.on('data', lineChecker((message) => {
  ++lines;
  if (message.method) return check(requests[message.method], message.params);
  if (message.error) return check('Error', message.error);
  check(replies[sent.get(message.id)], message.result);
}));
const input = new Writable({
  write(bytes, encoding, done) {
    lineChecker((message) => { if (message.method) sent.set(message.id, message.method); })(bytes);
    agent.stdin.write(bytes, done);
  }});
const stream = acp.ndJsonStream(Writable.toWeb(input), Readable.toWeb(agent.stdout));

const updates = [];
const asked = [];
let answer = 'once';
const app = new acp.ClientApp({name: 'judge'})
    .onNotification('session/update', ({params}) => { updates.push(params.update); })
    .onRequest('session/request_permission', ({params}) => {
      asked.push(params);
      return {outcome: {outcome: 'selected', optionId: answer}};
    })
    .onRequest('elicitation/create', ({params}) => {
      asked.push(params);
      return {action: 'accept', content: {answer: 'blue'}};
    });

await app.connectWith(stream, async (context) => {
  const greeting = await context.request('initialize', {
    protocolVersion: 1, clientCapabilities: {elicitation: {form: {}}},
    clientInfo: {name: 'judge', version: '1'}});
  assert.equal(greeting.protocolVersion, 1);
  assert.equal(greeting.agentCapabilities.loadSession, true);

  const session = await context.request('session/new', {cwd: folder, mcpServers: []});
  const {sessionId} = session;
  assert.ok(session.modes.availableModes.some((mode) => mode.id === 'plan'));
  assert.deepEqual(session.configOptions.map((option) => option.id), ['mode', 'model']);
  const prompt = (text) => context.request(
      'session/prompt', {sessionId, prompt: [{type: 'text', text}]});
  const option = (configId, value) => context.request(
      'session/set_config_option', {sessionId, configId, value});
  const chunks = (kind) => updates.filter((update) => update.sessionUpdate === kind)
      .map((update) => update.content.text).join('');

  // A plain turn.
  assert.equal((await prompt('hello')).stopReason, 'end_turn');
  assert.equal(chunks('agent_message_chunk'), 'Hello from the script.');
  assert.equal(chunks('agent_thought_chunk'), 'Let me think.');

  // A call with an approval, a plan and a changed file.
  updates.length = 0;
  const chosen = await option('model', 'work');
  assert.equal(chosen.configOptions[1].currentValue, 'work');
  assert.equal((await prompt('work')).stopReason, 'end_turn');
  assert.deepEqual(asked[0].options.map((each) => each.kind),
                   ['allow_once', 'allow_always', 'allow_always', 'reject_once']);
  const calls = updates.filter((update) => update.sessionUpdate.startsWith('tool_call'));
  assert.ok(calls.some((call) => call.kind === 'edit' && call.locations[0].path.endsWith('a.txt')));
  assert.ok(calls.some((call) => call.content?.some((each) => each.type === 'diff')));
  assert.ok(calls.some((call) => call.status === 'completed'));
  const plan = updates.find((update) => update.sessionUpdate === 'plan');
  assert.deepEqual(plan.entries.map((entry) => entry.status), ['in_progress', 'pending']);

  // Modes and options are kept equal.
  updates.length = 0;
  await context.request('session/set_mode', {sessionId, modeId: 'plan'});
  assert.equal(updates.at(-1).configOptions[0].currentValue, 'plan');
  await option('mode', 'default');
  assert.ok(updates.some((update) => update.currentModeId === 'default'));
  await assert.rejects(option('mode', 'no such mode'));

  // A question, by a form.
  await option('model', 'question');
  assert.equal((await prompt('ask me')).stopReason, 'end_turn');
  assert.equal(asked.at(-1).mode, 'form');

  // A rejection.
  answer = 'reject';
  await option('model', 'ask');
  assert.equal((await prompt('try')).stopReason, 'end_turn');

  // A prompt that is cancelled.
  await option('model', 'slow');
  const slow = prompt('slowly');
  await context.notify('session/cancel', {sessionId});
  assert.equal((await slow).stopReason, 'cancelled');

  // A failed turn.
  await option('model', 'fails');
  await assert.rejects(prompt('fail'), (error) => error.code === -32603);

  const listed = await context.request('session/list', {cwd: folder});
  assert.ok(listed.sessions.some((each) => each.sessionId === sessionId));

  // The whole conversation again.
  updates.length = 0;
  await context.request('session/load', {sessionId, cwd: folder, mcpServers: []});
  assert.equal(updates.filter((update) => update.sessionUpdate === 'user_message_chunk').length, 6);
  assert.ok(chunks('agent_message_chunk').startsWith('Hello from the script.'));
  updates.length = 0;
  await context.request('session/resume', {sessionId, cwd: folder, mcpServers: []});
  assert.equal(updates.length, 0);
  await assert.rejects(context.request('session/load', {sessionId, cwd: '/', mcpServers: []}),
                       (error) => error.code === -32602);
  await assert.rejects(
      context.request('session/load', {sessionId: 'sess_none', cwd: folder, mcpServers: []}),
      (error) => error.code === -32002);
  await assert.rejects(context.request('no/such', {}), (error) => error.code === -32601);
  await context.request('session/close', {sessionId});
});
agent.stdin.end();
assert.ok(lines > 30);
console.log('ok', lines);
process.exit(0);
