// control/testing/given.h: runs decisions and examines the outcome. The history before the
// decision is a state::Given.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include "control/decide.h"
#include "schema/codec.h"
#include "state/testing/given.h"

namespace agentrt::control {

inline const Settings& usual_settings() {
  static const Settings settings{.default_cwd = "/w"};
  return settings;
}

inline Inputs inputs_at(Timestamp now) {
  return {.now = now,
          .ids = FreshIds{now, 7},
          .boot = state::kBoot,
          .settings = &usual_settings(),
          .session = state::kSession,
          .request = RequestId{"req_1"},
          .principal = "token tok_1",
          .trace = {},
          .params_hash = "hash_1",
          .named = {}};
}

inline schema::InputPart text_part(std::string text) {
  return {schema::InputKind::text, std::move(text), {}};
}
inline schema::InputPart file_part(std::string path) {
  return {schema::InputKind::file, {}, std::move(path)};
}

// The facts as the log will store them after `view`.
inline std::vector<schema::Fact> facts_of(const Decided& decision, Sequence after, Timestamp at) {
  std::vector<schema::Fact> out;
  if (const auto* accepted = std::get_if<Accepted>(&decision))
    for (const schema::Draft& draft : accepted->facts)
      out.push_back({++after, at, draft.ids, draft.payload});
  return out;
}

struct Outcome {
  Decided decision;
  std::vector<schema::Fact> facts;
  state::Session after;  // the view with the facts folded in

  // The outcome in short: "turn.failed task.cancelled", "unchanged", or "refused: CODE".
  std::string shape() const {
    if (const auto* error = std::get_if<Error>(&decision))
      return "refused: " + std::string(code_name(error->code));
    if (facts.empty()) return "unchanged";
    std::string out;
    for (const schema::Fact& fact : facts) {
      if (!out.empty()) out += ' ';
      out += schema::type_of(fact.payload);
    }
    return out;
  }
  const std::string& reply_text() const {
    if (const auto* unchanged = std::get_if<Unchanged>(&decision)) return unchanged->reply;
    return std::get<Accepted>(decision).reply;
  }
  template <class R>
  R reply() const {
    R out;
    const auto read = schema::from_json(reply_text(), out, schema::Unknown::refuse);
    check(read.has_value(), "a reply is an object of its type");
    return out;
  }
  const Error& refusal() const { return std::get<Error>(decision); }

  // The first fact of this type. Throws if there is none, which fails the test.
  template <class P>
  const schema::Fact& fact_of() const {
    for (const schema::Fact& fact : facts)
      if (std::holds_alternative<P>(fact.payload)) return fact;
    throw std::out_of_range("no " + std::string(P::kType) + " among: " + shape());
  }
  template <class P>
  const P& payload_of() const {
    return std::get<P>(fact_of<P>().payload);
  }
  template <class P>
  std::vector<P> all_of() const {
    std::vector<P> out;
    for (const schema::Fact& fact : facts)
      if (const auto* payload = std::get_if<P>(&fact.payload)) out.push_back(*payload);
    return out;
  }
  const state::Thread& thread(const ThreadId& id = state::kThread) const {
    return after.threads.at(id);
  }
};

template <class What>
Outcome when(const state::Session& view, const What& what, Inputs inputs) {
  Outcome out{decide(view, what, inputs), {}, view};
  out.facts = facts_of(out.decision, view.sequence, inputs.now);
  for (const schema::Fact& fact : out.facts) state::fold(out.after, fact);
  return out;
}
template <class What>
Outcome when(const state::Given& past, const What& what) {
  return when(past.view(), what, inputs_at(past.now()));
}

inline std::vector<std::string> names_of(const std::vector<state::Turn>& queue) {
  std::vector<std::string> out;
  for (const state::Turn& turn : queue) out.push_back(turn.ids.turn.text());
  return out;
}

}  // namespace agentrt::control
