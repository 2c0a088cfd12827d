// Every fact: a grid of rows that reads pages as it is scrolled, with a filter by type, jumps to a
// sequence, and the exact bytes that the server sent.
import { useEffect, useRef, useState } from "preact/hooks";
import type { AgentrtEvent } from "agentrt";
import { client } from "../auth";
import { clock, exact, oneLine, safeText } from "../text/format";
import { Button, Copy, Empty } from "../ui/parts";
import type { Shown } from "./session";

const rowHeight = 28;
const overscan = 12;
const pageSize = 200;
const pagesKept = 60;
const filteredMax = 5_000;

// What a row says about its fact.
function summary(e: AgentrtEvent): string {
  const payload = e.payload as Record<string, unknown>;
  const parts: string[] = [];
  for (const [name, value] of Object.entries(payload)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
      parts.push(`${name}=${String(value)}`);
    if (parts.length === 5) break;
  }
  return oneLine(parts.join(" "), 220);
}

function Raw({ sessionId, sequence, onClose }:
  { sessionId: string; sequence: number; onClose: () => void }) {
  const [text, setText] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    client.value!.text(`/v1/sessions/${encodeURIComponent(sessionId)}/events?after=${
      sequence - 1}&limit=1`, { signal: abort.signal })
      .then(setText, (error: Error) => { if (!abort.signal.aborted) setText(error.message); });
    return () => abort.abort();
  }, [sessionId, sequence]);
  let pretty = text;
  try {
    pretty = JSON.stringify((JSON.parse(text) as { data: unknown[] }).data[0], null, 2);
  } catch {
    // Shown as it is.
  }
  return <aside class="raw" data-testid="log-json" aria-label={`Fact ${sequence}`}>
    <header><b>Fact {sequence}</b>
      <span><Copy text={text} label="Copy the bytes" />
        <Button small onClick={onClose}>Close</Button></span></header>
    <pre tabIndex={0}>{safeText(pretty)}</pre>
  </aside>;
}

function Row({ e, sequence, top, chosen, onChoose }: {
  e: AgentrtEvent | undefined; sequence: number; top: number; chosen: boolean;
  onChoose: () => void;
}) {
  return <div role="row" class={`log-row ${chosen ? "log-chosen" : ""}`} data-testid="log-row"
    data-sequence={sequence} aria-rowindex={sequence} aria-selected={chosen}
    style={{ transform: `translateY(${top}px)` }} onClick={onChoose}>
    <span role="gridcell" class="log-sequence">{sequence}</span>
    <span role="gridcell" class="log-time" title={e ? exact(e.timestamp) : ""}>
      {e ? clock(e.timestamp) : ""}</span>
    <span role="gridcell" class="log-type">{e?.type ?? ""}</span>
    <span role="gridcell" class="log-summary">{e ? summary(e) : "…"}</span>
  </div>;
}

// The pages of the log that are in memory, by number; the least recently read are dropped.
class Pages {
  #pages = new Map<number, AgentrtEvent[]>();
  #reading = new Set<number>();
  constructor(private readonly sessionId: string, private readonly changed: () => void) {}

  at(sequence: number): AgentrtEvent | undefined {
    return this.#pages.get(Math.floor((sequence - 1) / pageSize))?.[(sequence - 1) % pageSize];
  }

  want(first: number, last: number): void {
    for (let page = Math.floor((first - 1) / pageSize);
      page <= Math.floor((last - 1) / pageSize); ++page) {
      const known = this.#pages.get(page);
      const needed = Math.min(pageSize, last - page * pageSize);
      if (this.#reading.has(page) || (known && known.length >= needed)) continue;
      this.#reading.add(page);
      client.value!.call("list_events", { sessionId: this.sessionId, after: page * pageSize,
        limit: pageSize }).then(({ data }) => {
        this.#pages.delete(page);
        this.#pages.set(page, data);
        if (this.#pages.size > pagesKept) this.#pages.delete(this.#pages.keys().next().value!);
      }, () => {}).finally(() => {
        this.#reading.delete(page);
        this.changed();
      });
    }
  }
}

function Grid({ shown, jump, chosen, onChoose }: { shown: Shown; jump: number | null;
  chosen: number | null; onChoose: (sequence: number | null) => void }) {
  const total = shown.view.asOf;
  const box = useRef<HTMLDivElement>(null);
  const [, setRound] = useState(0);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const pages = useRef<Pages | null>(null);
  pages.current ??= new Pages(shown.log.sessionId, () => setRound((round) => round + 1));
  useEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    element.scrollTop = element.scrollHeight;
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (jump !== null) box.current!.scrollTop = (jump - 1) * rowHeight - height / 3;
  }, [jump]);
  const first = Math.max(1, Math.floor(top / rowHeight) + 1 - overscan);
  const last = Math.min(total, Math.ceil((top + height) / rowHeight) + overscan);
  useEffect(() => { if (last >= first) pages.current!.want(first, last); }, [first, last, total]);
  const move = (event: KeyboardEvent) => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max((chosen ?? total + 1) + step, 1), total);
    onChoose(next);
    const at = (next - 1) * rowHeight;
    if (at < top || at > top + height - rowHeight * 2) box.current!.scrollTop = at - height / 2;
  };
  const rows = [];
  for (let sequence = first; sequence <= last; ++sequence)
    rows.push(<Row key={sequence} sequence={sequence} top={(sequence - 1) * rowHeight}
      e={pages.current.at(sequence)} chosen={sequence === chosen}
      onChoose={() => onChoose(sequence)} />);
  return <div ref={box} class="log" role="grid" data-testid="log" aria-label="Facts" tabIndex={0}
    aria-rowcount={total} onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    onKeyDown={move}>
    <div class="log-space" role="rowgroup" style={{ height: `${total * rowHeight}px` }}>{rows}</div>
  </div>;
}

