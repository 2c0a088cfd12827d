// validate/envelope_rules.h: rules for every event: its members, ids, sequence and timestamp.
#pragma once

#include "validate/rule_context.h"

namespace agentrt::validate {

// Slots for event ids seen. A new id overwrites an older one in the same slot.
inline constexpr std::size_t kEventIdPlaces = std::size_t{1} << 18;
// Limit of output text in one event, with each escape counted as one byte. Longer output belongs
// behind a ref.
inline constexpr std::size_t kOutputBytesMax = 72 * 1024;

class EnvelopeRules {
 public:
  EnvelopeRules(RuleContext& hearing, Sequence after) : hearing_(hearing), after_(after) {}

  // Checks any event. False if its type or session is missing, so that no other rule applies.
  bool any();

 private:
  struct Stream {
    Sequence last = 0;
    Timestamp at;
    bool partial = false;  // the stream lacks the start of this session
  };

  void members();
  void ids();
  void event_id();
  void order(Stream& stream);
  void size();

  RuleContext& hearing_;
  Sequence after_;
  Table<Stream> streams_;
  std::vector<Key> event_ids_ = std::vector<Key>(kEventIdPlaces);
};

}  // namespace agentrt::validate
