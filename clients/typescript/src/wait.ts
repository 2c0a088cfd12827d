// Delays and signals.

// Resolves after about this time (jitter of one quarter), or when the signal aborts.
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms * (0.75 + Math.random() / 2));
    signal?.addEventListener("abort", done);
  });
}

export interface Scope {
  signal: AbortSignal;
  // Aborts this signal and detaches it from the outer one.
  abort(reason: unknown): void;
}

// A signal that aborts with the given one, or by itself.
export function linked(outer?: AbortSignal): Scope {
  const inner = new AbortController();
  const pass = () => inner.abort(outer?.reason);
  if (outer?.aborted) pass();
  outer?.addEventListener("abort", pass);
  return {
    signal: inner.signal,
    abort: (reason) => {
      outer?.removeEventListener("abort", pass);
      inner.abort(reason);
    },
  };
}
