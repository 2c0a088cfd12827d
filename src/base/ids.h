// base/ids.h: identities as distinct types, so that a TurnId cannot pass as a ThreadId.
//
// Ids that the runtime makes are a readable prefix and 26 base-32 characters: 48 bits of time, a
// 16-bit counter within one command, 64 random bits. So they sort by time, and in order within a
// command. Ids that a caller chooses are any text that well_formed_id() accepts. An id is never a
// capability: knowing one grants nothing.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time.h"

namespace agentrt {

template <class Tag>
class Id {
 public:
  static constexpr std::string_view kPrefix = Tag::kPrefix;

  Id() = default;  // the absent id; empty()
  explicit Id(std::string text) : text_(std::move(text)) {}

  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  explicit operator bool() const { return !text_.empty(); }

  auto operator<=>(const Id&) const = default;

 private:
  std::string text_;
};

#define AGENTRT_ID(Name, prefix)                        \
  struct Name##Tag {                                    \
    static constexpr std::string_view kPrefix = prefix; \
  };                                                    \
  using Name = Id<Name##Tag>

AGENTRT_ID(RuntimeId, "rt");
AGENTRT_ID(BootId, "boot");
AGENTRT_ID(SessionId, "sess");
AGENTRT_ID(ThreadId, "thread");
AGENTRT_ID(TurnId, "turn");
AGENTRT_ID(TaskId, "task");
AGENTRT_ID(RunId, "run");
AGENTRT_ID(AttemptId, "attempt");
AGENTRT_ID(StepId, "step");
AGENTRT_ID(ToolCallId, "call");
AGENTRT_ID(ActionId, "action");
AGENTRT_ID(SubagentId, "subagent");
AGENTRT_ID(ProcessId, "proc");
AGENTRT_ID(ChannelId, "chan");
AGENTRT_ID(JobId, "job");
AGENTRT_ID(JobItemId, "jobitem");
AGENTRT_ID(ArtifactId, "artifact");
AGENTRT_ID(EvidenceId, "evidence");
AGENTRT_ID(RequestId, "req");
AGENTRT_ID(ModelRequestId, "mreq");
AGENTRT_ID(TokenId, "tok");
AGENTRT_ID(GenerationId, "gen");
AGENTRT_ID(TraceId, "");  // W3C: 32 hex digits
AGENTRT_ID(SpanId, "");   // W3C: 16 hex digits

// The place of a fact in its session's stream: 1, 2, 3, ... without gaps. 0 is "before the first".
using Sequence = std::uint64_t;

// Runtime-wide facts live in this session; no caller may name it in a command.
inline constexpr std::string_view kSystemSession = "sess_runtime";

inline constexpr std::size_t kIdSizeMax = 128;

// [A-Za-z0-9._:-]{1,128}
bool well_formed_id(std::string_view text);

// New ids for one command: a value, not a service. The same seed and time give the same ids, which
// is what makes a decision repeatable on any machine.
class FreshIds {
 public:
  FreshIds(Timestamp now, std::uint64_t seed) : now_(now), seed_(seed) {}

  template <class AnyId>
  AnyId next() {
    return AnyId{next_text(AnyId::kPrefix)};
  }
  TraceId next_trace();
  SpanId next_span();

 private:
  std::string next_text(std::string_view prefix);
  std::uint64_t draw();

  Timestamp now_;
  std::uint64_t seed_;
  std::uint16_t count_ = 0;
};

}  // namespace agentrt

template <class Tag>
struct std::hash<agentrt::Id<Tag>> {
  std::size_t operator()(const agentrt::Id<Tag>& id) const {
    return std::hash<std::string>{}(id.text());
  }
};
