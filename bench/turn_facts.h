// bench/turn_facts.h: the facts of plain turns with twenty text fragments each, for benchmarks.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "schema/envelope.h"

namespace agentrt::bench {

inline constexpr int kFragments = 20;
inline constexpr std::size_t kFactsPerTurn = 18 + kFragments;

// Adds the facts of turn `number`.
inline void add_turn(std::vector<schema::Draft>& out, const SessionId& session, int number) {
  using namespace schema;
  const TurnIds ids{ThreadId{"thread_main"},
                    TurnId{fmt::format("turn_{:026}", number)},
                    TaskId{fmt::format("task_{:026}", number)},
                    RunId{fmt::format("run_{:026}", number)},
                    AttemptId{fmt::format("attempt_{:026}", number)},
                    TraceId{fmt::format("{:032x}", number)}};
  const TurnScope turn(session, ids);
  const ModelScope call(turn, ModelRequestId{fmt::format("mreq_{:026}", number)});
  const StepScope step(turn, StepId{fmt::format("step_{:026}", number)});
  TurnSubmitted submitted;
  submitted.input = {{InputKind::text, "What is the answer to this question?", {}}};
  submitted.source = "user";
  out.emplace_back(turn, TaskCreated{});
  out.emplace_back(turn, submitted);
  out.emplace_back(turn, TaskStarted{});
  out.emplace_back(turn, TaskAttemptStarted{});
  out.emplace_back(turn, TurnStarted{});
  out.emplace_back(turn, RunStatus{Status::preparing, "preparing", "Preparing", {}, {}});
  out.emplace_back(turn, ContextResolved{});
  out.emplace_back(turn, ToolCatalogResolved{});
  out.emplace_back(turn, TaskProfileResolved{});
  out.emplace_back(turn, RoutingCandidatesResolved{});
  out.emplace_back(turn, RoutingSingleCandidate{});
  out.emplace_back(call, ModelRequested{"script", "main", "main", "log:1", 1, BootId{"boot_1"}});
  out.emplace_back(step, ItemStarted{});
  for (int i = 0; i < kFragments; ++i)
    out.emplace_back(call, ModelDelta{"some words of an answer, and then "});
  out.emplace_back(call, ModelCompleted{});
  out.emplace_back(step, ItemCompleted{});
  out.emplace_back(turn, TurnCompleted{});
  out.emplace_back(turn, TaskAttemptCompleted{});
  out.emplace_back(turn, TaskCompleted{});
}

// A session with so many turns, as stored.
inline std::vector<schema::StoredEvent> stored_turns(int turns) {
  using namespace schema;
  const SessionId session{"sess_00000000000000000000000001"};
  std::vector<Draft> drafts;
  drafts.emplace_back(SessionScope(session), SessionCreated{});
  drafts.emplace_back(ThreadScope(session, ThreadId{"thread_main"}), ThreadStarted{});
  for (int i = 0; i < turns; ++i) add_turn(drafts, session, i);
  std::vector<StoredEvent> out;
  out.reserve(drafts.size());
  for (const Draft& draft : drafts)
    out.push_back(encode(draft, out.size() + 1, Timestamp{1'780'000'000'000}, RuntimeId{"rt_1"}));
  return out;
}

}  // namespace agentrt::bench
