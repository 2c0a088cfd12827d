// schema/text_limits.h: size limits of the members of commands.
//
// Data of commands is stored in views, index rows and lists, so every member that a client can fill
// has a limit: by its name in a table below, or by default kTextSizeMax, kListSizeMax or
// kJsonBytesMax. The limits are published (maxLength, maxItems, x-maxBytes) and enforced from the
// same tables. Texts are measured in characters (code points), like maxLength; JSON values in
// bytes.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"
#include "schema/channels.h"
#include "schema/codec.h"
#include "schema/folders.h"

namespace agentrt::schema {

inline constexpr std::size_t kTextSizeMax = 4'096;
inline constexpr std::size_t kListSizeMax = 1'000;
inline constexpr std::size_t kJsonBytesMax = std::size_t{1} << 20;

inline constexpr std::size_t kTitleSizeMax = 1'024;
inline constexpr std::size_t kNameSizeMax = 256;  // name of a model, a tool or an event type
// A cursor or another text issued by the runtime.
inline constexpr std::size_t kTokenSizeMax = 1'024;
// One part of a turn's input.
inline constexpr std::size_t kInputTextSizeMax = std::size_t{2} << 20;
inline constexpr std::size_t kStdinSizeMax = 32 * 1024;      // per write_process_stdin
inline constexpr std::size_t kObjectiveSizeMax = 64 * 1024;  // of a task
inline constexpr std::size_t kTaskListMax = 64;  // blockers, criteria, artifacts, refs, statements
inline constexpr std::size_t kProgressBytesMax = 16 * 1024;
inline constexpr std::size_t kMetadataBytesMax = 32 * 1024;
inline constexpr std::size_t kAnswerBytesMax = 64 * 1024;
inline constexpr std::size_t kInstructionSizeMax = 64 * 1024;  // of a job
inline constexpr std::size_t kOutputSchemaBytesMax = 64 * 1024;
inline constexpr std::size_t kInlineItemsMax = 100'000;  // of create_job; a reference names more

struct MemberLimit {
  std::string_view member;  // wire name
  std::size_t max;
};

inline constexpr MemberLimit kTextLimits[] = {
    {"idempotencyKey", kNameSizeMax},
    {"title", kTitleSizeMax},
    {"model", kNameSizeMax},
    {"toolName", kNameSizeMax},
    {"types", kNameSizeMax},
    {"decision", kNameSizeMax},
    {"digest", kNameSizeMax},
    {"cursor", kTokenSizeMax},
    {"resumeToken", kTokenSizeMax},
    {"text", kInputTextSizeMax},
    {"input", kStdinSizeMax},
    {"objective", kObjectiveSizeMax},
    {"taskKind", kNameSizeMax},
    {"taskFamily", kNameSizeMax},
    {"priority", kNameSizeMax},
    {"assignee", kNameSizeMax},
    {"owner", kNameSizeMax},
    {"requestedBy", kNameSizeMax},
    {"name", kNameSizeMax},
    {"tools", kNameSizeMax},
    {"instruction", kInstructionSizeMax},
    {"prompt", kInputTextSizeMax},
    {"role", kNameSizeMax},
    {"nickname", kNameSizeMax},
    {"nativeProtocol", kNameSizeMax},
    {"remoteTaskId", kTokenSizeMax},
    {"remoteContextId", kTokenSizeMax},
    {"remoteStatus", kNameSizeMax},
    {"agentCardRef", kTokenSizeMax},
};
inline constexpr MemberLimit kListLimits[] = {
    {"additionalRoots", kAdditionalRootsMax},
    {"blockedBy", kTaskListMax},
    {"acceptance", kTaskListMax},
    {"outputRefs", kTaskListMax},
    {"artifacts", kTaskListMax},
    {"evidenceRefs", kTaskListMax},
    {"satisfied", kTaskListMax},
    {"nonRetryable", kTaskListMax},
    {"tools", kTaskListMax},
    {"items", kInlineItemsMax},
    {"writeRoots", kAdditionalRootsMax},
    {"subagentIds", 64},
    {"remoteArtifactRefs", kTaskListMax},
    {"capabilities", 16},
};
inline constexpr MemberLimit kJsonLimits[] = {{"metadata", kMetadataBytesMax},
                                              {"payload", kAnswerBytesMax},
                                              {"counters", kProgressBytesMax},
                                              {"validation", kProgressBytesMax},
                                              {"scope", kMetadataBytesMax},
                                              {"taskProfile", kMetadataBytesMax},
                                              {"outputSchema", kOutputSchemaBytesMax},
                                              {"nativeIds", kNativeIdsBytesMax}};

template <std::size_t N>
constexpr std::size_t limit_of(const MemberLimit (&limits)[N], std::string_view member,
                               std::size_t otherwise) {
  for (const MemberLimit& limit : limits)
    if (limit.member == member) return limit.max;
  return otherwise;
}
constexpr std::size_t text_limit(std::string_view member) {
  return limit_of(kTextLimits, member, kTextSizeMax);
}
constexpr std::size_t list_limit(std::string_view member) {
  return limit_of(kListLimits, member, kListSizeMax);
}
constexpr std::size_t json_limit(std::string_view member) {
  return limit_of(kJsonLimits, member, kJsonBytesMax);
}

// REQUIRES: valid UTF-8. Texts of commands always are.
constexpr std::size_t characters_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Fails with invalid_params for the first member that is too long, with its path, such as
// options.additionalRoots[3]. `member`: the name that selects the limit.
template <class T>
Result<void> check_sizes(const T& value, std::string_view member, const std::string& path) {
  using namespace codec;
  const auto too_long = [&](std::size_t max, std::string_view of) {
    return fail(Code::invalid_params, fmt::format("{}: expected at most {} {}", path, max, of));
  };
  if constexpr (std::is_same_v<T, std::string>) {
    const std::size_t max = text_limit(member);
    if (value.size() > max && characters_of(value) > max) return too_long(max, "characters");
  } else if constexpr (std::is_same_v<T, Json>) {
    if (value.text.size() > json_limit(member))
      return too_long(json_limit(member), "bytes of JSON");
  } else if constexpr (kIs<T, std::optional>) {
    if (value) return check_sizes(*value, member, path);
  } else if constexpr (kIs<T, std::vector>) {
    if (value.size() > list_limit(member)) return too_long(list_limit(member), "entries");
    for (std::size_t i = 0; i < value.size(); ++i)
      TRY(check_sizes(value[i], member, fmt::format("{}[{}]", path, i)));
  } else if constexpr (DescribedEnum<T>) {
    return {};
  } else if constexpr (Described<T>) {
    Result<void> checked;
    boost::mp11::mp_for_each<Members<T>>([&](auto d) {
      if (!checked) return;
      const std::string_view name = kWireName<decltype(d)>.view();
      checked = check_sizes(value.*d.pointer, name,
                            path.empty() ? std::string(name) : fmt::format("{}.{}", path, name));
    });
    return checked;
  } else {
    static_assert(!kIs<T, std::map>, "a map in a command needs a bound");
  }
  return {};
}

}  // namespace agentrt::schema
