// One approval or question, safe against stray keystrokes and clicks.
//
// Buttons work from 500 ms after the card appeared or moved. Keys answer only the focused card. The
// digest that was shown is sent. Destructive calls, and commands that leave the sandbox, ask twice.
// The card leaves when the answer is in the log, not on the click.
import { useEffect, useRef, useState } from "preact/hooks";
import { AgentrtError, type ActionSnapshot, type AnswerScope } from "agentrt";
import { can, client } from "../auth";
import type { Action } from "../log/view";
import { sessionPath } from "../route";
import { oneLine, safeText, until } from "../text/format";
import { Link, ownScrolls, shortId, Time } from "../ui/parts";
import { ActionForm, formProblem } from "./action_form";
import { Chain } from "./chain";
import { Undo, What, Where } from "./action_facts";

const guardMs = 500;
const lookMs = 50;

// Where the element is. A person who scrolls moves the page on purpose; when the page scrolls by
// itself, it moves the card under the pointer.
function placeOf(element: HTMLElement | null): string {
  const box = element?.getBoundingClientRect();
  if (!box) return "";
  return [box.left, box.top + scrollY, box.height].map(Math.round).join(":") +
    `:${ownScrolls.peek()}`;
}

// Whether the element has stood still for guardMs: as of the last look, and right now.
function useSteady(ref: { current: HTMLElement | null }):
  { steady: boolean; still: () => boolean } {
  const [steady, setSteady] = useState(false);
  const seen = useRef({ place: "", since: performance.now() });
  useEffect(() => {
    const look = () => {
      const place = placeOf(ref.current);
      if (place !== seen.current.place) {
        seen.current = { place, since: performance.now() };
        setSteady(false);
      } else if (performance.now() - seen.current.since >= guardMs) {
        setSteady(true);
      }
    };
    const timer = setInterval(look, lookMs);
    return () => clearInterval(timer);
  }, []);
  return { steady, still: () => steady && placeOf(ref.current) === seen.current.place };
}

function yes(decision: string): boolean {
  return ["allow", "answer", "accept", "trust", "raise"].includes(decision);
}

const kinds: Record<string, string> = { permission: "Approval", input: "Question",
  elicitation: "Question of a server", trust: "Trust", quota: "Limit reached" };

function headline(action: Action): string {
  const asked = action.required;
  if (asked.outsideSandbox) return "Outside the sandbox";
  if (asked.destructive) return "Destructive";
  return kinds[asked.actionType] ?? asked.actionType;
}

// What list_actions says about an action. Rows that older versions wrote have no sequence or chain.
export function asAction(row: ActionSnapshot): Action {
  return { actionId: row.actionId, sessionId: row.sessionId, threadId: row.threadId,
    turnId: row.turnId, sequence: row.sequence ?? 0, at: row.requiredAt, required: row,
    ...(row.toolCallId ? { toolCallId: row.toolCallId } : {}),
    ...(row.subagentId ? { subagentId: row.subagentId } : {}),
    ...(row.chain ? { evaluated: { decision: "ask", decisionSource: "mode", chain: row.chain } }
      : {}) };
}

// The question without the folder, which the card names below.
export function question(action: Action): string {
  const { prompt, cwd, toolName } = action.required;
  const text = prompt ?? `May ${toolName ?? "it"} run?`;
  return oneLine(cwd ? text.replace(`, in ${cwd}?`, "?").replace(` in ${cwd}?`, "?") : text, 400);
}

// Why the agent wants to leave the sandbox, in its own words.
function justification(action: Action): string {
  const input = action.required.input as { justification?: unknown } | undefined;
  return typeof input?.justification === "string"
    ? `The agent says: ${oneLine(input.justification, 400)}` : "The agent gives no reason.";
}

function lostRace(error: AgentrtError): string {
  const who = error.details["answeredBy"] ?? error.details["decisionSource"];
  const how = error.details["decision"];
  return `Someone else answered first${how ? `: ${String(how)}` : ""}${
    who ? `, by ${String(who)}` : ""}.`;
}

function useAnswer(action: Action, onAnswered?: () => void) {
  const [sent, setSent] = useState("");
  const [problem, setProblem] = useState("");
  // One key per decision: sending again after a lost connection repeats it.
  const keys = useRef(new Map<string, string>());
  const answer = async (decision: string, scope: AnswerScope, rule: string, payload: unknown) => {
    const named = `${decision}:${scope}:${rule}:${JSON.stringify(payload ?? null)}`;
    if (!keys.current.has(named)) keys.current.set(named, crypto.randomUUID());
    setSent(decision);
    setProblem("");
    try {
      await client.value!.call("respond_action", { actionId: action.actionId, decision,
        ...(action.required.digest ? { digest: action.required.digest } : {}),
        ...(action.required.scopes?.length && decision !== "cancel" ? { scope } : {}),
        ...(rule && scope !== "once" ? { rule } : {}),
        ...(payload === undefined ? {} : { payload }) },
        { idempotencyKey: keys.current.get(named)! });
      onAnswered?.();
    } catch (error) {
      setSent("");
      const known = error instanceof AgentrtError ? error : null;
      setProblem(known?.code === "conflict" ? lostRace(known) : (error as Error).message);
      if (known?.code === "conflict" || known?.code === "expired") setSent(known.code);
    }
  };
  return { sent, problem, answer };
}

