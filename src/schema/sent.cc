#include "schema/sent.h"

#include <algorithm>
#include <array>

#include "schema/facts/history.h"

namespace agentrt::schema {
namespace {

constexpr std::array kTypes = {
    TurnStarted::kType,   TurnCompleted::kType,   TurnFailed::kType,    ModelCompleted::kType,
    ToolStarted::kType,   ToolResult::kType,      ToolFailed::kType,    ProcessCompleted::kType,
    HookCompleted::kType, ContextResolved::kType, OutputSpilled::kType, CompactionCompleted::kType};

}  // namespace

bool is_sent(std::string_view type) { return std::ranges::find(kTypes, type) != kTypes.end(); }

std::optional<ThreadId> sent_in(const StoredEvent& event) {
  constexpr std::string_view kMember = R"("threadId":")";
  if (!is_sent(event.type)) return std::nullopt;
  const std::string_view scope = event.scope;
  const std::size_t at = scope.find(kMember);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = scope.substr(at + kMember.size());
  return ThreadId{std::string(rest.substr(0, rest.find('"')))};
}

}  // namespace agentrt::schema
