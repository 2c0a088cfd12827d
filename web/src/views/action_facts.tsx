// The parts of an approval card: what would happen, where, and how it could be undone.
import type { Action } from "../log/view";
import { safeText } from "../text/format";
import { Diff } from "../text/diff";
import { Copy, shortId } from "../ui/parts";

// The diff of an edit, from its old and new text.
function editDiff(input: Record<string, unknown>): string | null {
  const before = input["oldText"] ?? input["old_text"];
  const after = input["newText"] ?? input["new_text"];
  if (typeof before !== "string" || typeof after !== "string") return null;
  const removed = before.split("\n");
  const added = after.split("\n");
  return [`@@ -1,${removed.length} +1,${added.length} @@`, ...removed.map((line) => `-${line}`),
    ...added.map((line) => `+${line}`)].join("\n");
}

export function What({ action }: { action: Action }) {
  const asked = action.required;
  const input = (typeof asked.input === "object" && asked.input !== null ? asked.input : {}) as
    Record<string, unknown>;
  const command = typeof input["command"] === "string" ? input["command"] : null;
  const diff = editDiff(input);
  const rest = Object.entries(input).filter(([name]) => name !== "command" &&
    !(asked.outsideSandbox && /^(justification|outsideSandbox)$/.test(name)) &&
    !(diff && /^(oldText|newText|old_text|new_text)$/.test(name)));
  return <div class="what" data-testid="approval-what">
    {command !== null && <pre class="code code-command" tabIndex={0}>{safeText(command)}</pre>}
    {diff && <Diff diff={diff} />}
    {rest.length > 0 && <dl class="input">{rest.map(([name, value]) =>
      <div key={name}><dt>{safeText(name)}</dt><dd><pre>{safeText(
        typeof value === "string" ? value : JSON.stringify(value, null, 2))}</pre></dd></div>)}
    </dl>}
    {asked.url && <p>Open this page: <code>{safeText(asked.url)}</code></p>}
    {asked.files && <ul class="files">{asked.files.map((file) =>
      <li key={file.path}><code>{safeText(file.path)}</code> <Copy text={file.digest}
        label={file.digest.slice(0, 19)} />
      {file.effects?.map((effect) => <div key={effect} class="effect">{safeText(effect)}</div>)}
      </li>)}</ul>}
  </div>;
}

export function Where({ action, asker }: { action: Action; asker?: string }) {
  const asked = action.required;
  return <div data-testid="approval-where"><dt>Where</dt><dd>
    <div>{asked.cwd ? <code>{safeText(asked.cwd)}</code> : "folder unknown"}</div>
    <div>session <b>{shortId(action.sessionId)}</b>
      {asker && <>, asked by <b>{safeText(asker)}</b></>}
      {", sandbox "}<b>{asked.outsideSandbox ? "none" : asked.sandbox ?? "unknown"}</b>
      {asked.network !== undefined && <>, {asked.network ? "with" : "without"} network</>}
      {asked.server && <>, asked by the server <b>{safeText(asked.server)}</b></>}</div>
    {asked.subcommands && asked.subcommands.length > 1 && <ul class="subcommands">
      {asked.subcommands.map((each, at) => <li key={at}><code>{safeText(each)}</code></li>)}</ul>}
    {asked.executes?.map((file) => <div key={file.path}>executes <code>{safeText(file.path)}</code>
      {file.digest && <> <Copy text={file.digest} label={file.digest.slice(0, 19)} /></>}</div>)}
    {asked.executesUnknown && <div>executes files that are unknown: {safeText(
      asked.executesUnknown)}</div>}
  </dd></div>;
}

export function Undo({ action }: { action: Action }) {
  const { impact, rollback } = action.required;
  return <div data-testid="approval-undo"><dt>Undo</dt>
    <dd>{impact && <span class="impact">{safeText(impact)} </span>}
      {rollback ? safeText(rollback) : "No way to undo it is known."}</dd></div>;
}
