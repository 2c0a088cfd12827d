#include "kernel/channels/channel_reads.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/reads.h"
#include "state/index.h"

namespace agentrt::kernel {

using namespace schema;

Result<PeerTasks> peer_tasks_of(store::Store& store, const SessionId& session,
                                const ChannelId& channel, const Limits& limits) {
  PeerTasks out;
  store::IndexQuery rows{.kind = std::string(state::kPeerTaskKind), .session = session};
  rows.parent = channel.text();
  rows.limit = limits.model_entries_max;
  TRY_ASSIGN(const auto entries, store.list(rows));
  out.count = entries.size();
  if (entries.size() == rows.limit) {
    TRY_ASSIGN(out.count, store.count(rows));
  }
  for (const store::IndexEntry& entry : entries) {
    PeerTaskSnapshot task;
    TRY(from_json(entry.row.record, task, Unknown::ignore));
    out.newest.push_back(std::move(task));
  }
  return out;
}

Result<void> complete_channels(store::Store& store, std::vector<ChannelSnapshot>& channels,
                               const Limits& limits) {
  std::vector<ChannelId> ids;
  for (const ChannelSnapshot& channel : channels)
    if (channel.status != ChannelStatus::closed) ids.push_back(channel.channel_id);
  if (!ids.empty()) {
    TRY_ASSIGN(const auto cursors, store.cursors(ids));
    for (const ChannelCursor& cursor : cursors) {
      const auto at = std::ranges::find(channels, cursor.channel, &ChannelSnapshot::channel_id);
      if (cursor.generation != store.generation()) continue;
      at->acknowledged_sequence = std::max(at->acknowledged_sequence, cursor.acknowledged);
      at->last_seen_at = std::max(at->last_seen_at, cursor.seen_at);
    }
  }
  for (ChannelSnapshot& channel : channels) {
    TRY_ASSIGN(PeerTasks tasks,
               peer_tasks_of(store, channel.session_id, channel.channel_id, limits));
    channel.peer_tasks = std::move(tasks.newest);
    channel.peer_task_count = tasks.count;
  }
  return {};
}

Result<std::string> list_channels(store::Store& store, const ListChannels& query,
                                  const BootId& boot, const Limits& limits) {
  if (query.limit && *query.limit == 0)
    return fail(Code::invalid_params, "limit: expected 1 or more");
  store::IndexQuery rows{.kind = std::string(state::kChannelKind), .session = query.session_id};
  if (!query.include_closed.value_or(false)) rows.term = std::string(state::kOpenTerm);
  rows.limit =
      std::min<std::size_t>(query.limit.value_or(limits.page_turns_default), limits.page_max);
  if (query.cursor) TRY(read_row_cursor(store.generation(), *query.cursor, rows));
  TRY_ASSIGN(const auto entries, store.list(rows));
  std::vector<ChannelSnapshot> channels;
  for (const store::IndexEntry& entry : entries) {
    ChannelSnapshot channel;
    TRY(from_json(entry.row.record, channel, Unknown::ignore));
    if (channel.status == ChannelStatus::connected && channel.boot_id != boot)
      channel.status = ChannelStatus::stale;
    channels.push_back(std::move(channel));
  }
  TRY(complete_channels(store, channels, limits));
  std::string out = R"({"data":)" + to_json(channels);
  if (entries.size() == rows.limit) {
    out += R"(,"nextCursor":)";
    write_string(out, write_row_cursor(store.generation(), entries.back()));
  }
  return out + "}";
}

Result<FoundChannel> find_channel(store::Store& store, const ChannelId& channel,
                                  const ports::Caller& caller) {
  const auto none = [&] {
    return fail(Code::not_found, fmt::format("there is no channel {}", channel.text()));
  };
  TRY_ASSIGN(const auto row, store.find(std::string(state::kChannelKind), channel.text()));
  if (!row || (caller.session && row->session != *caller.session)) return none();
  FoundChannel found{row->session, {}};
  TRY(from_json(row->row.record, found.record, Unknown::ignore));
  if (found.record.token_id != caller.principal && !caller.sender.administers) return none();
  return found;
}

}  // namespace agentrt::kernel
