// state/testing/given.h: builds short histories of facts.
//
// A Given is a log under construction. Each member function adds the facts of one occurrence, in
// the order in which decisions write them, and folds them into the view. The turn named "1" has the
// ids turn_1, task_1, run_1 and attempt_1; its model request is mreq_1.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "state/session.h"

namespace agentrt::state {

inline const SessionId kSession{"sess_1"};
inline const ThreadId kThread{"thread_1"};
inline const BootId kBoot{"boot_1"};
inline constexpr Timestamp kStart{1'780'000'000'000};

inline schema::TurnIds turn_ids(const std::string& name, const ThreadId& thread = kThread) {
  return {thread,
          TurnId{"turn_" + name},
          TaskId{"task_" + name},
          RunId{"run_" + name},
          AttemptId{"attempt_" + name},
          TraceId{std::string(32 - name.size(), '0') + name}};
}

inline schema::TurnScope turn_scope(const std::string& name, const ThreadId& thread = kThread) {
  return {kSession, turn_ids(name, thread)};
}

inline ModelRequestId request_of(const std::string& name) { return ModelRequestId{"mreq_" + name}; }

inline schema::ModelScope model_scope(const std::string& name, const ThreadId& thread = kThread) {
  return {turn_scope(name, thread), request_of(name)};
}

inline schema::StepScope step_scope(const std::string& name, const ThreadId& thread = kThread) {
  return {turn_scope(name, thread), StepId{"step_" + name}};
}

class Given {
 public:
  Given() { view_.id = kSession; }

  const Session& view() const { return view_; }
  const Thread& thread(const ThreadId& id = kThread) const { return view_.threads.at(id); }
  const std::vector<schema::Fact>& log() const { return log_; }
  Timestamp now() const { return now_; }

  template <class P>
  Given& fact(const typename P::Scope& scope, P payload) {
    return add(schema::Draft{scope, std::move(payload)});
  }
  Given& add(schema::Draft draft) {
    log_.push_back({view_.sequence + 1, now_, std::move(draft.ids), std::move(draft.payload)});
    fold(view_, log_.back());
    return *this;
  }
  Given& wait(std::int64_t ms) {
    now_ = now_ + ms;
    return *this;
  }

  Given& session() {
    return fact(schema::SessionScope{kSession}, schema::SessionCreated{.cwd = "/w"});
  }
  Given& thread_started(const ThreadId& thread = kThread) {
    return fact(schema::ThreadScope{kSession, thread}, schema::ThreadStarted{});
  }

  Given& running(const std::string& name, const ThreadId& thread = kThread) {
    submitted(name, thread, schema::Status::accepted);
    return started(name, thread);
  }
  Given& queued(const std::string& name, const ThreadId& thread = kThread) {
    submitted(name, thread, schema::Status::queued);
    const std::uint64_t count = view_.threads.at(thread).queue.size();
    return fact(turn_scope(name, thread), schema::QueueChanged{.change = schema::QueueChange::added,
                                                               .turn_id = turn_ids(name).turn,
                                                               .position = count,
                                                               .count = count});
  }
  // The queued turn starts.
  Given& next(const std::string& name, const ThreadId& thread = kThread) {
    fact(turn_scope(name, thread), schema::QueueChanged{.change = schema::QueueChange::started,
                                                        .turn_id = turn_ids(name).turn});
    return started(name, thread);
  }
  // The turn is prepared, routed to the only model, and its request is sent.
  Given& asked(const std::string& name, const ThreadId& thread = kThread) {
    const auto scope = turn_scope(name, thread);
    fact(scope, schema::ContextResolved{.cwd = "/w"});
    fact(scope, schema::RoutingSingleCandidate{{.routing_mode = "single_candidate",
                                                .selected_provider = "script",
                                                .selected_model = "play.jsonl",
                                                .selected_name = "main",
                                                .candidate_count = 1}});
    return requested(name, thread);
  }
  Given& requested(const std::string& name, const ThreadId& thread = kThread) {
    return fact(model_scope(name, thread),
                schema::ModelRequested{.provider = "script",
                                       .model = "play.jsonl",
                                       .model_name = "main",
                                       .number = view_.threads.at(thread).active->requests + 1,
                                       .boot_id = kBoot});
  }
  // The model starts to answer: status streaming, with an open item step_NAME.
  Given& said(const std::string& name, const std::string& text, const ThreadId& thread = kThread) {
    if (!view_.threads.at(thread).active->message_item) {
      fact(turn_scope(name, thread),
           schema::RunStatus{.status = schema::Status::streaming, .phase = "model"});
      fact(step_scope(name, thread), schema::ItemStarted{});
    }
    return fact(model_scope(name, thread), schema::ModelDelta{text});
  }
  // The request failed; retry `number` follows in `after_ms` milliseconds.
  Given& retrying(const std::string& name, std::uint64_t number, std::int64_t after_ms,
                  const ThreadId& thread = kThread) {
    fact(model_scope(name, thread),
         schema::ModelFailed{.error = {schema::Category::rate_limited, "slow down", true},
                             .ended_by_provider = true,
                             .retry = schema::ModelRetry{number, after_ms, now_ + after_ms}});
    return fact(turn_scope(name, thread),
                schema::RunStatus{.status = schema::Status::retrying, .phase = "model"});
  }
  Given& completed(const std::string& name, const std::string& text = "done",
                   const ThreadId& thread = kThread) {
    fact(model_scope(name, thread), schema::ModelCompleted{.text = text, .usage = {7, 3}});
    fact(turn_scope(name, thread), schema::TaskAttemptCompleted{});
    fact(turn_scope(name, thread), schema::TurnCompleted{.usage = {7, 3}});
    return fact(turn_scope(name, thread), schema::TaskCompleted{});
  }
  Given& blocked(const std::string& name, const std::string& reason,
                 const ThreadId& thread = kThread) {
    const auto scope = turn_scope(name, thread);
    fact(scope, schema::TaskBlocked{.reason = reason, .resumable = true});
    fact(scope,
         schema::RunStatus{.status = schema::Status::blocked, .phase = reason, .resumable = true});
    return fact(scope, schema::ThreadUpdated{
                           .status = schema::Status::blocked, .reason = reason, .resumable = true});
  }

 private:
  void submitted(const std::string& name, const ThreadId& thread, schema::Status status) {
    fact(turn_scope(name, thread), schema::TaskCreated{.objective = "ask " + name});
    fact(turn_scope(name, thread),
         schema::TurnSubmitted{.status = status,
                               .input = {{schema::InputKind::text, "ask " + name, {}}},
                               .source = "user"});
  }
  Given& started(const std::string& name, const ThreadId& thread) {
    const auto scope = turn_scope(name, thread);
    fact(scope, schema::TaskStarted{});
    fact(scope, schema::TaskAttemptStarted{.boot_id = kBoot});
    fact(scope, schema::TurnStarted{.boot_id = kBoot});
    return fact(scope, schema::RunStatus{.status = schema::Status::preparing, .phase = "prepare"});
  }

  Session view_;
  std::vector<schema::Fact> log_;
  Timestamp now_ = kStart;
};

// A thread whose turn "1" waits for the model, with "2" and "3" queued.
inline Given busy_thread() {
  return Given{}.session().thread_started().running("1").asked("1").queued("2").queued("3");
}

}  // namespace agentrt::state
