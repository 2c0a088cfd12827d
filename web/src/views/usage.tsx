// Tokens by turn, model and day, as bars and as a table. The log has no prices yet for these turns,
// so a cost is "unknown", never 0.
import { useState } from "preact/hooks";
import type { Spending } from "../log/view";
import { count, oneLine, plural } from "../text/format";
import { Empty } from "../ui/parts";
import type { Shown } from "./session";

type By = "turn" | "model" | "day";

interface Sum { name: string; input: number; output: number; cached: number; requests: number }

function sums(spending: Spending[], keyOf: (each: Spending) => string): Sum[] {
  const out = new Map<string, Sum>();
  for (const each of spending) {
    const name = keyOf(each);
    const sum = out.get(name) ?? { name, input: 0, output: 0, cached: 0, requests: 0 };
    sum.input += each.usage.inputTokens;
    sum.output += each.usage.outputTokens;
    sum.cached += each.usage.cachedTokens ?? 0;
    sum.requests += 1;
    out.set(name, sum);
  }
  return [...out.values()];
}

export function Usage({ shown }: { shown: Shown }) {
  const [by, setBy] = useState<By>("turn");
  const { view } = shown;
  const prompt = (turnId: string) => oneLine(view.turns.get(turnId)?.entries.find((entry) =>
    entry.kind === "input")?.text ?? turnId, 80);
  const keys: Record<By, (each: Spending) => string> = {
    turn: (each) => each.turnId, model: (each) => `${each.provider} ${each.model}`,
    day: (each) => each.at.slice(0, 10) };
  const rows = sums(view.spending, keys[by]).map((row) =>
    ({ ...row, name: by === "turn" ? prompt(row.name) : row.name }));
  const most = Math.max(1, ...rows.map((row) => row.input + row.output));
  const total = { input: 0, output: 0, requests: 0 };
  for (const row of rows) {
    total.input += row.input;
    total.output += row.output;
    total.requests += row.requests;
  }
  if (rows.length === 0) return <Empty title="Nothing was spent" command={shown.past ? ""
    : `agentrt run --session ${shown.log.sessionId} "…"`}>
    Tokens appear here when a model has answered.</Empty>;
  return <div class="usage">
    <div class="totals">
      <div><b>{count(total.input)}</b><span>tokens in</span></div>
      <div><b>{count(total.output)}</b><span>tokens out</span></div>
      <div><b>{count(total.requests)}</b><span>{plural(total.requests, "request").split(" ")[1]}
      </span></div>
      <div><b>unknown</b><span>cost</span></div>
    </div>
    <fieldset class="segments"><legend class="visually-hidden">Sum by</legend>
      {(["turn", "model", "day"] as const).map((each) => <label key={each}><input type="radio"
        name="by" checked={by === each} onChange={() => setBy(each)} />by {each}</label>)}
    </fieldset>
    <div class="chart" data-testid="usage-chart" role="img"
      aria-label={`Tokens by ${by}; the table below has the numbers`}>
      {rows.map((row, at) => <div key={at} class="chart-row">
        <span class="chart-name" title={row.name}>{row.name}</span>
        <span class="chart-bars">
          <span class="chart-in" style={{ width: `${(row.input / most) * 100}%` }} />
          <span class="chart-out" style={{ width: `${(row.output / most) * 100}%` }} /></span>
      </div>)}
      <div class="chart-legend"><span class="chart-key chart-in" /> in{" "}
        <span class="chart-key chart-out" /> out</div>
    </div>
    <div class="table-scroll" tabIndex={0}><table class="numbers">
      <thead><tr><th>{by}</th><th>requests</th><th>in</th><th>cached</th><th>out</th><th>cost</th>
      </tr></thead>
      <tbody>{rows.map((row, at) => <tr key={at}><td>{row.name}</td><td>{count(row.requests)}</td>
        <td>{count(row.input)}</td><td>{count(row.cached)}</td><td>{count(row.output)}</td>
        <td>unknown</td></tr>)}</tbody>
    </table></div>
  </div>;
}
