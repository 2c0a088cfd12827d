#include "conversation/history/kept_history.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

std::size_t size_of(const std::vector<InputPart>& input) {
  std::size_t size = 0;
  for (const InputPart& part : input) size += part.text.value_or("").size();
  return size;
}

bool ends(const Fact& fact) {
  return std::holds_alternative<TurnCompleted>(fact.payload) ||
         std::holds_alternative<TurnFailed>(fact.payload);
}

}  // namespace

void KeptHistory::add(const Fact& fact) {
  if (!fact.ids.turn_id) return;
  const std::lock_guard lock(mutex_);
  if (const auto* submitted = std::get_if<TurnSubmitted>(&fact.payload))
    return put_first({.session = fact.ids.session,
                      .turn = fact.ids.turn_id,
                      .own = {submitted->input, TurnReading(fact.ids.session, fact.ids.turn_id,
                                                            fact.sequence, facts_max_)},
                      .whole = true,
                      .earlier = {}});
  const auto known = by_turn_.find(fact.ids.turn_id);
  if (known == by_turn_.end()) return;
  if (ends(fact)) return drop(known->second);
  if (!known->second->whole) return;
  known->second->own.reading.take(fact);
  measure(known->second);
}

void KeptHistory::forget(const SessionId& session) {
  const std::lock_guard lock(mutex_);
  for (Place at = kept_.begin(); at != kept_.end();) {
    const Place here = at++;
    if (here->session == session) drop(here);
  }
}

KeptHistory::Found KeptHistory::find(const TurnId& turn) const {
  const std::lock_guard lock(mutex_);
  const auto known = by_turn_.find(turn);
  if (known == by_turn_.end()) return {};
  return {known->second->own, known->second->whole, known->second->earlier};
}

void KeptHistory::keep(const SessionId& session, const TurnId& turn, Found found) {
  const std::lock_guard lock(mutex_);
  const auto known = by_turn_.find(turn);
  if (known == by_turn_.end() || !known->second->whole) {
    if (found.whole) return;  // it was forgotten: it may hold facts that were never stored
    return put_first({.session = session,
                      .turn = turn,
                      .own = *std::move(found.own),
                      .whole = false,
                      .earlier = std::move(found.earlier)});
  }
  known->second->earlier = std::move(found.earlier);
  measure(known->second);
}

void KeptHistory::put_first(Kept kept) {
  if (const auto before = by_turn_.find(kept.turn); before != by_turn_.end()) drop(before->second);
  kept_.push_front(std::move(kept));
  by_turn_[kept_.front().turn] = kept_.begin();
  measure(kept_.begin());
}

void KeptHistory::measure(Place place) {
  bytes_ -= place->bytes;
  place->bytes = size_of(place->own.input) + place->own.reading.bytes() +
                 (place->earlier ? place->earlier->bytes : 0);
  bytes_ += place->bytes;
  if (place->bytes > bytes_max_) return drop(place);  // one entry must not evict all others
  kept_.splice(kept_.begin(), kept_, place);
  make_room();
}

void KeptHistory::drop(Place place) {
  bytes_ -= place->bytes;
  by_turn_.erase(place->turn);
  kept_.erase(place);
}

void KeptHistory::make_room() {
  while (kept_.size() > kTurnsMax || bytes_ > bytes_max_) drop(std::prev(kept_.end()));
}

}  // namespace agentrt::conversation
