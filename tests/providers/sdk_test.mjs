// Tests the provider double with the official SDKs of OpenAI and Anthropic: if they accept its
// answers, it is suitable for tests of our own adapters. AGENTRT_NODE_PACKAGES names the folder in
// which they are installed (./dev setup).
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const packages = process.env.AGENTRT_NODE_PACKAGES;
assert.ok(packages, 'AGENTRT_NODE_PACKAGES is not set; ./dev setup installs the SDKs');
const require = createRequire(path.join(packages, 'package.json'));
const { OpenAI } = require('openai');
const { Anthropic } = require('@anthropic-ai/sdk');

const here = path.dirname(fileURLToPath(import.meta.url));
const key = 'sk-for-tests';
let double, url, openai, anthropic;

before(async () => {
  double = spawn('/usr/bin/python3', ['double.py', '--key', key], {
    cwd: here, stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } });
  const line = await new Promise((resolve) => {
    double.stdout.once('data', (data) => resolve(String(data)));
  });
  url = line.trim().split(' ').pop();
  openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
  anthropic = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });
});
after(() => double.kill());

const said = 'Hello there, wörld 🙂.';
const tools = [{ type: 'function', function: { name: 'shell', parameters: { type: 'object' } } }];
const user = [{ role: 'user', content: 'go' }];

test('chat completions stream text and usage', async () => {
  let text = '', usage, finish;
  const stream = await openai.chat.completions.create({
    model: 'hello', messages: user, stream: true, stream_options: { include_usage: true } });
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  assert.equal(text, said);
  assert.equal(finish, 'stop');
  assert.equal(usage.prompt_tokens, 12);
});

test('chat completions put parallel calls together', async () => {
  const stream = openai.chat.completions.stream({ model: 'talk', messages: user, tools });
  const message = (await stream.finalChatCompletion()).choices[0].message;
  assert.equal(message.content, 'Let me look.');
  assert.deepEqual(message.tool_calls.map((call) => JSON.parse(call.function.arguments).command),
    ['echo one; echo zwei: ä🙂', 'exit 3']);
});

test('responses stream text, reasoning and calls', async () => {
  const stream = openai.responses.stream({ model: 'talk', input: 'go' });
  let deltas = '';
  stream.on('response.output_text.delta', (event) => { deltas += event.delta; });
  const response = await stream.finalResponse();
  assert.equal(response.output_text, 'Let me look.');
  assert.equal(deltas, 'Let me look.');
  assert.deepEqual(response.output.map((item) => item.type),
    ['reasoning', 'message', 'function_call', 'function_call']);
  assert.equal(response.usage.input_tokens_details.cached_tokens, 40);
});

test('an answer that was cut short says so', async () => {
  const stream = await openai.responses.create({ model: 'short', input: 'go', stream: true });
  let last;
  for await (const event of stream) last = event;
  assert.equal(last.type, 'response.incomplete');
});

test('messages stream thinking, text and calls', async () => {
  const stream = anthropic.messages.stream({ model: 'talk', max_tokens: 100, messages: user });
  const message = await stream.finalMessage();
  assert.deepEqual(message.content.map((block) => block.type),
    ['thinking', 'text', 'tool_use', 'tool_use']);
  assert.equal(message.content[2].input.command, 'echo one; echo zwei: ä🙂');
  assert.equal(message.stop_reason, 'tool_use');
  assert.equal(message.usage.cache_read_input_tokens, 40);
  assert.equal(message.usage.output_tokens, 20);
});

test('a conversation continues where the request says it is', async () => {
  const messages = [...user, { role: 'assistant', content: 'a' }, { role: 'user', content: 'b' },
    { role: 'assistant', content: 'c' }, { role: 'user', content: 'd' }];
  const message = await anthropic.messages.stream({ model: 'talk', max_tokens: 9, messages })
    .finalMessage();
  assert.equal(message.content[0].text, 'All of it is done.');
});

test('faults are the errors that the SDKs know', async () => {
  const ask = (model) => openai.chat.completions.create({ model, messages: user, stream: true });
  await assert.rejects(ask('rate_limit'), (error) =>
    error instanceof OpenAI.RateLimitError && error.headers.get('retry-after') === '1');
  await assert.rejects(ask('unknown_model'), OpenAI.NotFoundError);
  await assert.rejects(ask('server_error'), OpenAI.InternalServerError);
  const tell = (model) => anthropic.messages.create({
    model, max_tokens: 9, messages: user, stream: true });
  await assert.rejects(tell('bad_request'), Anthropic.BadRequestError);
  await assert.rejects(tell('overloaded'), Anthropic.InternalServerError);
  const stranger = new Anthropic({ apiKey: 'other', baseURL: url, maxRetries: 0 });
  await assert.rejects(stranger.messages.create({ model: 'hello', max_tokens: 9, messages: user }),
    Anthropic.AuthenticationError);
  const broken = await tell('error_inside');
  await assert.rejects(async () => { for await (const _ of broken); }, Anthropic.APIError);
});
