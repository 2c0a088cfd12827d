// The prompt below the timeline, the queue, and the buttons that steer the active turn.
import { useRef, useState } from "preact/hooks";
import { can, client } from "../auth";
import type { Thread } from "../log/view";
import { oneLine, plural } from "../text/format";
import { Button, Time } from "../ui/parts";
import { Status } from "../ui/status";
import type { Shown } from "./session";

// A draft survives reload and sign-out. Its key stays until it was accepted, so that sending again
// after a lost connection submits one turn.
interface Draft { text: string; key: string }

function readDraft(sessionId: string): Draft {
  try {
    const kept = JSON.parse(sessionStorage.getItem(`agentrt.draft.${sessionId}`) ?? "") as Draft;
    if (typeof kept.text === "string" && typeof kept.key === "string") return kept;
  } catch {
    // No draft.
  }
  return { text: "", key: crypto.randomUUID() };
}

function keepDraft(sessionId: string, draft: Draft): void {
  if (draft.text) sessionStorage.setItem(`agentrt.draft.${sessionId}`, JSON.stringify(draft));
  else sessionStorage.removeItem(`agentrt.draft.${sessionId}`);
}

function Queue({ shown, thread }: { shown: Shown; thread: Thread }) {
  const rt = client.value!;
  const [problem, setProblem] = useState("");
  const steer = (name: "remove_queued_turn" | "promote_queued_turn", queuedTurnId: string) => {
    rt.call(name, { sessionId: shown.log.sessionId, threadId: thread.threadId, queuedTurnId })
      .then(() => setProblem(""), (error: Error) => setProblem(error.message));
  };
  if (thread.queue.length === 0) return null;
  return <section class="queue" aria-label="Queue">
    <h2>{plural(thread.queue.length, "turn waits", "turns wait")}</h2>
    <ol>{thread.queue.map((turnId, at) => <li key={turnId}>
      <span>{oneLine(shown.view.turns.get(turnId)?.entries[0]?.text ?? turnId, 100)}</span>
      {!shown.past && <>{at > 0 && <Button small scope="submit"
        onClick={() => steer("promote_queued_turn", turnId)}>First</Button>}
        <Button small scope="submit" onClick={() => steer("remove_queued_turn", turnId)}>
          Remove</Button></>}
    </li>)}</ol>
    {problem && <p class="error-text" role="alert">{problem}</p>}
  </section>;
}

export function Composer({ shown, thread }: { shown: Shown; thread: Thread | undefined }) {
  const rt = client.value!;
  const { sessionId } = shown.log;
  const [draft, setDraft] = useState(() => readDraft(sessionId));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  if (shown.past) return null;
  const change = (next: Draft) => {
    setDraft(next);
    keepDraft(sessionId, next);
  };
  const act = async (work: () => Promise<unknown>) => {
    setBusy(true);
    try {
      await work();
      setProblem("");
      return true;
    } catch (error) {
      setProblem((error as Error).message);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const send = async () => {
    if (!draft.text.trim() || busy || !can("submit")) return;
    const done = await act(() => rt.call("submit_turn", { sessionId,
      ...(thread ? { threadId: thread.threadId } : {}),
      input: [{ type: "text", text: draft.text }] }, { idempotencyKey: draft.key }));
    if (done) change({ text: "", key: crypto.randomUUID() });
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      void send();
    }
    if (event.key === "Escape") field.current?.blur();
  };
  const active = thread?.activeTurnId;
  const turn = active ? shown.view.turns.get(active) : undefined;
  const resumable = thread?.resumable ?? false;
  return <div class="composer-area">
    {thread && <Queue shown={shown} thread={thread} />}
    <div class="turn-now" role="status">{turn && <><Status word={turn.status} />
      <span class="turn-phase">{turn.phase}</span>
      {turn.startedAt && <span class="turn-when">started <Time at={turn.startedAt} /></span>}</>}
      {resumable && <Button small scope="submit" disabled={busy} onClick={() => void act(() =>
        rt.call("resume_thread", { sessionId, threadId: thread!.threadId }))}>Resume</Button>}
      {active && <Button small scope="submit" disabled={busy} onClick={() => void act(() =>
        rt.call("interrupt_turn", { sessionId, threadId: thread!.threadId, turnId: active }))}>
        Interrupt</Button>}
    </div>
    <form class="composer" data-testid="composer" onSubmit={(event) => {
      event.preventDefault();
      void send();
    }}>
      <textarea ref={field} rows={2} aria-label="Prompt" data-primary-input value={draft.text}
        disabled={!can("submit")} onKeyDown={press}
        placeholder={!can("submit") ? "Sending needs a token with scope submit."
          : active ? "A message that waits until the turn ends" : "What next?"}
        onInput={(event) => change({ ...draft, text: event.currentTarget.value })} />
      <div class="composer-foot">
        {problem ? <span class="error-text" role="alert">{problem}</span>
          : <span class="muted composer-hint">Enter sends, Shift+Enter starts a line</span>}
        <Button main type="submit" scope="submit"
          disabled={busy || !draft.text.trim()}>Send</Button>
      </div>
    </form>
  </div>;
}
