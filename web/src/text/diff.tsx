// A unified diff with line numbers, folding of long parts, and changes within lines.
import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { plural, safeText } from "./format";

export interface DiffLine {
  kind: "hunk" | "same" | "added" | "removed" | "note";
  text: string;
  before?: number;
  after?: number;
}

const shownAtFirst = 200;

export function parseDiff(diff: string): DiffLine[] {
  const out: DiffLine[] = [];
  let before = 0;
  let after = 0;
  let inHunk = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      inHunk = true;
      out.push({ kind: "hunk", text: line });
    } else if (!inHunk) {
      continue;  // names of files
    } else if (line.startsWith("+")) {
      out.push({ kind: "added", text: line.slice(1), after: after++ });
    } else if (line.startsWith("-")) {
      out.push({ kind: "removed", text: line.slice(1), before: before++ });
    } else if (line.startsWith("\\")) {
      out.push({ kind: "note", text: line.slice(2) });
    } else {
      out.push({ kind: "same", text: line.slice(1), before: before++, after: after++ });
    }
  }
  return out;
}

// The common start and end of two lines; what is between them changed.
function edges(a: string, b: string): [number, number] {
  const most = Math.min(a.length, b.length);
  let start = 0;
  while (start < most && a[start] === b[start]) ++start;
  let end = 0;
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) ++end;
  return [start, end];
}

function marked(line: string, other: string | undefined): ComponentChildren {
  if (other === undefined) return safeText(line);
  const [start, end] = edges(line, other);
  if (start + end === 0) return safeText(line);
  return <>{safeText(line.slice(0, start))}
    <mark>{safeText(line.slice(start, line.length - end))}</mark>
    {safeText(line.slice(line.length - end))}</>;
}

// Pairs removed lines with the added lines that follow them, to show changes within lines.
function partners(lines: DiffLine[]): Map<number, string> {
  const out = new Map<number, string>();
  for (let at = 0; at < lines.length; ++at) {
    if (lines[at]!.kind !== "removed") continue;
    let removed = at;
    while (lines[removed]?.kind === "removed") ++removed;
    let added = removed;
    while (lines[added]?.kind === "added") ++added;
    if (removed - at === added - removed)
      for (let i = 0; i < removed - at; ++i) {
        out.set(at + i, lines[removed + i]!.text);
        out.set(removed + i, lines[at + i]!.text);
      }
    at = added - 1;
  }
  return out;
}

const signs = { added: "+", removed: "-", same: " ", hunk: " ", note: " " };

export function Diff({ diff }: { diff: string }) {
  const lines = useMemo(() => parseDiff(diff), [diff]);
  const [all, setAll] = useState(lines.length <= shownAtFirst);
  return useMemo(() => rows(lines, all, () => setAll(true)), [lines, all]);
}

function rows(lines: DiffLine[], all: boolean, showAll: () => void) {
  const pairs = partners(lines);
  const shown = all ? lines : lines.slice(0, shownAtFirst);
  return <div class="diff" tabIndex={0}>
    <table><tbody>
      {shown.map((line, at) => <tr key={at} class={`diff-${line.kind}`}>
        <td class="diff-number">{line.before ?? ""}</td>
        <td class="diff-number">{line.after ?? ""}</td>
        <td class="diff-sign">{signs[line.kind]}</td>
        <td class="diff-text">{line.kind === "hunk" || line.kind === "note" ? safeText(line.text)
          : marked(line.text, pairs.get(at))}</td>
      </tr>)}
    </tbody></table>
    {!all && <button type="button" class="more" onClick={showAll}>
      Show {plural(lines.length - shownAtFirst, "more line")}
    </button>}
  </div>;
}
