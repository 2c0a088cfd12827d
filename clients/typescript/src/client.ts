// The client: commands, event streams, outputs and turns.
import { AgentrtError, errorOf, passing } from "./errors.js";
import { run, type RunOptions, type RunResult } from "./run.js";
import { follow, type Frame } from "./stream.js";
import { connectionFault, fetchTransport, socketTransport, type Received, type Transport }
  from "./transport.js";
import { repeatableCommands, type AgentrtEvent, type CommandName, type CommandParams,
  type CommandReplies } from "./types.js";
import { linked, pause } from "./wait.js";

export interface AgentrtOptions {
  url: string;
  token: string;
  // How long one attempt of a request may take, in milliseconds; default 60,000.
  timeoutMs?: number;
  // A stream without a byte for this long is reconnected, in milliseconds; default 45,000.
  silenceMs?: number;
}

export interface CallOptions {
  signal?: AbortSignal;
  // For a command that changes something; default: a random one. Repeating a call with the same key
  // and parameters changes nothing and returns the first reply.
  idempotencyKey?: string;
}

export type StreamState = "behind" | "live" | "reconnecting";

export interface EventsOptions {
  // Start after this sequence; default 0, the beginning.
  after?: number;
  types?: readonly string[];
  signal?: AbortSignal;
  onState?: (state: StreamState) => void;
}

export interface AllEventsOptions {
  // Start after this cursor; default: the beginning.
  cursor?: string;
  types?: readonly string[];
  signal?: AbortSignal;
}

const attemptsMax = 5;
const backoffMs = 200;
const retryAfterMaxMs = 30_000;
// How many sessions allEvents() remembers the last sequence of, to drop repeated events.
const sessionsMax = 10_000;

interface Request {
  method: string;
  path: string;
  body?: string | Uint8Array;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  timeoutMs?: number;
  inPieces?: boolean;  // the time limit ends when the reply begins
}

export class Agentrt {
  readonly url: string;
  // Private members are neither enumerable nor shown by inspectors.
  #token: string;
  #transport: Transport;
  #timeoutMs: number;
  #silenceMs: number;

  constructor(options: AgentrtOptions, transport?: Transport) {
    this.url = options.url.replace(/\/+$/, "");
    this.#token = options.token;
    this.#transport = transport ?? fetchTransport(this.url);
    this.#timeoutMs = options.timeoutMs ?? 60_000;
    this.#silenceMs = options.silenceMs ?? 45_000;
  }

  // Connects to the process that owns a data folder, over its Unix socket. Node only. The folder is
  // found like the command line finds it: `data`, $AGENTRT_HOME, $XDG_DATA_HOME/agentrt or
  // ~/.local/share/agentrt. Throws `unavailable` if no process owns it.
  static async local(options: { data?: string; timeoutMs?: number; silenceMs?: number } = {}):
    Promise<Agentrt> {
    const { data, ...rest } = options;
    const folder = data ?? await dataFolder();
    const socket = `${folder}/agentrt.sock`;
    const name = "node:fs/promises";
    const fs = await import(name) as typeof import("node:fs/promises");
    let token: string;
    try {
      token = (await fs.readFile(`${folder}/token`, "utf8")).trim();
    } catch {
      throw new AgentrtError("unavailable",
        `no process owns the data folder ${folder}; start agentrt serve`);
    }
    const rt = new Agentrt({ url: "http://localhost", token, ...rest },
      await socketTransport(socket));
    await rt.#request({ method: "GET", path: "/healthz" }).then(drain);
    return rt;
  }

