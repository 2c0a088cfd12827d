// validate/testing/mutation.h: mutates valid streams.
//
// A mutation changes a stream in one place. Some mutations are harmless, since a correct runtime
// could have written the result; harmless() gives the reason. Some cannot be detected, since
// nothing else in the stream contradicts them; reason_missed() gives the reason.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "validate/testing/story.h"

namespace agentrt::validate {

struct Fact {
  Members head;  // without the payload
  Members payload;

  std::string type() const;
  // The id as text without quotes; empty if absent.
  std::string id(std::string_view name) const;
};
using Facts = std::vector<Fact>;

enum class Damage { drop, twice, swap, cut, retime, rename_type, rename_id, rename_word };

struct Damaged {
  Damage kind = Damage::drop;
  Facts facts;
  std::vector<std::string> types;  // the mutated types; for rename_type also the new type
  std::string member;              // the renamed member
  bool apart = false;              // the swapped facts are about different objects
  bool unused = false;             // the renamed id occurs nowhere else
  bool listed = false;             // the new word is in the member's closed list
};

// Deterministic random numbers, equal on every machine.
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

// Returns false if this kind of mutation is impossible at the chosen place.
bool damage(Damage kind, const Facts& stream, Random& random, Damaged& out);
// Makes sequences, event ids and timestamps consistent again.
void hide(Facts& facts);

// Why the mutation is harmless; empty if it is real damage.
std::string_view harmless(const Damaged& damaged);
// Why the mutation cannot be detected; empty if there is no known reason.
std::string_view reason_missed(const Damaged& damaged);

}  // namespace agentrt::validate
