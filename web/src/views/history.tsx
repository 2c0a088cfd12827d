// A session at a glance: its turns, calls and questions as bars along the slider, by the facts that
// they span. One path per lane and tone, however many bars there are.
import { useMemo } from "preact/hooks";
import { subject } from "../log/fold_tools";
import type { Entry, View } from "../log/view";
import { oneLine } from "../text/format";
import { toneOf, type Tone } from "../ui/status";

interface Bar {
  from: number;
  to: number;
  tone: Tone;
  label: string;
}

interface Lane {
  name: "turns" | "calls" | "asks";
  top: number;
  bars: Bar[];
}

const width = 1_000;   // units of the drawing; it is stretched to the width of the slider
const height = 32;
const barHeight = 6;
const thinnest = 2;
const texts = new Set(["input", "agent_message", "reasoning", "compaction"]);

function callBar(entry: Entry, end: number): Bar {
  return { from: entry.sequence, to: entry.until ?? end, tone: toneOf(entry.status),
    label: `${entry.toolName ?? entry.kind} ${subject(entry.args)}` };
}

function lanesOf(view: View): Lane[] {
  const turns: Bar[] = [];
  const calls: Bar[] = [];
  const asks: Bar[] = [];
  for (const turn of view.turns.values()) {
    const prompt = turn.entries.find((entry) => entry.kind === "input")?.text ?? "turn";
    turns.push({ from: turn.firstSequence, to: turn.endedAt ? turn.lastSequence : view.asOf,
      tone: toneOf(turn.status) === "waiting" ? "unknown" : toneOf(turn.status), label: prompt });
    for (const entry of turn.entries)
      if (entry.kind === "approval") asks.push({ from: entry.sequence, to: entry.until ?? view.asOf,
        tone: "waiting",
        label: view.actions.get(entry.actionId ?? "")?.required.prompt ?? "a question" });
      else if (!texts.has(entry.kind)) calls.push(callBar(entry, view.asOf));
  }
  return [{ name: "turns", top: 2, bars: turns }, { name: "calls", top: 13, bars: calls },
    { name: "asks", top: 24, bars: asks }];
}

export function useLanes(view: View): Lane[] {
  return useMemo(() => lanesOf(view), [view, view.asOf]);
}

// What happened at a fact: the shortest bar that includes it.
export function labelAt(lanes: Lane[], sequence: number): string {
  let best: Bar | undefined;
  for (const lane of lanes)
    for (const bar of lane.bars)
      if (bar.from <= sequence && sequence <= bar.to &&
        (!best || bar.to - bar.from <= best.to - best.from)) best = bar;
  return best ? oneLine(best.label, 80) : "";
}

export function History({ lanes, last }: { lanes: Lane[]; last: number }) {
  const paths = useMemo(() => lanes.flatMap((lane) => {
    const byTone = new Map<Tone, string>();
    const scale = width / Math.max(1, last - 1);
    for (const bar of lane.bars) {
      const x = (bar.from - 1) * scale;
      const wide = Math.max(thinnest, (bar.to - bar.from) * scale - 1);
      byTone.set(bar.tone, `${byTone.get(bar.tone) ?? ""}M${x.toFixed(1)} ${lane.top}h${
        wide.toFixed(1)}v${barHeight}h-${wide.toFixed(1)}z`);
    }
    return [...byTone].map(([tone, path]) => ({ key: `${lane.name}:${tone}`, tone, path,
      lane: lane.name }));
  }), [lanes, last]);
  return <svg class="history" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none"
    aria-hidden="true">
    {paths.map(({ key, tone, path, lane }) =>
      <path key={key} class={`history-${lane} history-${tone}`} d={path} />)}
  </svg>;
}
