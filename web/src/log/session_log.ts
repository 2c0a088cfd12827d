// The facts of one session, followed live, and the views that are folded from them.
import { signal, type Signal } from "@preact/signals";
import { AgentrtError, type Agentrt, type AgentrtEvent } from "agentrt";
import { expire } from "../auth";
import { onWake, pollMs, setConnection, takeSlot, whileVisible } from "../live";
import { fold } from "./fold";
import { emptyView, type View } from "./view";

export const factsMax = 20_000;  // kept in memory; older ones are read again when they are needed
const pageSize = 1_000;
const pastWindow = 5_000;        // facts before a moment that is older than the kept ones
const retryMs = 1_000;

export class SessionLog {
  readonly sessionId: string;
  // Changes whenever the view does, at most once per frame.
  readonly version = signal(0);
  readonly ready = signal(false);
  readonly error: Signal<AgentrtError | null> = signal(null);
  readonly notice = signal("");
  view: View;
  facts: AgentrtEvent[] = [];
  #rt: Agentrt;
  #frame = 0;
  #end: (() => void) | null = null;
  #stream: AbortController | null = null;
  #restartTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(rt: Agentrt, sessionId: string) {
    this.#rt = rt;
    this.sessionId = sessionId;
    this.view = emptyView(sessionId);
  }

  open(): void {
    const stopVisible = whileVisible(() => {
      void this.#follow();
      return () => this.#stream?.abort();
    });
    const stopWake = onWake(() => this.restart());
    this.#end = () => {
      stopVisible();
      stopWake();
    };
  }

  close(): void {
    clearTimeout(this.#restartTimer);
    cancelAnimationFrame(this.#frame);
    this.#end?.();
    this.#stream?.abort();
  }

  // Connects again at the present position.
  restart(): void {
    this.#stream?.abort();
    void this.#follow();
  }

  // The view as it was when the fact `at` was the last one.
  async past(at: number, abort: AbortSignal): Promise<View> {
    const first = this.facts[0]?.sequence ?? 1;
    if (at >= first - 1 || first === 1) {
      const view = emptyView(this.sessionId, first);
      for (const fact of this.facts) {
        if (fact.sequence > at) break;
        fold(view, fact);
      }
      return view;
    }
    const from = Math.max(1, at - pastWindow + 1);
    const view = emptyView(this.sessionId, from);
    while (view.asOf < at) {
      const { data } = await this.#rt.call("list_events", { sessionId: this.sessionId,
        after: view.asOf, limit: Math.min(pageSize, at - view.asOf) }, { signal: abort });
      if (data.length === 0) break;
      for (const fact of data) fold(view, fact);
    }
    return view;
  }

  #changed(): void {
    if (this.#frame) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.version.value += 1;
    });
  }

  #add(fact: AgentrtEvent): void {
    fold(this.view, fact);
    this.facts.push(fact);
    if (this.facts.length > factsMax + pageSize) this.facts.splice(0, pageSize);
    this.#changed();
  }

  // Where a first read begins: everything, or the newest factsMax facts.
  async #begin(abort: AbortSignal): Promise<void> {
    const session = await this.#rt.call("get_session",
      { sessionId: this.sessionId, limit: 1 }, { signal: abort });
    const from = Math.max(0, session.asOfSequence - factsMax);
    this.facts = [];
    this.view = emptyView(this.sessionId, from + 1);
    this.view.cwd = session.cwd;
    this.view.createdAt = session.createdAt;
    if (session.title !== undefined) this.view.title = session.title;
  }

  async #follow(): Promise<void> {
    const abort = new AbortController();
    this.#stream = abort;
    let release: (() => void) | null = null;
    try {
      if (!this.ready.value) {
        setConnection("behind");
        await this.#begin(abort.signal);
      }
      release = await takeSlot();
      if (release) await this.#streamed(abort.signal);
      else await this.#polled(abort.signal);
    } catch (error) {
      if (!abort.signal.aborted) this.#failed(error);
    } finally {
      release?.();
    }
  }

  async #streamed(signal: AbortSignal): Promise<void> {
    const onState = (state: "behind" | "live" | "reconnecting") => {
      if (signal.aborted) return;
      setConnection(state);
      if (state === "live") this.#caughtUp();
    };
    for await (const fact of this.#rt.events(this.sessionId,
      { after: this.view.asOf, signal, onState })) this.#add(fact);
  }

  // All stream slots are taken by other windows: read pages until one is free.
  async #polled(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const page = await this.#rt.call("list_events",
        { sessionId: this.sessionId, after: this.view.asOf, limit: pageSize }, { signal });
      for (const fact of page.data) this.#add(fact);
      const behind = this.view.asOf < page.asOfSequence;
      setConnection(behind ? "behind" : "live");
      if (behind) continue;
      this.#caughtUp();
      await new Promise((resolve) => { setTimeout(resolve, pollMs); });
      const slot = await takeSlot();
      if (!slot) continue;
      try {
        return await this.#streamed(signal);
      } finally {
        slot();
      }
    }
  }

  #caughtUp(): void {
    if (this.ready.value) return;
    this.ready.value = true;
    this.version.value += 1;
  }

  #failed(error: unknown): void {
    const code = error instanceof AgentrtError ? error.code : "internal";
    if (code === "unauthenticated") {
      setConnection("signed_out");
      return expire();
    }
    if (code === "gone") {
      this.ready.value = false;
      this.notice.value = "The store was replaced, so this view was read again from the start.";
      return this.restart();
    }
    if (code === "unavailable" || code === "overloaded" || code === "internal") {
      setConnection("reconnecting");
      this.#restartTimer = setTimeout(() => this.restart(), retryMs);
      return;
    }
    this.error.value = error as AgentrtError;
  }
}
