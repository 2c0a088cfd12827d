// The fold of channels: the peers that are attached to the session.
import type { AgentrtEvent, Failure } from "agentrt";
import type { Channel, View } from "./view";

const notesMax = 20;

// Why a channel cannot be resumed any more.
const finalReasons = new Set(["closed", "expired", "token_revoked"]);

function channel(view: View, e: AgentrtEvent): Channel {
  const channelId = e.channelId ?? "";
  let found = view.channels.get(channelId);
  if (!found) {
    found = { channelId, status: "unknown", peerRole: "unknown", transport: "unknown",
      capabilities: [], connectedAt: e.timestamp, updatedAt: e.timestamp, pending: new Set(),
      peerTasks: new Map(), notes: [] };
    view.channels.set(channelId, found);
  }
  found.updatedAt = e.timestamp;
  return found;
}

function note(its: Channel, e: AgentrtEvent, text: string): void {
  its.notes.push({ sequence: e.sequence, at: e.timestamp, text });
  if (its.notes.length > notesMax) its.notes.shift();
}

function foldPeerTask(its: Channel, e: AgentrtEvent): void {
  const taskId = e.taskId ?? "";
  const payload = e.payload as { remoteTaskId?: string; nativeProtocol?: string;
    remoteStatus?: string; recovery?: string; error?: Failure };
  const known = its.peerTasks.get(taskId) ?? { taskId, remoteTaskId: "unknown" };
  if (payload.remoteTaskId) known.remoteTaskId = payload.remoteTaskId;
  if (payload.nativeProtocol) known.protocol = payload.nativeProtocol;
  if (payload.remoteStatus) known.remoteStatus = payload.remoteStatus;
  if (payload.recovery) known.recovery = payload.recovery;
  else delete known.recovery;
  if (payload.error) known.error = payload.error;
  else delete known.error;
  its.peerTasks.set(taskId, known);
}

export function foldChannels(view: View, e: AgentrtEvent): boolean {
  switch (e.type) {
    case "channel.connected": {
      const its = channel(view, e);
      its.status = "connected";
      its.transport = e.payload.transport;
      its.peerRole = e.payload.peerRole;
      if (e.payload.nativeProtocol) its.protocol = e.payload.nativeProtocol;
      if (e.payload.accountRef) its.account = e.payload.accountRef;
      if (Array.isArray(e.payload.capabilities))
        its.capabilities = e.payload.capabilities.map(String);
      its.connectedAt = e.timestamp;
      return true;
    }
    case "channel.disconnected": {
      const its = channel(view, e);
      its.status = finalReasons.has(e.payload.reason ?? "") ? "closed" : "disconnected";
      if (e.payload.reason) its.reason = e.payload.reason;
      return true;
    }
    case "channel.resumed": {
      const its = channel(view, e);
      its.status = "connected";
      delete its.reason;
      if (e.payload.transport) its.transport = e.payload.transport;
      const { gap } = e.payload;
      if (gap)
        note(its, e, `facts ${gap.fromSequence} to ${gap.toSequence} were not delivered: ${
          gap.reason}`);
      return true;
    }
    case "channel.message":
      note(channel(view, e), e, `${e.payload.direction ?? "in"} · ${e.payload.kind ?? "message"}: ${
        e.payload.preview ?? e.payload.text ?? ""}`);
      return true;
    case "channel.permission_forwarded":
      channel(view, e).pending.add(e.actionId ?? "");
      return true;
    case "channel.permission_returned":
      channel(view, e).pending.delete(e.actionId ?? "");
      return true;
    case "channel.peer_task.linked":
    case "channel.peer_task.updated":
      foldPeerTask(channel(view, e), e);
      return true;
    default:
      return false;
  }
}
