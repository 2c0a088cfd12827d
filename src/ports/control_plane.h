// ports/control_plane.h: what a channel or the engine may ask of the kernel: to take a command, to
// take a report, and to show facts that are stored.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ports/authorized.h"
#include "ports/loop.h"
#include "schema/commands.h"
#include "schema/envelope.h"
#include "schema/reports.h"

namespace agentrt::ports {

// A reply's JSON object, or the refusal.
using Reply = Result<std::string>;
using ReplyTo = std::move_only_function<void(Reply)>;

class CommandSink {
 public:
  virtual ~CommandSink() = default;
  // Any thread. `reply_to` is called exactly once, on some other thread, after everything the reply
  // claims is stored.
  virtual void call(Authorized<schema::Command> command, ReplyTo reply_to) = 0;
};

class ReportSink {
 public:
  virtual ~ReportSink() = default;
  // Core only. A report is never refused for load; `taken` (may be empty) is called on the core
  // once it is stored or has become irrelevant.
  virtual void report(SessionId session, schema::Report report, Step taken) = 0;
};

// For reports whose sender waits for the reply, such as uploads.
class ClaimedReports {
 public:
  virtual ~ClaimedReports() = default;
  using Make = std::move_only_function<Result<schema::Report>()>;
  // Stores the report that `make` returns, and replies like a command. `make` runs on a worker and
  // may block; it runs only when no other report or command holds the same `claim`, so that what it
  // looks up stays true until its report is stored. Any thread.
  virtual void report_claimed(SessionId session, std::string claim, Make make, Caller caller,
                              ReplyTo reply_to) = 0;
};

// A place in the order of all sessions' facts: the store's position of a fact. 0 is the beginning.
using Position = std::uint64_t;

struct FeedEvent {
  Position position = 0;
  schema::StoredEvent event;
};
// Facts of one commit, in position order; immutable and shared by all who deliver them.
using FeedBatch = std::shared_ptr<const std::vector<FeedEvent>>;

// The type that stands in a stream over all sessions for a fact whose row is damaged. It is no
// fact: it is not stored and not in the catalogue.
inline constexpr std::string_view kDamagedEvent = "stream.damaged";

struct Page {
  std::vector<FeedEvent> events;
  bool more = false;        // facts after its last one were stored when it was read
  std::size_t damaged = 0;  // of the events, those that only say so: type kDamagedEvent
};
using PageTo = std::move_only_function<void(Result<Page>)>;

// What to read from the log, and how much at most.
struct PageQuery {
  std::optional<SessionId> session;  // absent: all sessions, by position
  std::uint64_t after = 0;           // a sequence, or a position where no session is named
  std::size_t events_max = 100;
  std::size_t bytes_max = 1 << 20;
  std::optional<GenerationId> generation;  // the one the caller believes in
};

class FactFeed {
 public:
  virtual ~FactFeed() = default;
  // Calls `listener` on the core's thread with each commit's facts, from now on, until replaced by
  // an empty one. It must not block.
  virtual void listen(std::function<void(const FeedBatch&)> listener) = 0;
  // Any thread; `page_to` is called once on a worker's thread. Errors: not_found (no such session),
  // gone (a sequence of the future, or another generation), internal (a damaged row, named).
  virtual void read(PageQuery query, PageTo page_to) = 0;
  // The store's identity for cursors; changes when a backup is restored.
  virtual const GenerationId& generation() const = 0;
};

}  // namespace agentrt::ports
