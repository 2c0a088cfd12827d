// schema/facts/item.h: items, a projection that is sufficient for a simple client: one item per
// message, reasoning block or tool call, with a start and an end.
#pragma once

#include "schema/scope.h"
#include "schema/values.h"

namespace agentrt::schema {

struct ItemStarted {
  static constexpr std::string_view kType = "item.started";
  using Scope = StepScope;
  ItemKind kind = ItemKind::agent_message;
  std::optional<std::string> tool_name;  // of a call
  std::optional<Json> args = {};         // of a call that the runtime makes, and no model

  bool operator==(const ItemStarted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ItemStarted, (), (kind, tool_name, args))

// More text arrived since the item's last fact: of a message, or of the arguments of a call that
// the model is still writing.
struct ItemUpdated {
  static constexpr std::string_view kType = "item.updated";
  using Scope = StepScope;
  ItemKind kind = ItemKind::agent_message;
  // in total so far; the text itself is in the deltas and in the closing fact
  std::uint64_t text_bytes = 0;
  // The beginning of the arguments, at most kWrittenPreviewBytes, without secrets. It is a text for
  // people and not JSON: escape sequences are replaced by their characters.
  std::optional<std::string> preview;

  bool operator==(const ItemUpdated&) const = default;
};
BOOST_DESCRIBE_STRUCT(ItemUpdated, (), (kind, text_bytes, preview))

inline constexpr std::size_t kWrittenPreviewBytes = 512;

struct ItemCompleted {
  static constexpr std::string_view kType = "item.completed";
  using Scope = StepScope;
  ItemKind kind = ItemKind::agent_message;
  Status status = Status::completed;  // failed or cancelled if the item is incomplete
  std::optional<std::string> text;
  std::optional<std::string> preview;
  std::optional<std::string> output_ref;
  std::optional<Failure> error;

  bool operator==(const ItemCompleted&) const = default;
};
BOOST_DESCRIBE_STRUCT(ItemCompleted, (), (kind, status, text, preview, output_ref, error))

}  // namespace agentrt::schema
