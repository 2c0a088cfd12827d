#include "sim/model_checks.h"

#include <fmt/format.h>

#include "kernel/loader.h"
#include "kernel/models/models.h"
#include "state/index.h"
#include "store/memory/memory_store.h"

namespace agentrt::sim {
namespace {

using namespace schema;

// Its policies follow files, which are no part of the log.
constexpr std::string_view kOfFiles = "tool_inventory_snapshot";

Violation differs(const std::string& model, const SessionId& session, Sequence sequence,
                  std::string_view how, const std::string& was, const std::string& is) {
  return {std::string(invariant::kModels), fmt::format("{} of {} at {} {} is {} and was {}", model,
                                                       session.text(), sequence, how, is, was)};
}

// A store with the first `count` facts of the log, and the rows that follow from them.
store::MemoryStore prefix_of(store::Store& store, const Log& log, Sequence count) {
  store::MemoryStore out{std::make_shared<store::MemoryDisk>(
      store::Identity{store.runtime(), store.generation(), store.hash_key()})};
  store::Append append;
  append.session = log.front().session;
  append.events.assign(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(count));
  check(out.commit(std::span(&append, 1)).front().has_value(), "a copy of a log is a log");
  check(kernel::rebuild_index(out, append.session).has_value(), "rows follow from facts");
  return out;
}

// The view after `last` facts: from a snapshot after `first` of them, and the facts after it.
state::Session view_of(const Log& log, Sequence first, Sequence last) {
  state::Session view;
  view.id = log.front().session;
  for (const StoredEvent& event : log) {
    if (event.sequence > last) break;
    state::fold(view, *decode(event));
    if (event.sequence != first) continue;
    const std::string snapshot = to_json(view);
    view = state::Session{};
    check(from_json(snapshot, view, Unknown::ignore).has_value(), "a snapshot can be read");
  }
  return view;
}

}  // namespace

ModelSamples::Models ModelSamples::read(store::Store& store, const state::Session& view) const {
  Models out;
  for (const std::string_view name : kReadModelNames) {
    if (name == kOfFiles) continue;
    GetReadModel query;
    query.name = name;
    if (!view.threads.empty() && kernel::models::wrong_query(query))
      query.thread_id = view.threads.begin()->first;
    if (kernel::models::wrong_query(query)) continue;
    const auto model = kernel::models::read_model({.store = store,
                                                   .view = view,
                                                   .thread = query.thread_id,
                                                   .boot = {},
                                                   .settings = settings_,
                                                   .policies = nullptr,
                                                   .limits = limits_},
                                                  name);
    out[query.name] = {query.thread_id, model ? *model : "error: " + model.error().message};
  }
  return out;
}

void ModelSamples::offer(store::Store& store, const state::Session& view) {
  if (samples_.size() >= kModelSamplesMax) return;
  const Sequence last = samples_.empty() ? 0 : samples_.back().sequence;
  if (view.sequence < last + kModelSampleEvery) return;
  samples_.push_back({view.sequence, read(store, view)});
}

Checked ModelSamples::check(store::Store& store, const Log& log) const {
  for (const Sample& sample : samples_) {
    if (sample.sequence > log.size()) continue;  // a power cut has taken it back
    store::MemoryStore offline = prefix_of(store, log, sample.sequence);
    const Models folded = read(offline, view_of(log, 0, sample.sequence));
    const Models loaded = read(offline, view_of(log, sample.sequence / 2, sample.sequence));
    for (const auto& [name, was] : sample.models) {
      const SessionId& session = log.front().session;
      const std::string& from_log = folded.at(name).json;
      const std::string& from_snapshot = loaded.at(name).json;
      if (from_log != was.json)
        return differs(name, session, sample.sequence, "from the log", was.json, from_log);
      if (from_snapshot != was.json)
        return differs(name, session, sample.sequence, "from a snapshot", was.json, from_snapshot);
    }
  }
  return std::nullopt;
}

Checked ModelSamples::check_past(const SessionId& session, Sequence head, const Ask& ask) const {
  for (const Sample& sample : samples_) {
    if (sample.sequence > head) continue;  // a power cut has taken it back
    for (const auto& [name, was] : sample.models) {
      GetReadModel query;
      query.session_id = session;
      query.name = name;
      query.thread_id = was.thread;
      query.at_sequence = sample.sequence;
      const ports::Reply reply = ask("get_read_model", to_json(query));
      const std::string is = reply ? *reply : "error: " + reply.error().message;
      if (is == was.json) continue;
      return Violation{std::string(invariant::kPast),
                       fmt::format("{} of {} at {} reads as {} and was {}", name, session.text(),
                                   sample.sequence, is, was.json)};
    }
  }
  return std::nullopt;
}

}  // namespace agentrt::sim
