// The chain of a permission decision: what every source said, and the line that decided.
import type { Verdict } from "agentrt";
import { safeText } from "../text/format";
import { Status } from "../ui/status";

export function Chain({ verdicts, decision }: { verdicts: Verdict[]; decision?: string }) {
  const last = verdicts.map((each) => each.verdict).lastIndexOf(
    (decision ?? verdicts[verdicts.length - 1]?.verdict ?? "") as Verdict["verdict"]);
  return <ol class="chain">{verdicts.map((each, at) =>
    <li key={at} data-testid="explain-step" class={at === last ? "chain-decides" : ""}>
      <Status word={each.verdict} quiet /> <b>{each.source}</b>
      {each.rule && <code>{safeText(each.rule)}</code>}
      {each.reason && <span>{safeText(each.reason)}</span>}
      {at === last && <span class="chain-mark">decides</span>}
    </li>)}</ol>;
}
