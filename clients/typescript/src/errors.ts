// The error that every method of the client throws.
import type { ErrorCode } from "./types.js";

// A rejected request, or a failure to reach the daemon. Decide by `code`; docs/errors.md lists all
// codes. The message is a sentence for people and may change.
export class AgentrtError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;
  // The HTTP status of the reply; 0 if there was no reply.
  readonly status: number;

  constructor(code: ErrorCode, message: string, status = 0,
              details: Record<string, unknown> = {}) {
    super(message);
    this.name = "AgentrtError";
    this.code = code;
    this.status = status;
    this.details = details;
  }
}

// Whether the same request may succeed later without a change.
export function passing(error: unknown): boolean {
  return error instanceof AgentrtError &&
    (error.code === "overloaded" || error.code === "unavailable");
}

// The error of a reply with this status and body. A reply of a proxy has no code of ours: gateway
// errors (502 to 504) count as unavailable.
export function errorOf(status: number, body: string): AgentrtError {
  try {
    const { error } = JSON.parse(body) as
      { error: { code: ErrorCode; message: string; details?: Record<string, unknown> } };
    if (typeof error.code === "string")
      return new AgentrtError(error.code, error.message, status, error.details ?? {});
  } catch {
    // Not a reply of agentrt.
  }
  const code = status >= 502 && status <= 504 ? "unavailable" : "internal";
  return new AgentrtError(code, `the server replied with status ${status}`, status);
}
