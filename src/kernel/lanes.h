// kernel/lanes.h: one sequential lane per session.
//
// A lane owns its session's view. It processes its queue in order: decides, folds, and hands the
// facts to the committer as one append. While the append is in flight, the view is ahead of the
// log; only the engine sees it, to start effects that can be taken back. After the append is
// stored, replies are sent, facts are published and the engine is notified. So between commits the
// view equals the log. A read waits in the queue like a command, so a client that has a reply sees
// its effect.
//
// If an append fails, the view is discarded and loaded again. Commands get the error. Reports stay
// at the head of the lane and are retried with a growing delay; until they are stored, reads are
// answered ahead of them from the log. An error that a retry cannot resolve (damage) blocks the
// session: its reports are dropped and its commands refused until the next start.
//
// Idle objects are not in the view but in index rows. What a decision needs of them is read when
// its command or report is first in the queue (control::Needs), so it includes every earlier
// decision. Meanwhile the lane waits; the core does not. Records of tasks stay in memory while they
// are of use, and the facts of a batch change them at once. Core only.
#pragma once

#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <variant>

#include "control/decide.h"
#include "conversation/history/kept_conversations.h"
#include "kernel/committer.h"
#include "kernel/limits.h"
#include "kernel/loader.h"
#include "kernel/task_clock.h"
#include "kernel/task_reads.h"
#include "policy/redaction.h"
#include "ports/control_plane.h"
#include "ports/file_digests.h"
#include "ports/loop.h"
#include "ports/metrics.h"

namespace agentrt::kernel {

// The three kinds of work that wait on a lane. First: a command, with what admission has looked up
// for its decision.
struct CommandWork {
  schema::Command command;
  ports::Caller caller;
  std::string params_hash;
  control::Named named;
  ports::ReplyTo reply_to;
  std::optional<Timestamp> wait_until;  // of a claim_task that waits for a free task
};
// The outcome of an effect, to be recorded.
struct ReportWork {
  schema::Report report;
  ports::Step taken;  // runs when the report is stored, irrelevant or dropped; may be empty
  // If set, a caller waits: a failed append is reported to it and not retried.
  ports::ReplyTo reply_to;
  RequestId request;
};
// A read of the view. It gets the error if the session cannot be loaded.
struct ReadWork {
  std::move_only_function<void(Result<const state::Session*>)> read;
  bool after_reports = false;  // wait even if reports ahead of it cannot be stored for a while
  // The lane waits until release(), so that rows that the read takes from the store are as of the
  // view. The reader calls release() once, also if it got an error.
  bool holds = false;
};
using Work = std::variant<CommandWork, ReportWork, ReadWork>;

// Callbacks about sessions, on the core. Each may be empty.
struct Observers {
  // A commit is in flight that will result in this view; facts up to the sequence are stored. It
  // may fail, so effects started for it must be invisible and reversible.
  std::function<void(const state::Session&, Sequence)> begun;
  // The commit has succeeded with this view. Also called when a loaded session has background
  // processes or jobs or waits for a user, because no commit may follow.
  std::function<void(const state::Session&)> committed;
  // The commit has failed.
  std::function<void(const SessionId&)> failed;
  // The session's facts can no longer be stored, and its reports are dropped: end its effects.
  // Called once per session.
  std::function<void(const SessionId&, const Error&)> blocked;
  // Called for each command of a successful commit, before its reply.
  std::function<void(const schema::Command&)> accepted;
  // Called for each task whose record a successful commit has changed.
  std::function<void(const state::Task&)> task_stored;
};

// Whether the same access to the store may succeed later: the disk or its connections were
// unavailable. Damage (`internal`) is permanent.
bool may_pass(const Error& error);

class Lanes {
 public:
  struct Parts {
    store::Store& store;
    ports::Loop& loop;
    ports::Worker& readers;
    ports::Entropy& entropy;
    ports::Metrics& metrics;
    Committer& committer;
    const control::Settings& settings;
    const Limits& limits;
    const policy::Redactor* redactor;  // may be null
    BootId boot;
    conversation::KeptConversations& conversations;
    const Observers& observers;
    TaskClock& clock;
    ports::FileDigests* file_digests;                      // may be null
    std::function<void(const ports::FeedBatch&)> publish;  // the facts of each commit
  };

  explicit Lanes(Parts parts);
  ~Lanes();

  // Puts work on the session's lane. A command on a full lane is answered `overloaded`.
  void put(const SessionId& session, Work work);
  // Puts a read ahead of the other work. From the reply to a command, so that the read sees the
  // session as the command left it.
  void put_next(const SessionId& session, ReadWork read);
  // Ends a read that holds the lane.
  void release(const SessionId& session);
  // Loads the session, which closes what an earlier boot left open, and then runs `done`.
  void recover(const SessionId& session, ports::Step done);

  // Call before the first command.
  void set_file_digests(ports::FileDigests& files) { parts_.file_digests = &files; }

  FreshIds fresh_ids() { return {parts_.loop.now(), parts_.entropy.draw()}; }

 private:
  struct Lane;
  struct Batch;

  Lane& lane_of(const SessionId& session);
  void advance(Lane& lane);
  // Whether the records in memory are enough for the decision about the first work.
  static bool has_needs(const Lane& lane, const control::Needs& needs);
  void read_needs(Lane& lane, control::Needs needs);
  void have_read(Lane& lane, Result<Gathered> gathered);
  void keep_tasks(Lane& lane, std::vector<state::Task> tasks);
  void drop_tasks(Lane& lane);
  // Whether the claim waits for a free task now.
  bool park(Lane& lane, CommandWork& work, const control::Decided& decision);
  void parked_until(const SessionId& session, std::uint64_t number);
  void unpark(Lane& lane);
  void load(Lane& lane);
  void loaded(Lane& lane, Result<Loaded> result);
  void load_failed(Lane& lane, const Error& error);
  static bool waits_to_restart(const Lane& lane);
  bool serve_reads(Lane& lane);
  // Decides the work. Reads the clock once: `now` decides and stamps the facts.
  void take(Lane& lane, Batch& batch, Work work);
  void settle(Lane& lane, Batch& batch, control::Decided decision, Work work, Timestamp now);
  void append_facts(Lane& lane, Batch& batch, std::vector<schema::Draft> facts, Timestamp now);
  void add_snapshot(Lane& lane, Batch& batch);
  void commit(Lane& lane, std::unique_ptr<Batch> batch);
  void committed(Lane& lane, Batch& batch, store::Position first, store::Append append);
  void publish(store::Position first, std::vector<schema::StoredEvent> stored);
  void failed(Lane& lane, Batch& batch, const Error& error);
  void commit_repair(Lane& lane);
  void block(Lane& lane, const Error& error);
  void hold(Lane& lane);
  void rest(Lane& lane);
  control::Inputs inputs(const Lane& lane, Timestamp now);

  Parts parts_;
  std::unordered_map<SessionId, std::unique_ptr<Lane>> lanes_;
  std::list<Lane*> idle_;               // ready lanes without work, longest idle first
  std::map<SessionId, Error> blocked_;  // with the error that blocked them
  std::uint64_t holds_ = 0;             // number of the newest retry timer
  std::uint64_t parked_ = 0;            // number of the newest claim that waits
};

}  // namespace agentrt::kernel
