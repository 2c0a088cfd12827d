// kernel/lanes.h: one sequential lane a session.
//
// A lane owns its session's view. It takes what waits in order: decides, folds, and hands the facts
// to the committer as one append; while that is under way the view runs ahead of the log, and
// nobody but the engine is shown it, to begin what can be taken back. Only when the append is
// stored are replies given, facts published and the engine told so, so between commits the view is
// exactly what the log says. A read waits its turn
// like a command, so whoever reads after a reply sees its effect.
//
// When an append fails, the view is discarded and loaded again. Commands get the error; reports
// stay at the head of the lane and are retried with a growing delay, and until they are stored
// reads are answered ahead of them, from the log as it is. An error that retrying cannot resolve
// (damage) blocks the session: its reports are dropped and its commands refused until the next
// start. Core only.
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
#include "conversation/history/kept_history.h"
#include "kernel/committer.h"
#include "kernel/limits.h"
#include "kernel/loader.h"
#include "policy/redaction.h"
#include "ports/control_plane.h"
#include "ports/loop.h"
#include "ports/metrics.h"

namespace agentrt::kernel {

struct CommandWork {
  schema::Command command;
  ports::Caller caller;
  std::string params_hash;
  control::Named named;
  ports::ReplyTo reply_to;
};
struct ReportWork {
  schema::Report report;
  ports::Step taken;  // may be empty
  // Set when somebody waits for an answer: then a failed append is answered, not tried again.
  ports::ReplyTo reply_to;
  RequestId request;
};
struct ReadWork {
  std::move_only_function<void(Result<const state::Session*>)> read;
  bool after_reports = false;  // also when reports ahead of it cannot be stored for a while
};
using Work = std::variant<CommandWork, ReportWork, ReadWork>;

// Who is told, on the core, what becomes of a session. Any may be empty.
struct Observers {
  // A commit has just begun, and will leave this view; up to that sequence its facts are stored. It
  // may fail: what is done for it must be such that nobody sees it and it can be taken back.
  std::function<void(const state::Session&, Sequence)> begun;
  // It has left this view. Also when a session with processes in the background was loaded, or one
  // that waits for a person: nothing else may ever happen in it.
  std::function<void(const state::Session&)> committed;
  // It failed.
  std::function<void(const SessionId&)> failed;
  // No append of the session can be stored any more, once per session: its reports are dropped, so
  // whatever it runs must end.
  std::function<void(const SessionId&, const Error&)> blocked;
  // Each command that a commit stored, before it is answered.
  std::function<void(const schema::Command&)> accepted;
};

// True for a read that may go well later: the disk or its connections were not to be had. A damaged
// log is `internal` and stays so.
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
    conversation::KeptHistory& history;
    const Observers& observers;
    std::function<void(const ports::FeedBatch&)> publish;  // the facts of each commit
  };

  explicit Lanes(Parts parts);
  ~Lanes();

  // Puts work on the session's lane. A command on a full lane is answered `overloaded`.
  void put(const SessionId& session, Work work);
  // Loads the session, which closes what an earlier boot left open, and then runs `done`.
  void recover(const SessionId& session, ports::Step done);

  FreshIds fresh_ids() { return {parts_.loop.now(), parts_.entropy.draw()}; }

 private:
  struct Lane;
  struct Batch;

  Lane& lane_of(const SessionId& session);
  void advance(Lane& lane);
  void load(Lane& lane);
  void loaded(Lane& lane, Result<Loaded> result);
  void load_failed(Lane& lane, const Error& error);
  static bool waits_to_restart(const Lane& lane);
  bool serve_reads(Lane& lane);
  // Decides the work. Reads the clock once: `now` decides and stamps the facts.
  void take(Lane& lane, Batch& batch, Work work);
  void settle(Lane& lane, Batch& batch, control::Decision decision, Work work, Timestamp now);
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
  std::list<Lane*> idle_;  // ready lanes without work, longest idle first
  std::map<SessionId, Error> blocked_;
  std::uint64_t holds_ = 0;  // number of the newest retry timer
};

}  // namespace agentrt::kernel
