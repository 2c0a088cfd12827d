// How requests reach the daemon: fetch over TCP, or HTTP over the Unix socket of a data folder.
import { AgentrtError } from "./errors.js";

export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string | Uint8Array;
  signal: AbortSignal;
}

export interface Received {
  status: number;
  header(name: string): string | null;
  // The bytes of the body as they arrive. Ends with an error if the connection breaks.
  body: AsyncIterable<Uint8Array>;
}

// Fails with AgentrtError `unavailable` if no reply arrives; rethrows the reason of the signal.
export type Transport = (sent: Sent) => Promise<Received>;

// The message names no header field, so the token cannot appear in it.
export function connectionFault(what: string, cause: unknown): AgentrtError {
  const inner = (cause as { cause?: { code?: unknown } } | undefined)?.cause?.code ??
    (cause as { code?: unknown } | undefined)?.code;
  const why = typeof inner === "string" ? ` (${inner})` : "";
  return new AgentrtError("unavailable", `${what}${why}`);
}

async function* readAll(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (!stream) return;
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Requests over TCP, in Node and in browsers.
export function fetchTransport(base: string): Transport {
  return async ({ method, path, headers, body, signal }) => {
    let reply: Response;
    try {
      reply = await fetch(base + path, {
        method, headers, signal, cache: "no-store", credentials: "omit", redirect: "error",
        referrerPolicy: "no-referrer",
        ...(body === undefined ? {} : { body: body as BodyInit }),
      });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw connectionFault(`no reply from ${base}`, error);
    }
    return {
      status: reply.status,
      header: (name) => reply.headers.get(name),
      body: readAll(reply.body),
    };
  };
}

// Requests over a Unix socket; Node only. The name of the module is a variable, so that bundlers
// for browsers do not look for it.
export async function socketTransport(socketPath: string): Promise<Transport> {
  const name = "node:http";
  const http = await import(name) as typeof import("node:http");
  return ({ method, path, headers, body, signal }) => new Promise((resolve, reject) => {
    const lost = (error: unknown) => {
      reject(signal.aborted ? signal.reason
        : connectionFault(`no process answers at ${socketPath}; start agentrt serve`, error));
    };
    const request = http.request({ socketPath, method, path, signal,
      headers: { Host: "localhost", ...headers } }, (reply) => {
      reply.on("error", () => {});  // reported to the reader of the body
      resolve({
        status: reply.statusCode ?? 0,
        header: (field) => [reply.headers[field.toLowerCase()] ?? []].flat()[0] ?? null,
        body: reply,
      });
    });
    request.on("error", lost);
    request.end(body);
  });
}
