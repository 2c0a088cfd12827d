#include "validate/history_rules.h"

#include <algorithm>
#include <charconv>

namespace agentrt::validate {

using namespace schema;

namespace {

struct LogRef {
  Sequence first = 0, last = 0;
};

std::optional<Sequence> number_of(std::string_view text) {
  Sequence number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Parses log:N or log:FIRST-LAST; nullopt for a ref of another kind.
std::optional<LogRef> read_log_ref(std::string_view ref) {
  constexpr std::string_view kPrefix = "log:";
  if (!ref.starts_with(kPrefix)) return std::nullopt;
  ref.remove_prefix(kPrefix.size());
  const std::size_t dash = ref.find('-');
  const auto first = number_of(ref.substr(0, dash));
  const auto last = dash == ref.npos ? first : number_of(ref.substr(dash + 1));
  if (!first || !last) return std::nullopt;
  return LogRef{*first, *last};
}

}  // namespace

void HistoryRules::operator()(const CompactionStarted&) {
  bool& compacting = compacting_.at(hearing_.key(hearing_.head().turn_id));
  if (compacting)
    hearing_.fail("compaction.order", "a compaction of the turn is already in progress");
  compacting = true;
}

void HistoryRules::compaction_ends() {
  const Key key = hearing_.key(hearing_.head().turn_id);
  bool* compacting = compacting_.find(key);
  if ((!compacting || !*compacting) && !hearing_.excuses(compacting_))
    hearing_.fail("compaction.order", "a compaction ends that was not started");
  if (!compacting) return;
  *compacting = false;
  compacting_.end(key);
}

void HistoryRules::operator()(const CompactionCompleted& p) {
  compaction_ends();
  const auto kept = p.preserved_action_ids.value_or(std::vector<ActionId>{});
  for (const std::string& open : calls_.open_actions())
    if (std::ranges::find(kept, open, &ActionId::text) == kept.end())
      hearing_.fail("compaction.keeps",
                    fmt::format("action {} is open but not listed as kept", open));
}

void HistoryRules::operator()(const CompactionFailed&) { compaction_ends(); }

void HistoryRules::operator()(const RollbackStarted& p) {
  Rollback& rollback = rolling_back_.at(hearing_.key(hearing_.head().thread_id));
  if (rollback.under_way)
    hearing_.fail("rollback.order", "a rollback of the thread is already in progress");
  rollback = {true, p.target_turn_id.text()};
}

void HistoryRules::operator()(const RollbackCompleted& p) {
  Rollback& rollback = rolling_back_.at(hearing_.key(hearing_.head().thread_id));
  if (!rollback.under_way && !hearing_.excuses(rolling_back_))
    hearing_.fail("rollback.order", "a rollback ends that was not started");
  const std::string& target = p.target_turn_id.text();
  if (rollback.under_way && rollback.target != target)
    hearing_.fail("rollback.order", fmt::format("a rollback to turn {} ends as one to turn {}",
                                                rollback.target, target));
  rollback = {};
  kept(p);
  for (const TurnId& removed : p.removed_turns.value_or(std::vector<TurnId>{})) {
    const JudgedTurn* turn = turns_.find(removed.text());
    if (turn && turn->state != TurnState::ended)
      hearing_.fail("rollback.keeps",
                    fmt::format("turn {} is removed while it is open", removed.text()));
    if (removed == p.target_turn_id)
      hearing_.fail("rollback.keeps", fmt::format("turn {} is removed and kept", target));
  }
  const auto cancelled = p.cancelled_action_ids.value_or(std::vector<ActionId>{});
  for (const std::string& open : calls_.open_actions())
    if (std::ranges::find(cancelled, open, &ActionId::text) == cancelled.end())
      hearing_.fail("rollback.keeps",
                    fmt::format("action {} is open but not listed as cancelled", open));
}

// The target, up to which the conversation is kept.
void HistoryRules::kept(const RollbackCompleted& p) {
  const std::string& target = p.target_turn_id.text();
  const JudgedTurn* turn = turns_.find(target);
  if (turn && turn->state != TurnState::ended)
    hearing_.fail("rollback.keeps", fmt::format("turn {} is kept and has not ended", target));
  if (turn && turn->thread != hearing_.key(hearing_.head().thread_id))
    hearing_.fail("rollback.keeps", fmt::format("turn {} is of another thread", target));
  const auto own = hearing_.head().sequence;
  if (own && p.baseline_sequence && *p.baseline_sequence >= *own)
    hearing_.fail("rollback.keeps",
                  fmt::format("baseline {} is not before event {}", *p.baseline_sequence, *own));
}

void HistoryRules::as_of(Sequence sequence) {
  const auto own = hearing_.head().sequence;
  if (own && hearing_.has("asOfSequence") && sequence >= *own)
    hearing_.fail(
        "snapshot.as_of",
        fmt::format("event {} refers to sequence {}, which is not before it", *own, sequence));
}

void HistoryRules::operator()(const SnapshotUpdated& p) { as_of(p.as_of_sequence); }
void HistoryRules::operator()(const SnapshotRepaired& p) { as_of(p.as_of_sequence); }
void HistoryRules::operator()(const HistoryReconstructed& p) { as_of(p.as_of_sequence); }

void HistoryRules::operator()(const HistoryWindowLoaded& p) {
  const auto own = hearing_.head().sequence;
  if (!own || !hearing_.has("toSequence")) return;
  if (p.from_sequence > p.to_sequence || p.to_sequence >= *own)
    hearing_.fail("snapshot.as_of",
                  fmt::format("history window {} to {} at event {} is not in the past",
                              p.from_sequence, p.to_sequence, *own));
}

void HistoryRules::log_ref(std::string_view ref) {
  const auto read = read_log_ref(ref);
  const auto own = hearing_.head().sequence;
  if (!read || !own) return;
  if (read->last >= *own)
    hearing_.fail("refs.log", fmt::format("{} points to an event that does not exist yet", ref));
  else if (read->first == 0 || read->first > read->last)
    hearing_.fail("refs.log", fmt::format("{} points to no event", ref));
}

void HistoryRules::operator()(const ModelRequested& p) { log_ref(p.request_ref); }
void HistoryRules::operator()(const ModelCompleted& p) { log_ref(p.output_ref.value_or("")); }
void HistoryRules::operator()(const ItemCompleted& p) { log_ref(p.output_ref.value_or("")); }
void HistoryRules::operator()(const ToolResult& p) { log_ref(p.output_ref.value_or("")); }

void HistoryRules::operator()(const TurnStarted&) {
  const Rollback* rollback = rolling_back_.find(hearing_.key(hearing_.head().thread_id));
  if (rollback && rollback->under_way)
    hearing_.fail("rollback.order", "a turn starts while a rollback of its thread is in progress");
}

void HistoryRules::operator()(const TurnCompleted&) { turn_ended(); }
void HistoryRules::operator()(const TurnFailed&) { turn_ended(); }

void HistoryRules::turn_ended() {
  const Key key = hearing_.key(hearing_.head().turn_id);
  bool* compacting = compacting_.find(key);
  if (!compacting || !*compacting) return;
  hearing_.fail("compaction.order", "the turn ends while its compaction is in progress");
  *compacting = false;
  compacting_.end(key);
}

void HistoryRules::operator()(const EvidenceChanged& p) {
  static constexpr std::string_view kWords[] = {"exported", "not_applicable", "unsupported",
                                                "not_recorded", "missing_correlation"};
  for (const Misfit& misfit : hearing_.event.met_payload.misfits)
    if (misfit.member == "signals")
      hearing_.fail("evidence.signals", fmt::format("signals{}", misfit.what));
  if (!p.signals) return;
  for (const auto& [signal, word] : *p.signals)
    if (std::ranges::find(kWords, word) == std::end(kWords))
      hearing_.fail("evidence.signals", fmt::format("{} has the unknown state {}", signal, word));
}

}  // namespace agentrt::validate
