// validate/envelope_rules.h: what holds of every event: its members, its ids, its place and time.
#pragma once

#include "validate/hearing.h"

namespace agentrt::validate {

// Places for event ids; a new id takes the place of an old one that happens to have the same.
inline constexpr std::size_t kEventIdPlaces = std::size_t{1} << 18;
// Text of output that may stand in an event, escapes counted as one; more belongs behind a ref.
inline constexpr std::size_t kOutputBytesMax = 72 * 1024;

class EnvelopeRules {
 public:
  EnvelopeRules(Hearing& hearing, Sequence after) : hearing_(hearing), after_(after) {}

  // False when the event cannot be placed and nothing more can be said about it.
  bool any();

 private:
  struct Stream {
    Sequence last = 0;
    Timestamp at;
    bool partial = false;  // it began before what we have seen of it
  };

  void members();
  void ids();
  void event_id();
  void order(Stream& stream);
  void size();

  Hearing& hearing_;
  Sequence after_;
  Table<Stream> streams_;
  std::vector<Key> event_ids_ = std::vector<Key>(kEventIdPlaces);
};

}  // namespace agentrt::validate
