// Server-sent events: parsing, and following a stream across broken connections.
import { AgentrtError, passing } from "./errors.js";
import { linked, pause } from "./wait.js";

export interface Frame {
  id: string | null;
  event: string;
  data: string;  // empty: the frame only moves the position
}

// Splits bytes into frames. Feed it pieces of any size.
export class FrameParser {
  #decoder = new TextDecoder();
  #pending = "";
  #frame: Frame = { id: null, event: "", data: "" };

  *push(bytes: Uint8Array): Generator<Frame> {
    this.#pending += this.#decoder.decode(bytes, { stream: true });
    let start = 0;
    for (;;) {
      const end = this.#pending.indexOf("\n", start);
      if (end < 0) break;
      const frame = this.#line(this.#pending.slice(start, end).replace(/\r$/, ""));
      start = end + 1;
      if (frame) yield frame;
    }
    this.#pending = this.#pending.slice(start);
  }

  #line(line: string): Frame | null {
    if (line === "") {
      const frame = this.#frame;
      this.#frame = { id: null, event: "", data: "" };
      return frame.id !== null || frame.data !== "" ? frame : null;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return null;  // a comment
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "id") this.#frame.id = value;
    else if (field === "event") this.#frame.event = value;
    else if (field === "data") this.#frame.data += (this.#frame.data ? "\n" : "") + value;
    return null;
  }
}

export interface Connection {
  body: AsyncIterable<Uint8Array>;
}

export interface Following {
  // Opens the stream at the present position.
  connect(signal: AbortSignal): Promise<Connection>;
  // A stream without a byte for this long is dead; comments count.
  silenceMs: number;
  signal?: AbortSignal;
  onReconnecting?(): void;
}

const backoffMs = [250, 500, 1000, 2000, 5000];

// Yields frames until the signal aborts. Reconnects after broken connections, silence, overflow and
// passing errors, with a growing delay; throws other errors.
export async function* follow(following: Following): AsyncGenerator<Frame> {
  let failures = 0;
  while (!following.signal?.aborted) {
    const scope = linked(following.signal);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => scope.abort(silent), following.silenceMs);
    };
    try {
      alive();
      const { body } = await following.connect(scope.signal);
      const parser = new FrameParser();
      for await (const bytes of body) {
        alive();
        for (const frame of parser.push(bytes)) {
          if (frame.event === "stream.overflow") throw cut;
          if (frame.event === "stream.error") throw streamError(frame.data);
          yield frame;
          failures = 0;
        }
      }
    } catch (error) {
      if (following.signal?.aborted) return;
      if (error instanceof AgentrtError && !passing(error)) throw error;
    } finally {
      clearTimeout(timer);
      scope.abort(cut);
    }
    if (following.signal?.aborted) return;
    following.onReconnecting?.();
    await pause(backoffMs[Math.min(failures++, backoffMs.length - 1)]!, following.signal);
  }
}

const silent = new Error("no sign of life from the server");
const cut = new Error("the stream ended");

function streamError(data: string): AgentrtError {
  const error = JSON.parse(data) as { code: AgentrtError["code"]; message: string;
    details?: Record<string, unknown> };
  return new AgentrtError(error.code, error.message, 200, error.details ?? {});
}
