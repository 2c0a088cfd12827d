#include "outputs/log_texts.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

namespace agentrt::outputs {
namespace {

constexpr std::size_t kPageEvents = 1'000;
constexpr std::size_t kPageBytes = 1 << 20;

struct Range {
  Sequence first = 0, last = 0;
};

std::optional<Range> range_of(std::string_view ref) {
  ref.remove_prefix(std::string_view("log:").size());
  Range range;
  const char* const end = ref.data() + ref.size();
  const auto first = std::from_chars(ref.data(), end, range.first);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '-') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, range.last);
  if (last.ec != std::errc{} || last.ptr != end || range.first == 0 || range.last < range.first)
    return std::nullopt;
  return range;
}

// The text of a fragment, and whether it is of the model's reasoning.
const std::string* fragment_in(const schema::Fact& fact, bool reasoning) {
  if (reasoning) {
    const auto* delta = std::get_if<schema::ReasoningDelta>(&fact.payload);
    return delta ? &delta->text : nullptr;
  }
  const auto* delta = std::get_if<schema::ModelDelta>(&fact.payload);
  return delta ? &delta->text : nullptr;
}

}  // namespace

Result<std::string> log_text(store::Store& store, const SessionId& session, std::string_view ref) {
  const auto range = range_of(ref);
  if (!range) return fail(Code::not_found, "there is no such output");
  std::string text;
  ModelRequestId request;
  bool reasoning = false;
  for (Sequence after = range->first - 1; after < range->last;) {
    TRY_ASSIGN(const auto page, store.events(session, after, kPageEvents, kPageBytes));
    if (page.empty()) break;
    for (const store::Event& each : page) {
      if (each.event.sequence > range->last) return text;
      TRY_ASSIGN(const schema::Fact fact, schema::decode(each.event));
      if (request.empty()) {
        request = fact.ids.model_request_id;
        reasoning = std::holds_alternative<schema::ReasoningDelta>(fact.payload);
      }
      const std::string* fragment = fragment_in(fact, reasoning);
      if (fragment && fact.ids.model_request_id == request) text += *fragment;
      if (text.size() > kLogTextBytesMax)
        return fail(Code::too_large,
                    fmt::format("the text is longer than {} bytes", kLogTextBytesMax));
    }
    after = page.back().event.sequence;
  }
  if (text.empty()) return fail(Code::not_found, "there is no such output");
  return text;
}

}  // namespace agentrt::outputs