export function ApprovalCard({ action, link, onAnswered, past, asker }: {
  action: Action; link?: boolean; onAnswered?: () => void; past?: boolean; asker?: string;
}) {
  const asked = action.required;
  const ref = useRef<HTMLElement>(null);
  const { steady, still } = useSteady(ref);
  const { sent, problem, answer } = useAnswer(action, onAnswered);
  const [armed, setArmed] = useState("");      // the decision that waits for its second click
  const [armedAt, setArmedAt] = useState(0);
  const [scope, setScope] = useState<AnswerScope>("once");
  const [rule, setRule] = useState("");
  const [payload, setPayload] = useState<Record<string, unknown>>({});
  const serious = Boolean(asked.destructive || asked.outsideSandbox);
  const needsForm = asked.schema !== undefined && asked.actionType !== "permission";
  const blocked = past ? "This is the past: nothing can be answered here."
    : !can("approve") ? "Answering needs a token with scope approve." : "";
  const decide = (decision: string) => {
    if (!still() || sent || blocked) return;
    if (yes(decision) && needsForm && formProblem(asked.schema, payload)) return;
    if (yes(decision) && serious && armed !== decision) {
      setArmed(decision);
      setArmedAt(performance.now());
      return;
    }
    if (armed === decision && performance.now() - armedAt < guardMs) return;
    void answer(decision, scope, rule || (asked.rules?.[0] ?? ""),
      yes(decision) && needsForm ? payload : undefined);
  };
  const press = (event: KeyboardEvent) => {
    if (event.target !== ref.current || event.repeat || event.ctrlKey || event.metaKey) return;
    if (event.key === "a" && asked.decisions?.includes("allow")) decide("allow");
    if (event.key === "d" && asked.decisions?.includes("deny")) decide("deny");
    if (event.key === "Escape") setArmed("");
  };
  const decisions = asked.decisions ?? ["allow", "deny"];
  return <article ref={ref} tabIndex={0}
    class={`card approval ${serious ? "approval-serious" : ""}`}
    data-testid="approval" data-action-id={action.actionId} onKeyDown={press} data-row
    aria-label={`${headline(action)}: ${asked.prompt ?? asked.toolName ?? ""}`}>
    <header class="approval-head">
      <span class={`tag ${serious ? "tag-failed" : "tag-waiting"}`}>{headline(action)}</span>
      <h2>{question(action)}</h2>
      <span class="approval-time"><Time at={action.at} />
        {asked.expiresAt && <> · expires {until(asked.expiresAt)}</>}</span>
    </header>
    {asked.outsideSandbox && <div class="warning"><p>No sandbox confines this command. It runs
      as {safeText(asked.user ?? "the user of the runtime")} and can read and change every file of
      that user.</p><p class="justification">{justification(action)}</p></div>}
    <What action={action} />
    <dl class="facts">
      <Where action={action} {...(asker ? { asker } : {})} />
      <div data-testid="approval-why"><dt>Why</dt>
        <dd>{action.evaluated?.chain?.length ? <Chain verdicts={action.evaluated.chain} />
          : safeText(asked.reason ?? "The log gives no reason.")}</dd></div>
      <Undo action={action} />
      {asked.scopes && asked.scopes.length > 1 && <div><dt id={`for-${action.actionId}`}>For</dt>
        <dd><Scopes scopes={asked.scopes} scope={scope} rules={asked.rules ?? []} rule={rule}
          onScope={setScope} onRule={setRule} group={action.actionId}
          disabled={Boolean(sent || blocked)} /></dd></div>}
    </dl>
    {needsForm && <ActionForm schema={asked.schema} value={payload} onChange={setPayload}
      disabled={Boolean(sent || blocked)} />}
    <footer class="approval-foot">
      {decisions.map((decision) => <button key={decision} type="button"
        class={`button ${yes(decision) ? (serious ? "button-danger" : "button-main") : ""}`}
        data-testid={yes(decision) ? "approval-allow" : "approval-deny"} data-decision={decision}
        disabled={!steady || Boolean(sent || blocked) ||
          (yes(decision) && needsForm && formProblem(asked.schema, payload) !== "")}
        title={blocked || (steady ? "" : "Buttons work half a second after the card appears.")}
        onClick={() => decide(decision)}>
        {armed === decision ? "Confirm: " : ""}{oneLine(decision, 40)}</button>)}
      {armed && !sent && <button type="button" class="button" onClick={() => setArmed("")}>
        Not yet</button>}
      <span class="approval-note" role="status">
        {sent && !problem
          ? `Sent: ${oneLine(sent, 40)}. The card leaves when the log has it.` : problem}
        {armed && !sent && "This asks twice. Read it once more, then confirm."}
        {!sent && !armed && blocked}
      </span>
      {link && <Link to={sessionPath(action.sessionId)} class="approval-link">
        Open {shortId(action.sessionId)}</Link>}
    </footer>
  </article>;
}

const scopeWords: Record<string, string> = { once: "this once", session: "this session",
  always: "always, in this folder", channel: "this channel" };

function Scopes({ scopes, scope, rules, rule, group, onScope, onRule, disabled }: {
  scopes: string[]; scope: string; rules: string[]; rule: string; group: string;
  disabled: boolean;
  onScope: (scope: AnswerScope) => void; onRule: (rule: string) => void;
}) {
  return <fieldset class="scopes" disabled={disabled} aria-labelledby={`for-${group}`}>
    {scopes.map((each) => <label key={each}><input type="radio" name={`scope-${group}`}
      checked={scope === each} onChange={() => onScope(each as AnswerScope)} />
      {scopeWords[each] ?? oneLine(each, 40)}</label>)}
    {scope !== "once" && rules.length > 0 && <label class="rule">as the rule{" "}
      <select value={rule || rules[0]!} onChange={(event) => onRule(event.currentTarget.value)}>
        {rules.map((each) => <option key={each} value={each}>{oneLine(each, 100)}</option>)}
      </select></label>}
  </fieldset>;
}
