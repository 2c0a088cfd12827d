// The peers that are attached to the session: what each may do, received, and was asked.
import { useEffect, useState } from "preact/hooks";
import type { CommandReplies } from "agentrt";
import { client } from "../auth";
import { poll } from "../data";
import type { Channel, PeerTask } from "../log/view";
import { sessionPath } from "../route";
import { oneLine, plural } from "../text/format";
import { Button, Copy, Empty, Link, shortId, Time } from "../ui/parts";
import { Status } from "../ui/status";
import type { Shown } from "./session";

const pollMs = 2_000;
const listedMax = 200;
const closedMax = 50;

type Live = CommandReplies["list_channels"]["data"][number];

// Rows beside the log: acknowledgements, and channels whose runtime died. They know the present
// only.
function useLive(shown: Shown): Map<string, Live> {
  const rt = client.value!;
  const { sessionId } = shown.log;
  const [live, setLive] = useState(new Map<string, Live>());
  useEffect(() => (shown.past ? undefined : poll(pollMs, async (signal) => {
    const page = await rt.call("list_channels", { sessionId, limit: listedMax }, { signal });
    setLive(new Map(page.data.map((each) => [each.channelId, each])));
  }, { report: false })), [rt, sessionId, shown.past]);
  return live;
}

function Peer({ task, shown }: { task: PeerTask; shown: Shown }) {
  return <li class="channel-task">
    <Link to={sessionPath(shown.log.sessionId, "tasks",
      { at: shown.past ? shown.view.asOf : null })}>{shortId(task.taskId)}</Link>
    <span>{oneLine(task.protocol ?? "peer", 40)} task {oneLine(task.remoteTaskId, 60)}</span>
    <span>{oneLine(task.remoteStatus ?? "status unknown", 60)}</span>
    {task.recovery && <Status word={task.recovery} />}
    {task.error && <span class="error-text">{oneLine(task.error.message, 160)}</span>}
  </li>;
}

function Row({ channel, live, shown }: { channel: Channel; live: Live | undefined; shown: Shown }) {
  const [sure, setSure] = useState(false);
  const [problem, setProblem] = useState("");
  const status = live?.status ?? channel.status;
  const disconnect = () => {
    if (!sure) return setSure(true);
    setSure(false);
    client.value!.call("disconnect_channel",
      { channelId: channel.channelId, reason: "closed on the page" })
      .then(() => setProblem(""), (error: Error) => setProblem(error.message));
    return undefined;
  };
  const behind = live ? shown.view.asOf - live.acknowledgedSequence : 0;
  return <article class="node-card" data-testid="channel-row" data-status={status}>
    <div class="node-head"><Status word={status} />
      <span class="node-title">{oneLine(channel.peerRole, 40)}{" "}
        <span class="muted">over {oneLine(channel.transport, 40)}
          {channel.protocol ? ` · ${oneLine(channel.protocol, 40)}` : ""}</span></span>
      <Copy text={channel.channelId} label={shortId(channel.channelId)} /></div>
    <div class="node-meta">
      {channel.account && <span>account {oneLine(channel.account, 60)}</span>}
      <span>{channel.capabilities.length > 0 ? oneLine(channel.capabilities.join(", "), 120)
        : "no capabilities"}</span>
      {live && <span title="The last fact that the peer has confirmed">
        acknowledged {live.acknowledgedSequence}{behind > 0 ? `, ${behind} behind` : ""}</span>}
      {channel.pending.size > 0 && <span class="error-text">
        {plural(channel.pending.size, "open request")}</span>}
      {channel.reason && status !== "connected" && <span>{oneLine(channel.reason, 60)}</span>}
      <Time at={live?.lastSeenAt ?? channel.updatedAt} />
    </div>
    {channel.peerTasks.size > 0 && <ul class="channel-tasks">
      {[...channel.peerTasks.values()].map((task) =>
        <Peer key={task.taskId} task={task} shown={shown} />)}</ul>}
    {channel.notes.length > 0 && <ul class="channel-notes">{channel.notes.slice(-5).map((each) =>
      <li key={each.sequence} class="channel-task"><span>{oneLine(each.text, 200)}</span>
        <Time at={each.at} /></li>)}</ul>}
    {!shown.past && status !== "closed" && <div class="node-foot">
      <Button small danger={sure} scope="admin" onClick={disconnect}>
        {sure ? "Confirm: close this channel" : "Close"}</Button>
      {sure && <Button small onClick={() => setSure(false)}>Not yet</Button>}
      {problem && <span class="error-text" role="alert">{problem}</span>}
    </div>}
  </article>;
}

export function Channels({ shown }: { shown: Shown }) {
  const live = useLive(shown);
  const all = [...shown.view.channels.values()].reverse();
  const open = all.filter((each) => each.status !== "closed");
  const closed = all.filter((each) => each.status === "closed");
  const rows = (list: Channel[]) => <div class="cards">{list.map((each) =>
    <Row key={each.channelId} channel={each} live={live.get(each.channelId)} shown={shown} />)}
  </div>;
  return <div class="cards">
    {all.length === 0 && <Empty title="No channels" command={shown.past ? ""
      : `agentrt call connect_channel '{"sessionId":"${shown.log.sessionId}"}'`}>
      A channel appears here when an editor, another agent or a program of yours attaches to this
      session.</Empty>}
    {open.length > 0 && <h2 class="group">Attached <span class="count">{open.length}</span></h2>}
    {open.length > 0 && rows(open)}
    {closed.length > 0 && <h2 class="group">Closed <span class="count">{closed.length}</span></h2>}
    {closed.length > 0 && rows(closed.slice(0, closedMax))}
    {closed.length > closedMax && <p class="muted">The newest {closedMax} are shown; the log has
      all.</p>}
  </div>;
}