function Filtered({ shown, types, chosen, onChoose }: { shown: Shown; types: string[];
  chosen: number | null; onChoose: (sequence: number | null) => void }) {
  const [found, setFound] = useState<AgentrtEvent[] | null>(null);
  const last = shown.view.asOf;
  useEffect(() => {
    const abort = new AbortController();
    void (async () => {
      const all: AgentrtEvent[] = [];
      let after = 0;
      for (;;) {
        const page = await client.value!.call("list_events",
          { sessionId: shown.log.sessionId, after, limit: 1_000, types }, { signal: abort.signal });
        all.push(...page.data.filter((fact) => fact.sequence <= last));
        const next = Number(page.nextCursor ?? page.data[page.data.length - 1]?.sequence ?? 0);
        if (!page.nextCursor || next <= after || all.length >= filteredMax) break;
        after = next;
      }
      setFound(all.slice(-filteredMax));
    })().catch(() => { if (!abort.signal.aborted) setFound([]); });
    return () => abort.abort();
  }, [types.join(), last]);
  if (found?.length === 0) return <Empty title="No fact of this type">
    The filter takes whole types, such as turn.completed, separated by commas.</Empty>;
  return <div class="log" role="grid" data-testid="log" aria-label="Facts"
    aria-rowcount={found?.length ?? 0} tabIndex={0}>
    <div class="log-space" role="rowgroup"
      style={{ height: `${(found?.length ?? 0) * rowHeight}px` }}>
      {found?.slice(-1_000).map((fact, at) => <Row key={fact.sequence} e={fact} top={at * rowHeight}
        sequence={fact.sequence} chosen={fact.sequence === chosen}
        onChoose={() => onChoose(fact.sequence)} />)}
    </div>
  </div>;
}

export function Log({ shown }: { shown: Shown }) {
  const [jump, setJump] = useState<number | null>(null);
  const [filter, setFilter] = useState("");
  const [chosen, setChosen] = useState<number | null>(null);
  const [problem, setProblem] = useState("");
  const goTo = (wanted: number) => {
    const sequence = Math.min(wanted, shown.view.asOf);
    setProblem("");
    setJump(null);
    requestAnimationFrame(() => setJump(sequence));
    setChosen(sequence);
  };
  // A sequence, or the id of an object: the fact that created it.
  const find = (text: string) => {
    if (/^\d+$/.test(text)) return Number(text) > 0 && goTo(Number(text));
    if (!text) return undefined;
    return client.value!.call("find_object", { id: text, sessionId: shown.log.sessionId })
      .then((found) => {
        if (found.sequence <= shown.view.asOf) goTo(found.sequence);
        else setProblem(`${oneLine(text, 40)} did not exist yet.`);
      }, (error: Error) => setProblem(error.message));
  };
  const types = filter.split(/[\s,]+/).filter((each) => /^[a-z_]+(\.[a-z_]+)+$/.test(each));
  return <div class="log-view">
    <div class="log-tools">
      <label>Jump to <input type="text" data-testid="log-jump" placeholder="fact or id"
        spellcheck={false} onKeyDown={(event) => {
          if (event.key === "Enter") void find(event.currentTarget.value.trim());
        }} /></label>
      <label>Only types <input type="text" data-testid="log-filter" data-primary-input
        placeholder="turn.completed" value={filter} spellcheck={false}
        onInput={(event) => setFilter(event.currentTarget.value.toLowerCase())} /></label>
      {problem && <span class="error-text" role="alert">{problem}</span>}
      {shown.view.unknown.size > 0 && <span class="muted">
        Types that this page does not know: {[...shown.view.unknown.keys()].join(", ")}</span>}
    </div>
    <div class={`log-split ${chosen === null ? "" : "log-open"}`}>
      {types.length > 0
        ? <Filtered shown={shown} types={types} chosen={chosen} onChoose={setChosen} />
        : <Grid shown={shown} jump={jump} chosen={chosen} onChoose={setChosen} />}
      {chosen !== null && <Raw sessionId={shown.log.sessionId} sequence={chosen}
        onClose={() => setChosen(null)} />}
    </div>
  </div>;
}
