#include "cli/decisions/open_actions.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;

}  // namespace

Result<ListReply> list_all_actions(const Client& client, schema::ListActions params) {
  params.limit = kPageMax;
  ListReply whole;
  do {
    TRY_ASSIGN(const std::string reply, client.call("list_actions", schema::to_json(params)));
    TRY_ASSIGN(ListReply page, read_list(reply));
    for (schema::Json& row : page.data) whole.data.push_back(std::move(row));
    params.cursor = page.next_cursor;
  } while (params.cursor);
  return whole;
}

Result<std::vector<schema::ActionSnapshot>> decode_actions(const ListReply& list) {
  std::vector<schema::ActionSnapshot> actions(list.data.size());
  for (std::size_t i = 0; i < actions.size(); ++i)
    TRY(schema::from_json(list.data[i].text, actions[i], schema::Unknown::ignore));
  return actions;
}

Result<std::vector<schema::ActionSnapshot>> open_actions(const Client& client,
                                                         const std::optional<SessionId>& session) {
  schema::ListActions params;
  params.session_id = session;
  TRY_ASSIGN(const ListReply list, list_all_actions(client, params));
  return decode_actions(list);
}

}  // namespace agentrt::cli
