// The TypeScript client of agentrt. It has no dependencies and runs in Node 18 and in browsers.
export { Agentrt } from "./client.js";
export type { AgentrtOptions, AllEventsOptions, CallOptions, EventsOptions, StreamState }
  from "./client.js";
export { AgentrtError } from "./errors.js";
export type { Answer, RunOptions, RunResult } from "./run.js";
export * from "./types.js";
