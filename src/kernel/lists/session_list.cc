#include "kernel/lists/session_list.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "kernel/reads.h"

namespace agentrt::kernel {
namespace {

using namespace schema;

// The letter after U+00BF and its capital are this far apart, in the alphabets that have both.
char32_t small(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 0x20;
  const bool latin = c >= 0xc0 && c <= 0xde && c != 0xd7;
  const bool greek = c >= 0x391 && c <= 0x3a9;
  const bool cyrillic = c >= 0x410 && c <= 0x42f;
  if (latin || greek || cyrillic) return c + 0x20;
  if (c >= 0x400 && c <= 0x40f) return c + 0x50;
  return c;
}

// The text with small letters instead of Latin, Greek and Cyrillic capitals. All of these have one
// or two bytes in UTF-8, as many as the small letter.
std::string folded(std::string_view text) {
  std::string out(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if (byte < 0x80) {
      out[i] = static_cast<char>(small(byte));
    } else if (byte >= 0xc2 && byte <= 0xdf && i + 1 < out.size()) {
      const auto next = static_cast<unsigned char>(out[i + 1]);
      const char32_t c = small((char32_t{byte} & 0x1f) << 6 | (char32_t{next} & 0x3f));
      out[i] = static_cast<char>(0xc0 | c >> 6);
      out[++i] = static_cast<char>(0x80 | (c & 0x3f));
    }
  }
  return out;
}

// The filters of a query.
class Filter {
 public:
  explicit Filter(const ListSessions& query) : query_(query) {
    if (query.text) text_ = folded(*query.text);
  }

  bool any() const { return query_.status || query_.text; }
  bool selects(const store::IndexEntry& entry, const SessionSummary& summary) const {
    if (entry.session.text() == kSystemSession && !query_.include_system.value_or(false))
      return false;
    if (query_.status && std::ranges::find(*query_.status, summary.status) == query_.status->end())
      return false;
    if (!query_.text) return true;
    const auto has = [this](std::string_view in) { return folded(in).contains(text_); };
    return has(entry.session.text()) || has(summary.cwd) || has(summary.title.value_or("")) ||
           has(summary.preview.value_or(""));
  }

 private:
  const ListSessions& query_;
  std::string text_;
};

// The cursor of a list by last change is GENERATION.uPOSITION, so that it fits no other list.
constexpr std::string_view kByChange = ".u";

std::string write_place(const GenerationId& generation, bool by_change, std::uint64_t place) {
  if (!by_change) return write_cursor(generation, place);
  return fmt::format("{}{}{}", generation.text(), kByChange, place);
}

Result<std::uint64_t> read_place(const GenerationId& generation, bool by_change,
                                 std::string cursor) {
  if (by_change) {
    const std::size_t at = cursor.rfind(kByChange);
    if (at == std::string::npos)
      return fail(Code::invalid_params, "cursor: not a cursor of this list with order updated");
    cursor.erase(at + 1, 1);
  }
  return read_cursor(generation, cursor);
}

Result<void> check_query(const ListSessions& query) {
  if (query.limit == 0) return fail(Code::invalid_params, "limit: expected 1 or more");
  if (query.text && query.text->size() > kSessionTextBytesMax)
    return fail(Code::invalid_params,
                fmt::format("text: expected at most {} bytes", kSessionTextBytesMax));
  return {};
}

}  // namespace

Result<std::string> list_sessions(store::Store& store, const ListSessions& query,
                                  const Limits& limits, const IsStale& is_stale) {
  TRY(check_query(query));
  const Filter filter(query);
  const std::size_t wanted =
      std::min<std::size_t>(query.limit.value_or(limits.page_turns_default), limits.page_max);
  store::IndexQuery rows{.kind = "session", .session = {}};
  rows.by_change = query.order == SessionOrder::updated;
  // One more row tells whether others follow.
  rows.limit = filter.any() ? limits.page_max : wanted + 1;
  if (query.cursor) {
    TRY_ASSIGN(rows.before, read_place(store.generation(), rows.by_change, *query.cursor));
  }
  std::string out = R"({"data":[)";
  std::size_t found = 0;
  std::size_t scanned = 0;
  bool more = true;
  while (more && found < wanted && scanned < limits.sessions_scanned_max &&
         out.size() < limits.page_bytes_max) {
    TRY_ASSIGN(const auto entries, store.list(rows));
    more = entries.size() == rows.limit;
    for (const store::IndexEntry& entry : entries) {
      if (found == wanted || scanned == limits.sessions_scanned_max) {
        more = true;
        break;
      }
      ++scanned;
      rows.before = rows.by_change ? entry.changed_at : entry.session_order;
      SessionSummary summary;
      TRY(from_json(entry.row.record, summary, Unknown::ignore));
      const bool stale = is_stale(entry.session) && summary.status != Status::idle;
      if (stale) summary.status = Status::stale;
      if (!filter.selects(entry, summary)) continue;
      if (found++ > 0) out += ',';
      out += stale ? to_json(summary) : entry.row.record;
    }
  }
  out += ']';
  if (more && rows.before) {
    out += R"(,"nextCursor":)";
    write_string(out, write_place(store.generation(), rows.by_change, *rows.before));
  }
  return out + "}";
}

}  // namespace agentrt::kernel
