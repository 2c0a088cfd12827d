// Small parts that all views share.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { can } from "../auth";
import { clock, exact, oneLine, relative } from "../text/format";
import { go } from "../route";

export function Link({ to, children, ...more }:
  { to: string; children: ComponentChildren } & Record<string, unknown>) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return <a href={`#${to}`} onClick={follow} {...more}>{children}</a>;
}

export function Logo() {
  return <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
    <path d="M3 3.5h10M3 8h10M3 12.5h5" /></svg>;
}

export function Time({ at }: { at: string }) {
  return <time dateTime={at} title={exact(at)}>{relative(at)}</time>;
}

// How often the page has scrolled without being asked to.
export const ownScrolls = signal(0);

export function scrollToEnd(): void {
  const before = scrollY;
  scrollTo({ top: document.documentElement.scrollHeight });
  if (scrollY !== before) ownScrolls.value += 1;
}

// A text that is copied by a click.
export function Copy({ text, label, class: extra = "" }:
  { text: string; label?: string; class?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return <button type="button" class={`copy ${extra}`} onClick={copy}
    title={copied ? "Copied" : `Copy ${text}`}>
    <span class="copy-text">{label ?? text}</span>
    <span class="copy-mark" aria-live="polite">{copied ? "copied" : ""}</span>
  </button>;
}

export function shortId(id: string): string {
  const [kind, rest] = id.split("_", 2);
  return rest && rest.length > 16 ? `${kind}_…${rest.slice(-6)}` : oneLine(id, 40);
}

export function Empty({ title, children, command }:
  { title: string; children?: ComponentChildren; command?: string }) {
  return <div class="empty" data-testid="empty">
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {command && <Copy text={command} class="command" />}
  </div>;
}

// Nothing for 100 ms, then the outline of what will appear.
export function Skeleton({ rows = 6, tall = false }: { rows?: number; tall?: boolean }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 100);
    return () => clearTimeout(timer);
  }, []);
  return <div class={`skeleton ${shown ? "skeleton-shown" : ""}`} data-testid="skeleton"
    aria-busy="true" aria-label="Loading">
    {Array.from({ length: rows }, (_, row) =>
      <div key={row} class={`skeleton-row ${tall ? "skeleton-tall" : ""}`} />)}
  </div>;
}

export function Problem({ message, children }:
  { message: string; children?: ComponentChildren }) {
  return <div class="problem" role="alert"><strong>{message}</strong>{children}</div>;
}

// A button that says which scope it lacks, instead of failing.
export function Button({ scope, main, danger, small, disabled, title, children, ...more }: {
  scope?: string; main?: boolean; danger?: boolean; small?: boolean; disabled?: boolean;
  title?: string; children: ComponentChildren; onClick?: (event: MouseEvent) => void;
  type?: "button" | "submit"; "data-testid"?: string; autofocus?: boolean;
}) {
  const lacks = scope !== undefined && !can(scope);
  return <button type="button" disabled={disabled || lacks}
    title={lacks ? `This needs a token with scope ${scope}.` : title ?? ""}
    class={`button ${main ? "button-main" : ""} ${danger ? "button-danger" : ""} ${
      small ? "button-small" : ""}`} {...more}>{children}</button>;
}

// A section that unfolds.
export function Fold({ summary, open, children, testid }: {
  summary: ComponentChildren; open?: boolean; children: ComponentChildren; testid?: string;
}) {
  const [shown, setShown] = useState(open ?? false);
  const ref = useRef<HTMLDetailsElement>(null);
  return <details ref={ref} open={shown} class="fold" {...(testid ? { "data-testid": testid } : {})}
    onToggle={() => setShown(ref.current?.open ?? false)}>
    <summary>{summary}</summary>
    {shown && <div class="fold-body">{children}</div>}
  </details>;
}

// When a list over all sessions was read: it has no sequence of its own.
export function ReadAt({ at }: { at: number }) {
  const stamp = new Date(at).toISOString();
  return <span class="as-of read-at" data-testid="as-of" title={exact(stamp)}>
    as of {clock(stamp).slice(0, 8)}</span>;
}

export function AsOf({ sequence, past, from }:
  { sequence: number; past?: boolean; from?: number }) {
  return <span class="as-of" data-testid="as-of"
    title="The last fact of the log that this view includes.">
    {past ? "as of fact " : "fact "}<b>{sequence}</b>
    {from !== undefined && from > 1 && <> from {from}</>}
  </span>;
}
