// How values are written: times, durations, sizes, counts.
import { signal } from "@preact/signals";

// The present, updated often enough for relative times.
export const now = signal(Date.now());
setInterval(() => { now.value = Date.now(); }, 5_000);

function distance(seconds: number): string {
  return seconds < 60 ? `${Math.floor(seconds)} s`
    : seconds < 3_600 ? `${Math.floor(seconds / 60)} min`
    : seconds < 86_400 ? `${Math.floor(seconds / 3_600)} h`
    : `${Math.floor(seconds / 86_400)} d`;
}

// A moment of the past. The clock of the daemon may be a little ahead of that of the browser.
export function relative(at: string, present = now.value): string {
  const seconds = (present - Date.parse(at)) / 1_000;
  if (!Number.isFinite(seconds)) return "unknown";
  if (seconds < 10) return "just now";
  return seconds < 30 * 86_400 ? `${distance(seconds)} ago` : at.slice(0, 10);
}

// A deadline.
export function until(at: string, present = now.value): string {
  const seconds = (Date.parse(at) - present) / 1_000;
  if (!Number.isFinite(seconds)) return "at an unknown time";
  return seconds <= 0 ? "now" : `in ${distance(seconds)}`;
}

export function exact(at: string): string {
  return `${at.replace("T", " ").replace("Z", "")} UTC`;
}

export function clock(at: string): string {
  return at.slice(11, 23);
}

export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1_000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(count: number): string {
  if (count < 1_024) return `${count} B`;
  if (count < 1_048_576) return `${(count / 1_024).toFixed(1)} KiB`;
  if (count < 1_073_741_824) return `${(count / 1_048_576).toFixed(1)} MiB`;
  return `${(count / 1_073_741_824).toFixed(1)} GiB`;
}

export function count(number: number): string {
  return number.toLocaleString("en-US");
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// Controls, and marks that change the direction of text.
const hidden = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u200e\\u200f" +
  "\\u202a-\\u202e\\u2066-\\u2069]", "g");
// Control sequences of terminals: CSI, OSC and the short ones.
const sequences = new RegExp("\\u001b(?:\\[[0-9;?]*[ -/]*[@-~]|" +
  "\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)|[@-Z\\\\-_])", "g");

// Makes characters visible that would hide or reorder text.
export function safeText(text: string): string {
  return text.replace(hidden,
    (found) => `\u27e8${found.codePointAt(0)!.toString(16).padStart(4, "0")}\u27e9`);
}

// A plain view of a terminal's output.
export function withoutAnsi(text: string): string {
  return text.replace(sequences, "").replace(/\r\n/g, "\n");
}

export function oneLine(text: string, max = 160): string {
  const line = safeText(text.replace(/\s+/g, " ").trim());
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

const lineMax = 2_000;

// Very long lines are shortened: a browser takes seconds to lay them out.
export function clipLines(text: string): string {
  if (text.length <= lineMax) return safeText(text);
  return safeText(text.split("\n").map((line) => (line.length <= lineMax ? line
    : `${line.slice(0, lineMax)}… (${count(line.length - lineMax)} more characters)`)).join("\n"));
}

// Whether decoded bytes are hardly text: they have a NUL, or many that are no UTF-8.
export function looksBinary(text: string): boolean {
  const start = text.slice(0, 8_192);
  return start.includes("\u0000") || start.split("\ufffd").length - 1 > start.length / 20 + 1;
}