  // Calls a command. A reply states what is on disk.
  async call<C extends CommandName>(name: C, params: CommandParams[C], options: CallOptions = {}):
    Promise<CommandReplies[C]> {
    const sent: Record<string, unknown> = { ...params };
    if (repeatableCommands.has(name))
      sent.idempotencyKey ??= options.idempotencyKey ?? await randomKey();
    const waits = [sent.timeoutMs, sent.waitMs].find((ms) => typeof ms === "number") ?? 0;
    return await this.request("POST", `/v1/commands/${name}`, sent,
      { signal: options.signal, timeoutMs: this.#timeoutMs + waits }) as CommandReplies[C];
  }

  // One request of JSON to any route, with the retries of call(). Use it for routes that are not
  // commands, and only for requests that may be repeated.
  async request(method: string, path: string, body?: unknown,
                options: { signal?: AbortSignal | undefined; timeoutMs?: number } = {}):
    Promise<unknown> {
    return this.#retried(async () => parse(await readText(await this.#request({
      method, path, ...options,
      ...(body === undefined ? {} : {
        body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }),
    }))), options.signal);
  }

  // The text of a reply to GET, exactly as the server sent it.
  text(path: string, options: { signal?: AbortSignal } = {}): Promise<string> {
    return this.#retried(async () => readText(await this.#request({ method: "GET", path,
      signal: options.signal })), options.signal);
  }

  // The facts of a session: each once, in order, across broken connections, restarts and silence.
  // Ends when the signal aborts. Throws `gone` if the position is not in the log (the store was
  // restored from a backup), and `internal` if a fact is missing.
  async *events(sessionId: string, options: EventsOptions = {}): AsyncGenerator<AgentrtEvent> {
    const { types, signal, onState } = options;
    let last = options.after ?? 0;
    let generation: string | null = null;
    let head = Number.POSITIVE_INFINITY;  // the last fact when the connection was made
    let state: StreamState | undefined;
    const report = (next: StreamState) => {
      if (state !== next) onState?.(state = next);
    };
    const connect = async (scope: AbortSignal) => {
      const query = new URLSearchParams({ after: String(last) });
      if (generation) query.set("generation", generation);
      if (types) query.set("types", types.join(","));
      const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events?${query}`;
      const reply = await this.#open(path, scope);
      generation = reply.header("X-Agentrt-Generation") ?? generation;
      if (onState) head = await this.#head(sessionId, last, scope);
      report(last >= head ? "live" : "behind");
      return reply;
    };
    for await (const frame of follow({ connect, silenceMs: this.#silenceMs,
      ...(signal ? { signal } : {}), onReconnecting: () => report("reconnecting") })) {
      const event = eventOf(frame);
      const sequence = event?.sequence ?? (Number(frame.id) || 0);
      if (event && sequence > last) {
        if (!types && sequence !== last + 1) throw gap(sessionId, last, sequence);
        last = sequence;
        if (!types || types.includes(event.type)) yield event;
      }
      last = Math.max(last, sequence);
      if (last >= head) report("live");
    }
  }

  // The facts of all sessions in commit order, each with the cursor to resume after it.
  async *allEvents(options: AllEventsOptions = {}):
    AsyncGenerator<{ event: AgentrtEvent; cursor: string }> {
    const { types, signal } = options;
    let cursor = options.cursor ?? "";
    const last = new Map<string, number>();
    const connect = (scope: AbortSignal) => {
      const query = new URLSearchParams();
      if (cursor) query.set("cursor", cursor);
      if (types) query.set("types", types.join(","));
      return this.#open(`/v1/events?${query}`, scope);
    };
    for await (const frame of follow({ connect, silenceMs: this.#silenceMs,
      ...(signal ? { signal } : {}) })) {
      const event = eventOf(frame);
      if (event) {
        const before = last.get(event.sessionId);
        const damaged = (event.type as string) === "stream.damaged";
        if (before !== undefined && event.sequence <= before) continue;
        if (before !== undefined && !types && !damaged && event.sequence !== before + 1)
          throw gap(event.sessionId, before, event.sequence);
        remember(last, event.sessionId, event.sequence);
      }
      cursor = frame.id ?? cursor;
      if (event && (!types || types.includes(event.type))) yield { event, cursor };
    }
  }

  // The bytes of an output, in pieces. A broken connection is resumed where it broke.
  async *output(ref: string, options: { start?: number; end?: number; signal?: AbortSignal } = {}):
    AsyncGenerator<Uint8Array> {
    let at = options.start ?? 0;
    const end = options.end;  // exclusive
    for (let attempt = 1; end === undefined || at < end; ++attempt) {
      const ranged = at > 0 || end !== undefined;
      const scope = linked(options.signal);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const alive = () => {
        clearTimeout(timer);
        timer = setTimeout(() => scope.abort(new Error("silence")), this.#silenceMs);
      };
      try {
        const reply = await this.#request({
          method: "GET", path: `/v1/outputs/${encodeURIComponent(ref)}`, signal: scope.signal,
          inPieces: true,
          headers: ranged ? { Range: `bytes=${at}-${end === undefined ? "" : end - 1}` } : {} });
        const length = Number(reply.header("Content-Length"));
        let got = 0;
        alive();
        for await (const piece of reply.body) {
          alive();
          got += piece.length;
          at += piece.length;
          attempt = 0;
          yield piece;
        }
        if (got >= length) return;
        throw connectionFault("the connection broke", undefined);
      } catch (error) {
        if (options.signal?.aborted) throw options.signal.reason;
        if (error instanceof AgentrtError && error.status === 416 && at > 0) return;
        if (error instanceof AgentrtError && !passing(error)) throw error;
        if (attempt >= attemptsMax) throw plain(error);
        await pause(delay(attempt, error), options.signal);
      } finally {
        clearTimeout(timer);
        scope.abort(new Error("done"));
      }
    }
  }

  // Stores bytes as an output of the session and returns its ref. Repeating it is harmless: the
  // same bytes and type give the same ref.
  async upload(sessionId: string, bytes: Uint8Array | string,
               options: { mediaType?: string; signal?: AbortSignal } = {}): Promise<string> {
    const mediaType = options.mediaType ?? "application/octet-stream";
    const query = new URLSearchParams({ sessionId, mediaType });
    const reply = await this.#retried(async () => parse(await readText(await this.#request({
      method: "POST", path: `/v1/outputs?${query}`, signal: options.signal,
      body: typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes,
      headers: { "Content-Type": mediaType },
    }))), options.signal);
    return (reply as { outputRef: string }).outputRef;
  }

  // Submits a prompt and follows the turn to its end.
  run(prompt: string, options: RunOptions = {}): Promise<RunResult> {
    return run(this, prompt, options);
  }

  async #retried<T>(attempt: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    for (let number = 1; ; ++number) {
      try {
        return await attempt();
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (error instanceof AgentrtError && !passing(error)) throw error;
        if (number >= attemptsMax) throw plain(error);
        await pause(delay(number, error), signal);
        if (signal?.aborted) throw signal.reason;
      }
    }
  }

  // Without a token (to sign in) the field is absent.
  #authorization(): Record<string, string> {
    return this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
  }

  // Sends one request; throws the error of an unsuccessful reply.
  async #request(request: Request): Promise<Received> {
    const scope = linked(request.signal);
    const late = new AgentrtError("unavailable", "the server did not answer in time");
    const timer = setTimeout(() => scope.abort(late), request.timeoutMs ?? this.#timeoutMs);
    const done = () => {
      clearTimeout(timer);
      scope.abort(late);
    };
    try {
      const reply = await this.#transport({ method: request.method, path: request.path,
        headers: { ...request.headers, ...this.#authorization() },
        ...(request.body === undefined ? {} : { body: request.body }), signal: scope.signal });
      if (reply.status >= 400) {
        const error = errorOf(reply.status, await readText(reply));
        const after = Number(reply.header("Retry-After"));
        if (after > 0) retryAfter.set(error, Math.min(after * 1000, retryAfterMaxMs));
        throw error;
      }
      if (request.inPieces) clearTimeout(timer);
      return { ...reply, body: untilEnd(reply.body, done) };
    } catch (error) {
      done();
      throw error;
    }
  }

  // Opens an event stream. The reader watches for silence; there is no other time limit.
  async #open(path: string, signal: AbortSignal): Promise<Received> {
    const reply = await this.#transport({ method: "GET", path, signal, headers: {
      Accept: "text/event-stream", ...this.#authorization() } });
    if (reply.status !== 200) throw errorOf(reply.status, await readText(reply));
    return reply;
  }

  // The sequence of the last fact of a session.
  async #head(sessionId: string, after: number, signal: AbortSignal): Promise<number> {
    const page = await this.call("list_events", { sessionId, after, limit: 1 }, { signal });
    return page.asOfSequence;
  }
}

// Errors by which the server asked for a pause, in milliseconds.
const retryAfter = new WeakMap<AgentrtError, number>();

// The pause before the next attempt: doubling, or what the server asked for, and up to a quarter
// longer at random, so that many clients do not return at once.
function delay(attempt: number, error: unknown): number {
  const asked = error instanceof AgentrtError ? retryAfter.get(error) : undefined;
  return Math.max(asked ?? 0, backoffMs * 2 ** (attempt - 1)) * (1 + Math.random() / 4);
}

// An error of the platform may contain the request with its token, so it is not passed on.
function plain(error: unknown): AgentrtError {
  return error instanceof AgentrtError ? error : connectionFault("the connection broke", error);
}

async function* untilEnd(body: AsyncIterable<Uint8Array>, done: () => void):
  AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    done();
  }
}

async function readText(reply: Received): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const piece of reply.body) text += decoder.decode(piece, { stream: true });
  } catch (error) {
    throw plain(error);
  }
  return text + decoder.decode();
}

async function drain(reply: Received): Promise<void> {
  await readText(reply);
}

// A reply that ends halfway is a broken connection, not a wrong reply.
function parse(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    throw new AgentrtError("unavailable", "the reply is not JSON; a proxy may have cut it");
  }
}

function eventOf(frame: Frame): AgentrtEvent | undefined {
  return frame.data ? JSON.parse(frame.data) as AgentrtEvent : undefined;
}

function gap(sessionId: string, last: number, sequence: number): AgentrtError {
  return new AgentrtError("internal",
    `facts ${last + 1} to ${sequence - 1} of session ${sessionId} are missing from the stream`,
    200, { sessionId, expected: last + 1, received: sequence });
}

function remember(last: Map<string, number>, session: string, sequence: number): void {
  last.delete(session);
  last.set(session, sequence);
  if (last.size > sessionsMax) last.delete(last.keys().next().value!);
}

// 128 random bits. Node 18 has no global `crypto`.
async function randomKey(): Promise<string> {
  const name = "node:crypto";
  const source = (globalThis as { crypto?: Crypto }).crypto ??
    (await import(name) as { webcrypto: Crypto }).webcrypto;
  const bytes = source.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function dataFolder(): Promise<string> {
  const env = (globalThis as { process?: { env: Record<string, string | undefined> } })
    .process?.env ?? {};
  if (env.AGENTRT_HOME) return env.AGENTRT_HOME;
  return `${env.XDG_DATA_HOME || `${env.HOME ?? ""}/.local/share`}/agentrt`;
}
