// A status in one of five tones, each with a shape of its own and the log's own word.
export type Tone = "running" | "waiting" | "succeeded" | "failed" | "unknown";

const tones: Record<string, Tone> = {
  running: "running", streaming: "running", preparing: "running", retrying: "running",
  accepted: "running", queued: "running", ending: "running", cancelling: "running",
  waiting_permission: "waiting", waiting_input: "waiting", waiting_resource: "waiting",
  blocked: "waiting", paused: "waiting", ask: "waiting", open: "waiting", reported: "waiting",
  completed: "succeeded", idle: "succeeded", allow: "succeeded", answer: "succeeded",
  accept: "succeeded", sandboxed: "succeeded", trust: "succeeded", closed: "succeeded",
  connected: "succeeded", disconnected: "waiting", unreconciled: "waiting", waiting: "waiting",
  archived: "succeeded", satisfied: "succeeded",
  failed: "failed", timed_out: "failed", lost: "failed", deny: "failed", cancelled: "failed",
  terminated: "failed", decline: "failed", cancel: "failed", expired: "failed",
};

export function toneOf(word: string): Tone {
  return tones[word] ?? "unknown";
}

// What words mean that are easily misread.
const meanings: Record<string, string> = {
  stale: "The last known state; nothing has confirmed it since.",
  unknown: "The log does not say.",
  lost: "The runtime cannot find out how it ended.",
  degraded: "A part of the log is damaged; the rest is shown.",
  idle: "No turn is at work.",
  disconnected: "The peer can resume where it stopped.",
  unreachable: "The peer does not answer; its work may continue.",
  unreconciled: "The peer has completed it; its results are not stored here yet.",
  missing: "The peer does not know this task any more.",
  blocked: "It cannot continue by itself.",
};

const shapes: Record<Tone, preact.JSX.Element> = {
  running: <path d="M8 2.5a5.5 5.5 0 1 1-5.5 5.5" fill="none" />,
  waiting: <path d="M8 1.8 14.2 8 8 14.2 1.8 8z" />,
  succeeded: <path d="m3 8.5 3.2 3.2L13 4.9" fill="none" />,
  failed: <path d="m4 4 8 8m0-8-8 8" fill="none" />,
  unknown: <path d="M5.6 6a2.4 2.4 0 1 1 3.4 2.2c-.7.3-1 .8-1 1.6m0 2.4v.1" fill="none" />,
};

export function Shape({ tone }: { tone: Tone }) {
  return <svg class={`shape tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true">
    {shapes[tone]}
  </svg>;
}

export function Status({ word, quiet, tone = toneOf(word) }:
  { word: string; quiet?: boolean; tone?: Tone }) {
  return <span class={`status tone-${tone} ${quiet ? "status-quiet" : ""}`}
    title={meanings[word] ?? ""}>
    <Shape tone={tone} />{word.slice(0, 40)}
  </span>;
}
