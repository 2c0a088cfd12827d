// Time travel: a slider over the facts of a session, on the history that it moves through, with
// steps and play.
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionLog } from "../log/session_log";
import { go, sessionPath, type SessionView } from "../route";
import { exact } from "../text/format";
import { History, labelAt, useLanes } from "./history";

const playMs = 120;
const playSteps = 200;   // a whole session plays in about playMs * playSteps

export function Scrubber({ log, at, name }:
  { log: SessionLog; at: number | null; name: SessionView }) {
  const [playing, setPlaying] = useState(false);
  const [over, setOver] = useState<number | null>(null);  // the fact below the pointer
  const lanes = useLanes(log.view);
  const track = useRef<HTMLDivElement>(null);
  const last = log.view.asOf;
  const first = 1;   // older facts than those in memory are read when they are shown
  const loaded = log.facts[0]?.sequence ?? 1;
  const position = Math.min(at ?? last, last);
  const show = (sequence: number) => {
    const bounded = Math.min(Math.max(Math.round(sequence), first), last);
    go(sessionPath(log.sessionId, name, { at: bounded >= last ? null : bounded }),
      { replace: at !== null });
  };
  useEffect(() => {
    if (!playing) return undefined;
    const step = Math.max(1, Math.round((last - first) / playSteps));
    const timer = setTimeout(() => {
      if (position + step >= last) setPlaying(false);
      show(position + step);
    }, playMs);
    return () => clearTimeout(timer);
  }, [playing, position, last]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLElement &&
        /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
      if (event.key === "[") show(position - 1);
      if (event.key === "]") show(position + 1);
      if (event.key === "Escape" && at !== null && !document.querySelector("dialog[open]"))
        show(last);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  });
  const factAt = (event: PointerEvent) => {
    const box = track.current!.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    return Math.round(first + share * (last - first));
  };
  const keys: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
    PageDown: -100, PageUp: 100, Home: first - position, End: last - position };
  const share = (sequence: number) =>
    `${last > first ? ((sequence - first) / (last - first)) * 100 : 100}%`;
  const fact = log.facts[position - loaded];
  const when = fact ? exact(fact.timestamp) : "";
  const label = over === null ? "" : labelAt(lanes, over);
  return <div class={`scrubber ${at === null ? "" : "scrubber-past"}`}>
    <button type="button" class="plain" onClick={() => show(position - 1)}
      disabled={position <= first} aria-label="One fact back" title="One fact back ([)">‹</button>
    <button type="button" class="plain" aria-pressed={playing}
      aria-label={playing ? "Pause" : "Play"} title={playing ? "Pause" : "Play the session"}
      onClick={() => {
        if (!playing && at === null) show(first);
        setPlaying(!playing);
      }}>{playing ? "❚❚" : "▶"}</button>
    <button type="button" class="plain" onClick={() => show(position + 1)} disabled={at === null}
      aria-label="One fact forward" title="One fact forward (])">›</button>
    <div ref={track} class="scrubber-track" role="slider" tabIndex={0} data-testid="scrubber"
      aria-label="Moment in time" aria-valuemin={first} aria-valuemax={last}
      aria-valuenow={position} aria-valuetext={`fact ${position}, ${when}`}
      onKeyDown={(event) => {
        const step = keys[event.key];
        if (step === undefined) return;
        event.preventDefault();
        show(position + step);
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        show(factAt(event));
      }}
      onPointerMove={(event) => {
        setOver(factAt(event));
        if (event.buttons === 1) show(factAt(event));
      }}
      onPointerLeave={() => setOver(null)}>
      <History lanes={lanes} last={last} />
      <span class="scrubber-thumb" style={{ left: share(position) }} />
      {over !== null && <span class={`scrubber-tip ${over > (first + last) / 2 ? "tip-left" : ""}`}
        style={{ left: share(over) }}><b>{over}</b>{label && ` ${label}`}</span>}
    </div>
    <span class="scrubber-when">{when.slice(0, 19)}</span>
  </div>;
}
