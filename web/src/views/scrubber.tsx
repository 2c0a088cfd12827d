// Time travel: a slider over the facts of a session, with marks, steps and play.
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionLog } from "../log/session_log";
import { go, sessionPath, type SessionView } from "../route";
import { exact } from "../text/format";

const playMs = 120;
const playSteps = 200;   // a whole session plays in about playMs * playSteps
const marksMax = 400;

export function Scrubber({ log, at, name }:
  { log: SessionLog; at: number | null; name: SessionView }) {
  const [playing, setPlaying] = useState(false);
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
  const drag = (event: PointerEvent) => {
    const box = track.current!.getBoundingClientRect();
    const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
    show(first + share * (last - first));
  };
  const keys: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1,
    PageDown: -100, PageUp: 100, Home: first - position, End: last - position };
  const share = (sequence: number) =>
    `${last > first ? ((sequence - first) / (last - first)) * 100 : 100}%`;
  const fact = log.facts[position - loaded];
  const when = fact ? exact(fact.timestamp) : "";
  const marks = log.view.marks.filter((mark) => mark.sequence >= first).slice(-marksMax);
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
        drag(event);
      }}
      onPointerMove={(event) => { if (event.buttons === 1) drag(event); }}>
      <div class="scrubber-line" />
      {marks.map((mark) => <span key={`${mark.sequence}:${mark.kind}`}
        class={`scrubber-mark mark-${mark.kind}`} style={{ left: share(mark.sequence) }}
        title={`${mark.kind}: ${mark.label}`} />)}
      <span class="scrubber-thumb" style={{ left: share(position) }} />
    </div>
    <span class="scrubber-when">{when.slice(0, 19)}</span>
  </div>;
}
