// Markdown as nodes. No text ever becomes HTML: the parser makes elements of its own, links are
// http(s) or mailto, and images are shown as links.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { safeText } from "./format";

const linkSchemes = /^(https?:\/\/|mailto:)/i;
const linesMax = 5_000;

type Block =
  | { kind: "code"; language: string; text: string }
  | { kind: "heading"; level: number; text: string }
  | { kind: "list"; ordered: boolean; items: string[] }
  | { kind: "quote"; text: string }
  | { kind: "table"; head: string[]; rows: string[][] }
  | { kind: "rule" }
  | { kind: "paragraph"; text: string };

const bullet = /^\s{0,3}(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

function cells(line: string): string[] {
  return line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map((cell) => cell.trim());
}

function isTable(lines: string[], at: number): boolean {
  return /\|/.test(lines[at] ?? "") && /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/
    .test(lines[at + 1] ?? "") && /\|/.test(lines[at + 1] ?? "");
}

export function blocks(text: string): Block[] {
  const lines = text.split("\n").slice(0, linesMax);
  const out: Block[] = [];
  let at = 0;
  const take = (test: (line: string) => boolean): string[] => {
    const found: string[] = [];
    while (at < lines.length && test(lines[at]!)) found.push(lines[at++]!);
    return found;
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const fence = /^\s{0,3}(```+|~~~+)\s*([\w+-]*)/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (line.trim() === "") {
      ++at;
    } else if (fence) {
      ++at;
      const body = take((each) => !each.trim().startsWith(fence[1]!));
      ++at;
      out.push({ kind: "code", language: fence[2] ?? "", text: body.join("\n") });
    } else if (heading) {
      ++at;
      out.push({ kind: "heading", level: heading[1]!.length, text: heading[2]! });
    } else if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) {
      ++at;
      out.push({ kind: "rule" });
    } else if (line.startsWith(">")) {
      const body = take((each) => each.startsWith(">"));
      out.push({ kind: "quote", text: body.map((each) => each.replace(/^>\s?/, "")).join("\n") });
    } else if (isTable(lines, at)) {
      const head = cells(line);
      at += 2;
      const rows = take((each) => each.includes("|") && each.trim() !== "").map(cells);
      out.push({ kind: "table", head, rows });
    } else if (bullet.test(line)) {
      const ordered = bullet.exec(line)![1] !== undefined;
      const items: string[] = [];
      while (at < lines.length && lines[at]!.trim() !== "") {
        const next = bullet.exec(lines[at]!);
        if (next) items.push(next[2]!);
        else items[items.length - 1] += `\n${lines[at]!.trim()}`;
        ++at;
      }
      out.push({ kind: "list", ordered, items });
    } else {
      const body = take((each) => each.trim() !== "" && !bullet.test(each) &&
        !/^\s{0,3}(```|~~~|#{1,6}\s|>)/.test(each));
      if (body.length === 0) body.push(lines[at++]!);
      out.push({ kind: "paragraph", text: body.join("\n") });
    }
  }
  return out;
}

// Code, a link or image, strong, emphasis, or a bare address.
const inlinePattern = new RegExp(["(`+)([^`]|[^`][\\s\\S]*?[^`])\\1(?!`)",
  "!?\\[([^\\]]*)\\]\\(([^()\\s]+)\\)", "\\*\\*([^*]+)\\*\\*", "\\*([^*\\s][^*]*)\\*",
  "(https?:\\/\\/[^\\s<>()\"']+[^\\s<>()\"'.,;:!?])"].join("|"), "g");

export function inline(text: string): ComponentChildren[] {
  const out: ComponentChildren[] = [];
  let last = 0;
  for (const found of text.matchAll(inlinePattern)) {
    if (found.index > last) out.push(safeText(text.slice(last, found.index)));
    last = found.index + found[0].length;
    const [whole, , code, label, target, strong, emphasis, bare] = found;
    if (code !== undefined) out.push(<code>{safeText(code)}</code>);
    else if (target !== undefined) out.push(link(target, label || target, whole));
    else if (strong !== undefined) out.push(<strong>{inline(strong)}</strong>);
    else if (emphasis !== undefined) out.push(<em>{inline(emphasis)}</em>);
    else if (bare !== undefined) out.push(link(bare, bare, whole));
  }
  if (last < text.length) out.push(safeText(text.slice(last)));
  return out;
}

function link(target: string, label: string, source: string): ComponentChildren {
  if (!linkSchemes.test(target)) return safeText(source);
  return <a href={target} target="_blank" rel="noopener noreferrer nofollow">{safeText(label)}</a>;
}

function render(block: Block): ComponentChildren {
  switch (block.kind) {
    case "code":
      return <pre class="code" tabIndex={0}><code>{safeText(block.text)}</code></pre>;
    case "heading":
      return <p class={`heading heading-${Math.min(block.level, 3)}`}>{inline(block.text)}</p>;
    case "rule":
      return <hr />;
    case "quote":
      return <blockquote><Markdown text={block.text} /></blockquote>;
    case "list": {
      const items = block.items.map((item, at) => <li key={at}>{inline(item)}</li>);
      return block.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return <div class="table-scroll" tabIndex={0}><table>
        <thead><tr>{block.head.map((cell, at) => <th key={at}>{inline(cell)}</th>)}</tr></thead>
        <tbody>{block.rows.map((row, at) =>
          <tr key={at}>{row.map((cell, of) => <td key={of}>{inline(cell)}</td>)}</tr>)}</tbody>
      </table></div>;
    default:
      return <p>{inline(block.text)}</p>;
  }
}

// Parsed once per text: a timeline is drawn again whenever one of its entries changes.
export function Markdown({ text }: { text: string }) {
  return useMemo(() => <div class="prose">
    {blocks(text).map((block, at) => <div key={at}>{render(block)}</div>)}
  </div>, [text]);
}
