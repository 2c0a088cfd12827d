// cli/remote/channels.cc: `agentrt channels`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "cli/views/terminal.h"
#include "schema/commands/channels.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;
constexpr std::size_t kChannelsMax = 10'000;  // printed at once

Result<ListReply> read_channels(const Client& client, const ChannelsArguments& arguments) {
  schema::ListChannels query;
  if (arguments.session) {
    TRY_ASSIGN(query.session_id, find_session(client, *arguments.session));
  }
  if (arguments.all) query.include_closed = true;
  query.limit = kPageMax;
  ListReply whole;
  do {
    TRY_ASSIGN(const std::string reply, client.call("list_channels", schema::to_json(query)));
    TRY_ASSIGN(ListReply page, read_list(reply));
    for (schema::Json& row : page.data) whole.data.push_back(std::move(row));
    query.cursor = page.next_cursor;
  } while (query.cursor && whole.data.size() < kChannelsMax);
  return whole;
}

std::string status_of(const schema::ChannelSnapshot& channel) {
  const std::string status(schema::name_of(channel.status));
  return channel.reason ? fmt::format("{} ({})", status, *channel.reason) : status;
}

std::string peer_of(const schema::ChannelSnapshot& channel) {
  const std::string role(schema::name_of(channel.peer_role));
  return channel.native_protocol ? fmt::format("{} ({})", role, *channel.native_protocol) : role;
}

}  // namespace

int list_channels(Context& context, const ChannelsArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(const ListReply list, read_channels(client, arguments));
    Output& output = context.output;
    if (context.form() == Form::json) {
      output.out(schema::to_json(list) + "\n");
      return kExitDone;
    }
    if (list.data.empty()) {
      output.out("No channels.\n");
      return kExitDone;
    }
    Table table{{"CHANNEL", "SESSION", "STATUS", "TRANSPORT", "PEER", "ACKED", "ASKED", "SEEN"},
                {}};
    for (const schema::Json& text : list.data) {
      schema::ChannelSnapshot channel;
      TRY(schema::from_json(text.text, channel, schema::Unknown::ignore));
      table.rows.push_back({channel.channel_id.text(), channel.session_id.text(),
                            status_of(channel), std::string(schema::name_of(channel.transport)),
                            peer_of(channel), std::to_string(channel.acknowledged_sequence),
                            std::to_string(channel.pending_actions.size()),
                            spoken_age(channel.last_seen_at, now_of_clock())});
    }
    output.out(render(table, output.screen().width, output.screen().out_colour));
    return kExitDone;
  });
}

}  // namespace agentrt::cli
