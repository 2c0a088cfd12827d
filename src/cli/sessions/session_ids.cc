#include "cli/sessions/session_ids.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/views/session_view.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageRows = 1'000;

// A generated id: its kind, an underscore, and 26 characters, of which the first 10 are the time.
constexpr std::string_view kGeneratedPrefix = "sess_";
constexpr std::size_t kGeneratedBytes = 26;
constexpr std::size_t kTimeBytes = 10;
constexpr std::size_t kShortBytes = kGeneratedPrefix.size() + kTimeBytes;

bool generated(std::string_view id) {
  return id.starts_with(kGeneratedPrefix) && id.size() == kGeneratedPrefix.size() + kGeneratedBytes;
}

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto [end, _] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end - a.begin());
}

// The number of characters to insert, delete or replace to turn `a` into `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

std::vector<SessionId> ids_of(const std::vector<schema::SessionSummary>& sessions) {
  std::vector<SessionId> ids;
  for (const schema::SessionSummary& session : sessions) ids.push_back(session.session_id);
  return ids;
}

std::string json_list(const char* name, const std::vector<std::string>& ids) {
  return fmt::format(R"({{"{}":{}}})", name, schema::to_json(ids));
}

std::unexpected<Error> ambiguous(std::string_view text, const std::vector<std::string>& matches) {
  const std::size_t shown = std::min(matches.size(), kMatchesShownMax);
  const std::vector<std::string> first(matches.begin(),
                                       matches.begin() + static_cast<std::ptrdiff_t>(shown));
  std::string listed = fmt::format("{}", fmt::join(first, ", "));
  if (matches.size() > shown) listed += fmt::format(" and {} more", matches.size() - shown);
  return fail(Code::invalid_params,
              fmt::format("{} is the beginning of {} session ids: {}; type more of the one you "
                          "mean.",
                          text, matches.size(), listed),
              json_list("matches", first));
}

}  // namespace

Result<std::vector<schema::SessionSummary>> read_sessions(const Client& client) {
  std::vector<schema::SessionSummary> out;
  schema::ListSessions params;
  params.limit = kPageRows;
  do {
    TRY_ASSIGN(const std::string reply, client.call("list_sessions", schema::to_json(params)));
    TRY_ASSIGN(const ListReply page, read_list(reply));
    for (const schema::Json& row : page.data)
      TRY(schema::from_json(row.text, out.emplace_back(), schema::Unknown::ignore));
    params.cursor = page.next_cursor;
  } while (params.cursor && out.size() < kSessionsMax);
  return out;
}

std::vector<std::string> short_ids(const std::vector<SessionId>& ids) {
  std::vector<std::string_view> sorted;
  for (const SessionId& id : ids) sorted.push_back(id.text());
  std::ranges::sort(sorted);
  std::vector<std::string> out;
  for (const SessionId& id : ids) {
    const std::string_view text = id.text();
    std::size_t size = generated(text) ? kShortBytes : text.size();
    // The ids with the longest common prefix are its neighbours in the sorted list.
    const auto at = std::ranges::lower_bound(sorted, text);
    if (at != sorted.begin()) size = std::max(size, common_prefix(*(at - 1), text) + 1);
    if (at + 1 < sorted.end()) size = std::max(size, common_prefix(*(at + 1), text) + 1);
    out.emplace_back(text.substr(0, size));
  }
  return out;
}

std::vector<std::string> near_matches(std::string_view text, const std::vector<SessionId>& ids) {
  const std::size_t distance_max = std::clamp<std::size_t>(text.size() / 2, 1, 3);
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const SessionId& id : ids) {
    const std::string& whole = id.text();
    const std::size_t distance =
        std::min(edit_distance(text, whole), edit_distance(text, whole.substr(0, text.size())));
    if (distance <= distance_max) found.emplace_back(distance, whole);
  }
  std::ranges::sort(found);
  std::vector<std::string> out;
  for (auto& [_, id] : found)
    if (out.size() < kNearMatchesMax) out.push_back(std::move(id));
  return out;
}

Result<SessionId> match_id(std::string_view text, const std::vector<SessionId>& ids) {
  std::vector<std::string> matches;
  for (const SessionId& id : ids) {
    if (id.text() == text) return id;
    if (id.text().starts_with(text)) matches.push_back(id.text());
  }
  if (matches.size() == 1) return SessionId(matches.front());
  if (matches.size() > 1) return ambiguous(text, matches);
  const std::vector<std::string> near = near_matches(text, ids);
  std::string advice = "agentrt sessions lists them";
  if (!near.empty()) advice = fmt::format("did you mean {}? {}", fmt::join(near, " or "), advice);
  if (ids.size() >= kSessionsMax)
    advice += fmt::format(", and only the newest {} can be shortened", kSessionsMax);
  return fail(Code::not_found, fmt::format("There is no session {}; {}.", text, advice),
              near.empty() ? "" : json_list("nearMatches", near));
}

Result<SessionId> find_by_prefix(const Client& client, const std::string& text) {
  if (!well_formed_id(text))
    return fail(Code::invalid_params,
                fmt::format("{} is not the id of a session; agentrt sessions lists them.", text));
  TRY_ASSIGN(const auto sessions, read_sessions(client));
  return match_id(text, ids_of(sessions));
}

Result<SessionId> find_session(const Client& client, const std::string& text) {
  if (!well_formed_id(text)) return find_by_prefix(client, text);
  schema::GetSession params;
  params.session_id = SessionId(text);
  params.limit = 1;
  const auto reply = client.call("get_session", schema::to_json(params));
  if (reply) return params.session_id;
  if (reply.error().code != Code::not_found) return std::unexpected(reply.error());
  return find_by_prefix(client, text);
}

Result<std::string> expanded_id(const Client& client, const std::string& text) {
  if (!text.starts_with(kGeneratedPrefix) || generated(text)) return text;
  const auto found = find_session(client, text);
  if (!found && found.error().code == Code::not_found) return text;
  if (!found) return std::unexpected(found.error());
  return found->text();
}

Result<SessionId> last_session_of(const Client& client, const std::string& folder) {
  TRY_ASSIGN(const auto sessions, read_sessions(client));
  const schema::SessionSummary* last = nullptr;
  for (const schema::SessionSummary& session : sessions)
    if ((folder.empty() || session.cwd == folder) && !session.archived &&
        (last == nullptr || last->updated_at < session.updated_at))
      last = &session;
  if (last == nullptr)
    return fail(Code::not_found,
                fmt::format("There is no earlier session{}; start one with agentrt run PROMPT, or "
                            "choose one of another folder with agentrt resume.",
                            folder.empty() ? "" : " of " + folder));
  return last->session_id;
}

}  // namespace agentrt::cli
