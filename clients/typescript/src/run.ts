// Running one turn to its end.
import type { Agentrt } from "./client.js";
import { AgentrtError } from "./errors.js";
import type { ActionSnapshot, AgentrtEvent, AnswerScope, Status, TurnOptions, Usage }
  from "./types.js";

// An answer to an action: one of its `decisions`, and where it applies.
export interface Answer {
  decision: string;
  payload?: unknown;
  scope?: AnswerScope;
  rule?: string;
  reason?: string;
}

export interface RunOptions {
  sessionId?: string;
  threadId?: string;
  options?: TurnOptions;
  signal?: AbortSignal;
  // Answers approvals and questions. Without it the turn is not interactive: a call that needs an
  // approval is denied, and the turn never waits.
  onAction?: (action: ActionSnapshot) => Answer | Promise<Answer>;
  onEvent?: (event: AgentrtEvent) => void;
}

export interface RunResult {
  sessionId: string;
  turnId: string;
  status: Status;
  // The text of the last answer.
  text: string;
  usage: Usage;
}

async function answer(rt: Agentrt, actionId: string, sessionId: string,
                      onAction: NonNullable<RunOptions["onAction"]>): Promise<void> {
  let cursor: string | undefined;
  do {
    const page = await rt.call("list_actions", { sessionId, ...(cursor ? { cursor } : {}) });
    const action = page.data.find((each) => each.actionId === actionId) as
      ActionSnapshot | undefined;
    cursor = page.nextCursor;
    if (!action) continue;
    const given = await onAction(action);
    try {
      await rt.call("respond_action",
        { actionId, ...given, ...(action.digest ? { digest: action.digest } : {}) });
    } catch (error) {
      // Another client answered first, or the action expired: the turn continues all the same.
      if (!(error instanceof AgentrtError) ||
          (error.code !== "conflict" && error.code !== "expired")) throw error;
    }
    return;
  } while (cursor);
}

export async function run(rt: Agentrt, prompt: string, options: RunOptions): Promise<RunResult> {
  const { onAction, onEvent, signal } = options;
  const submitted = await rt.call("submit_turn", {
    input: [{ type: "text", text: prompt }],
    ...(options.sessionId ? { sessionId: options.sessionId } : {}),
    ...(options.threadId ? { threadId: options.threadId } : {}),
    options: { ...options.options, interactive: onAction !== undefined },
  }, signal ? { signal } : {});
  const { sessionId, turnId } = submitted;
  const result: RunResult =
    { sessionId, turnId, status: submitted.status, text: "", usage: usageOf() };
  let streamed = "";  // a text of more than 64 KiB is only in the deltas
  for await (const event of rt.events(sessionId,
    { after: submitted.sequence, ...(signal ? { signal } : {}) })) {
    if (event.turnId !== turnId) continue;
    onEvent?.(event);
    if (event.type === "model.requested") streamed = "";
    if (event.type === "model.delta") streamed += event.payload.text;
    if (event.type === "model.completed") {
      const { text, usage } = event.payload;
      result.text = text ?? streamed;
      result.usage.inputTokens += usage.inputTokens;
      result.usage.outputTokens += usage.outputTokens;
    } else if (event.type === "action.required" && onAction && event.actionId) {
      await answer(rt, event.actionId, sessionId, onAction);
    } else if (event.type === "turn.completed") {
      return { ...result, status: event.payload.status, usage: event.payload.usage };
    } else if (event.type === "turn.failed") {
      return { ...result, status: event.payload.status };
    }
  }
  throw signal?.reason ?? new AgentrtError("unavailable", "the stream of the session ended");
}

function usageOf(): Usage {
  return { inputTokens: 0, outputTokens: 0 };
}
