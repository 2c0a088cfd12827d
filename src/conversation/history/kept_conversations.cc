#include "conversation/history/kept_conversations.h"

#include "schema/sent.h"

namespace agentrt::conversation {

using namespace schema;

Tools offered_in(const ToolCatalogResolved& catalog) {
  std::vector<ports::OfferedTool> tools;
  for (const CatalogTool& tool : catalog.tools.value_or(std::vector<CatalogTool>{}))
    if (tool.policy != "denied")
      tools.push_back({tool.tool_name, tool.description, tool.input_schema});
  return std::make_shared<const std::vector<ports::OfferedTool>>(std::move(tools));
}

void KeptConversations::add(const Fact& fact) {
  if (fact.ids.thread_id.empty()) return;
  const std::lock_guard lock(mutex_);
  if (const auto* catalog = std::get_if<ToolCatalogResolved>(&fact.payload)) {
    if (catalog->tools) put_tools(fact.ids.session, fact.sequence, offered_in(*catalog));
    return;
  }
  const Key key{fact.ids.session, fact.ids.thread_id};
  if (const auto* started = std::get_if<ThreadStarted>(&fact.payload)) {
    const Place place = put_first(key);
    place->noted = true;
    // That of a fork is read from the log when it is needed.
    place->live = !started->forked_from;
    if (place->live) place->conversation.emplace(fact.ids.session);
    return measure(place);
  }
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return;
  const Place place = known->second;
  if (std::holds_alternative<RollbackCompleted>(fact.payload)) return drop(place);
  if (is_sent(type_of(fact.payload))) place->added = fact.sequence;
  if (!place->live) return;
  place->conversation->take(fact);
  measure(place);
}

void KeptConversations::discard(const SessionId& session) {
  const std::lock_guard lock(mutex_);
  for (Place at = kept_.begin(); at != kept_.end();) {
    const Place here = at++;
    if (here->key.first == session) drop(here);
  }
  std::erase_if(catalogs_, [&](const auto& entry) { return entry.first.first == session; });
}

KeptConversations::Found KeptConversations::find(const SessionId& session, const ThreadId& thread,
                                                 Sequence rolled_back) {
  const std::lock_guard lock(mutex_);
  auto known = by_key_.find({session, thread});
  if (known != by_key_.end() && known->second->rolled_back > rolled_back) return {};
  if (known != by_key_.end() && known->second->rolled_back < rolled_back) {
    drop(known->second);
    known = by_key_.end();
  }
  // The entry of a conversation that is read from the log now notes which facts are added
  // meanwhile.
  const Place place = known == by_key_.end() ? put_first({session, thread}) : known->second;
  place->rolled_back = rolled_back;
  Found found{place->conversation, place->live, place->ticket};
  measure(place);
  return found;
}

void KeptConversations::keep(const SessionId& session, const ThreadId& thread, const Found& found,
                             Sequence up_to) {
  const std::lock_guard lock(mutex_);
  const auto known = by_key_.find({session, thread});
  if (known == by_key_.end() || known->second->ticket != found.ticket) return;
  const Place place = known->second;
  if (place->live) {  // only the input of its turn was missing
    if (found.submitted) place->conversation->set_input(*found.submitted);
  } else {
    place->conversation = found.conversation;
    // A fact may have been added between the query and find(), before the entry existed. The next
    // query has it.
    place->live = place->noted && place->added <= up_to;
    place->noted = true;
  }
  measure(place);
}

Tools KeptConversations::tools(const SessionId& session, Sequence catalog) const {
  const std::lock_guard lock(mutex_);
  const auto found = catalogs_.find({session, catalog});
  return found == catalogs_.end() ? nullptr : found->second;
}

void KeptConversations::keep_tools(const SessionId& session, Sequence catalog, Tools tools) {
  const std::lock_guard lock(mutex_);
  put_tools(session, catalog, std::move(tools));
}

std::size_t KeptConversations::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

void KeptConversations::put_tools(const SessionId& session, Sequence catalog, Tools tools) {
  std::size_t bytes = 0;
  for (const ports::OfferedTool& tool : *tools)
    bytes += tool.description.size() + tool.input_schema.text.size();
  if (bytes > kCatalogBytesMax) return;
  if (catalogs_.size() >= kCatalogsMax) catalogs_.erase(catalogs_.begin());
  catalogs_[{session, catalog}] = std::move(tools);
}

KeptConversations::Place KeptConversations::put_first(Key key) {
  if (const auto before = by_key_.find(key); before != by_key_.end()) drop(before->second);
  kept_.push_front({.key = std::move(key), .conversation = {}, .ticket = ++tickets_});
  by_key_[kept_.front().key] = kept_.begin();
  return kept_.begin();
}

void KeptConversations::measure(Place place) {
  bytes_ -= place->bytes;
  place->bytes = kEntryBytes + (place->conversation ? place->conversation->bytes() : 0);
  bytes_ += place->bytes;
  if (place->bytes > bytes_max_) return drop(place);  // one entry must not evict all others
  kept_.splice(kept_.begin(), kept_, place);
  while (bytes_ > bytes_max_) drop(std::prev(kept_.end()));
}

void KeptConversations::drop(Place place) {
  bytes_ -= place->bytes;
  by_key_.erase(place->key);
  kept_.erase(place);
}

}  // namespace agentrt::conversation
