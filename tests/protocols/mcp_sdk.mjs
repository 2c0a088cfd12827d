// Judges the MCP server with the SDK of the protocol: mcp_sdk.mjs http URL TOKEN | stdio BINARY
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {pathToFileURL} from 'node:url';

const require = createRequire(`${process.env.AGENTRT_NODE_PACKAGES}/package.json`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const {Client} = await load('@modelcontextprotocol/sdk/client/index.js');
const {ElicitRequestSchema} = await load('@modelcontextprotocol/sdk/types.js');

async function transport() {
  const [kind, where, token] = process.argv.slice(2);
  if (kind === 'stdio') {
    const {StdioClientTransport} = await load('@modelcontextprotocol/sdk/client/stdio.js');
    return new StdioClientTransport({
      command: where, args: ['mcp', 'serve'], env: process.env, stderr: 'inherit'});
  }
  const {StreamableHTTPClientTransport} =
      await load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  return new StreamableHTTPClientTransport(
      new URL(where), {requestInit: {headers: {Authorization: `Bearer ${token}`}}});
}

const client = new Client({name: 'judge', version: '1'}, {capabilities: {elicitation: {form: {}}}});
let asked = 0;
client.setRequestHandler(ElicitRequestSchema, async (request) => {
  ++asked;
  assert.ok(request.params.requestedSchema.properties.decision);
  return {action: 'accept', content: {decision: 'allow'}};
});
await client.connect(await transport());
const {tools} = await client.listTools();
assert.deepEqual(tools.map((tool) => tool.name),
                 ['run_turn', 'get_turn', 'interrupt_turn', 'list_sessions']);

// The SDK checks structured content against the output schema.
const first = await client.callTool({name: 'run_turn', arguments: {prompt: 'hello'}});
assert.equal(first.structuredContent.status, 'completed');
assert.equal(first.structuredContent.text, 'Hello from the script.');

const asks = await client.callTool({name: 'run_turn', arguments: {prompt: 'hello', model: 'ask'}});
assert.equal(asks.structuredContent.status, 'completed');
assert.equal(asked, 1);

const {sessionId, turnId} = first.structuredContent;
const again = await client.callTool({name: 'get_turn', arguments: {sessionId, turnId}});
assert.deepEqual(again.structuredContent, first.structuredContent);
const sessions = await client.callTool({name: 'list_sessions', arguments: {}});
assert.ok(sessions.structuredContent.sessions.length >= 2);
await assert.rejects(client.callTool({name: 'run_turn', arguments: {}}));
await client.ping();
await client.close();
console.log('ok');
