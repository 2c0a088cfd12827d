// validate/mutation.h: damage done to good streams, for tests.
//
// A stream is damaged in one place. Some of what can be done to a stream is no damage, since an
// honest runtime could have written the result; harmless() says why. Damage that nothing in the
// stream contradicts goes unnoticed; reason_missed() says why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "validate/story.h"

namespace agentrt::validate {

struct Fact {
  Members head;  // without the payload
  Members payload;

  std::string type() const;
  // As text, without quotes; empty when it is absent.
  std::string id(std::string_view name) const;
};
using Facts = std::vector<Fact>;

enum class Damage { drop, twice, swap, cut, retime, rename_type, rename_id, rename_word };

struct Damaged {
  Damage kind = Damage::drop;
  Facts facts;
  std::vector<std::string> types;  // what it was done to; for rename_type also what it became
  std::string member;              // that was renamed
  bool apart = false;              // swapped facts that are about different objects
  bool unused = false;             // a renamed id that nothing else mentions
  bool listed = false;             // a new word that stands in the member's list
};

// Numbers that are the same at every run and on every machine.
struct Random {
  std::uint64_t state;

  std::uint64_t operator()() {
    std::uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
  }
};

Facts facts_of(const std::vector<std::string>& lines);
std::string line_of(const Fact& fact);

// False when the kind cannot be done at the place that was drawn.
bool damage(Damage kind, const Facts& stream, Random& random, Damaged& out);
// Sequences, event ids and times made consistent again.
void hide(Facts& facts);

// Why it is no damage at all; empty: it is.
std::string_view harmless(const Damaged& damaged);
// Why nothing can notice it; empty: there is no such reason.
std::string_view reason_missed(const Damaged& damaged);

}  // namespace agentrt::validate
