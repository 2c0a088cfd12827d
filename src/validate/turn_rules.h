// validate/turn_rules.h: rules for sessions, threads, turns and queues.
#pragma once

#include "schema/provisional.h"
#include "validate/rule_context.h"

namespace agentrt::validate {

inline constexpr std::size_t kTasksOfTurn = 64;     // tracked per turn
inline constexpr std::size_t kQueueJudged = 4'096;  // longer queues are not checked

enum class TurnState { submitted, queued, running, ended };

struct JudgedTurn {
  std::string id;
  Key thread = 0;
  TurnState state = TurnState::submitted;
  bool waits = false;                  // it is in the queue
  bool told = false;                   // a status was published
  Key task = 0, run = 0, attempt = 0;  // 0: not known yet
  std::vector<Key> further_tasks;      // created by the turn while it ran
};

class TurnRules {
 public:
  explicit TurnRules(RuleContext& hearing) : hearing_(hearing) {}

  void any();
  void operator()(const schema::SessionCreated& p);
  void operator()(const schema::ThreadStarted& p);
  void operator()(const schema::TurnSubmitted& p);
  void operator()(const schema::TurnStarted& p);
  void operator()(const schema::TurnCompleted& p);
  void operator()(const schema::TurnFailed& p);
  void operator()(const schema::RunStatus& p);
  void operator()(const schema::QueueChanged& p);

  // nullptr if the turn is unknown or the event names none.
  const JudgedTurn* turn_of_event() const;
  const JudgedTurn* find(std::string_view id) const { return turns_.find(hearing_.key(id)); }
  std::uint64_t unfinished() const { return turns_.open(); }
  std::uint64_t sessions() const { return sessions_seen_; }

 private:
  struct Session {
    bool known = false;
  };
  struct Thread {
    bool known = false;
    std::string running;     // the running turn; empty: none
    std::vector<Key> queue;  // in order
  };

  void session_first();
  void thread_first();
  void turn_first();
  void further_task();
  void stable(JudgedTurn& turn);
  void work(JudgedTurn& turn);
  void ended();
  // Returns false if the turn cannot be added.
  bool added(const schema::QueueChanged& p, Thread& thread, JudgedTurn* turn, Key key);
  void left(const schema::QueueChanged& p, Thread& thread, JudgedTurn* turn, Key key);
  void count(const schema::QueueChanged& p, const Thread& thread);
  Thread& thread() { return threads_.at(hearing_.key(hearing_.head().thread_id)); }

  RuleContext& hearing_;
  Table<Session> sessions_;
  Table<Thread> threads_;
  Table<JudgedTurn> turns_;
  std::uint64_t sessions_seen_ = 0;
};

}  // namespace agentrt::validate
