#include "validate/envelope_rules.h"

#include <algorithm>

namespace agentrt::validate {
namespace {

std::string_view family_word(std::string_view type) { return type.substr(0, type.find('.')); }

bool of_standard_family(std::string_view type) {
  return std::ranges::any_of(schema::event_types(), [&](const schema::EventType& known) {
    return family_word(known.type) == family_word(type);
  });
}

// Facts that carry output of models, tools and processes.
bool carries_output(std::string_view type) {
  static constexpr std::string_view kFamilies[] = {"model",    "reasoning", "tool",     "process",
                                                   "item",     "hook",      "artifact", "evidence",
                                                   "subagent", "channel",   "output",   "run"};
  return type != "tool.catalog.resolved" &&
         std::ranges::find(kFamilies, family_word(type)) != std::end(kFamilies);
}

std::size_t unescaped_size(std::string_view text) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < text.size(); ++i, ++size)
    if (text[i] == '\\') i += i + 1 < text.size() && text[i + 1] == 'u' ? 5 : 1;
  return size;
}

}  // namespace

bool EnvelopeRules::any() {
  const Head& head = hearing_.head();
  members();
  if (head.type.empty() || head.session_id.empty()) return false;
  if (!hearing_.event.known && of_standard_family(head.type))
    hearing_.fail("envelope.type",
                  fmt::format("the family {1} has no type {0}", head.type, family_word(head.type)));
  ids();
  event_id();
  Stream& stream = streams_.at(hearing_.session);
  order(stream);
  hearing_.partial = stream.partial;
  size();
  return true;
}

void EnvelopeRules::members() {
  const Head& head = hearing_.head();
  const schema::Met& met = hearing_.event.met_head;
  const auto need = [&](std::string_view name, bool there) {
    if (there) return;
    const auto misfit = std::ranges::find(met.misfits, name, &schema::Misfit::member);
    hearing_.fail("envelope.members", misfit == met.misfits.end()
                                          ? fmt::format("{} is missing", name)
                                          : fmt::format("{}{}", name, misfit->what));
  };
  need("type", !head.type.empty());
  need("eventId", !head.event_id.empty());
  need("sessionId", !head.session_id.empty());
  need("sequence", head.sequence.has_value());
  need("timestamp", !head.timestamp.empty());
  if (!head.timestamp.empty() && !hearing_.event.at)
    hearing_.fail("envelope.members",
                  fmt::format("timestamp {} is not a UTC timestamp", head.timestamp));
  if (!head.payload.text.starts_with('{'))
    hearing_.fail("envelope.members", "payload is not an object");
  for (const schema::Misfit& misfit : met.misfits)
    if (misfit.member.ends_with("Id") && misfit.member != "eventId" && misfit.member != "sessionId")
      hearing_.fail("envelope.members", fmt::format("{}{}", misfit.member, misfit.what));
  if (head.schema_version.empty() || head.runtime_id.empty())
    hearing_.fail(
        "envelope.origin",
        fmt::format("{} is missing", head.schema_version.empty() ? "schemaVersion" : "runtimeId"));
}

void EnvelopeRules::ids() {
  if (!hearing_.event.known) return;
  for (const std::string_view name : hearing_.event.known->ids)
    if (!hearing_.event.has_id(name))
      hearing_.fail("envelope.ids", fmt::format("{} has no {}", hearing_.head().type, name));
}

void EnvelopeRules::event_id() {
  const Head& head = hearing_.head();
  if (head.event_id.empty()) return;
  const Key key = key_of(0, head.event_id);
  Key& place = event_ids_[key % kEventIdPlaces];
  if (place == key)
    hearing_.fail("ids.event_unique",
                  fmt::format("event id {} is used a second time", head.event_id));
  place = key;
}

void EnvelopeRules::order(Stream& stream) {
  const Head& head = hearing_.head();
  if (stream.last == 0 && (after_ > 0 || streams_.forgot())) {
    stream.partial = true;
    if (head.sequence && *head.sequence > 0) stream.last = *head.sequence - 1;
  }
  if (head.sequence) {
    const Sequence expected = stream.last + 1;
    if (*head.sequence > expected)
      hearing_.fail("order.sequence",
                    fmt::format("sequence {} follows {}: {} events are missing", *head.sequence,
                                stream.last, *head.sequence - expected));
    else if (*head.sequence < expected)
      hearing_.fail("order.sequence",
                    fmt::format("sequence {} follows {}", *head.sequence, stream.last));
    stream.last = std::max(stream.last, *head.sequence);
  }
  if (const auto at = hearing_.event.at) {
    if (*at < stream.at)
      hearing_.fail("order.time", fmt::format("{} is {} ms before the previous event",
                                              head.timestamp, stream.at - *at));
    stream.at = std::max(stream.at, *at);
  }
}

void EnvelopeRules::size() {
  const Head& head = hearing_.head();
  if (head.payload.text.size() <= kOutputBytesMax || !carries_output(head.type)) return;
  const std::size_t size = unescaped_size(head.payload.text);
  if (size > kOutputBytesMax)
    hearing_.fail("payload.large", fmt::format("the payload has {} bytes; the limit is {}, and "
                                               "larger output must be stored behind a ref",
                                               size, kOutputBytesMax));
}

}  // namespace agentrt::validate
