// ports/control_plane.h: the kernel's interfaces for channels and the engine: send a command, send
// a report, read stored facts.
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
  // Core only. A report is never refused because of load. `taken` (may be empty) is called on the
  // core when the report is stored or has become irrelevant.
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
// The facts of one commit, in position order. Immutable and shared by all subscribers.
using FeedBatch = std::shared_ptr<const std::vector<FeedEvent>>;

// The event type that replaces a damaged fact in a stream over all sessions. It is not a fact: it
// is neither stored nor in the catalogue.
inline constexpr std::string_view kDamagedEvent = "stream.damaged";

struct Page {
  std::vector<FeedEvent> events;
  bool more = false;        // there were later facts at the time of the read
  std::size_t damaged = 0;  // number of events of type kDamagedEvent
  // The sequence or position that the read reached. Beyond the last event if a filter left later
  // facts out.
  std::uint64_t reached = 0;
};
using PageTo = std::move_only_function<void(Result<Page>)>;

// Selects a page of the log.
struct PageQuery {
  std::optional<SessionId> session;  // nullopt: all sessions, by position
  std::uint64_t after = 0;           // a sequence; without a session, a position
  std::size_t events_max = 100;
  std::size_t bytes_max = 1 << 20;
  std::optional<GenerationId> generation;  // the generation that the caller expects
  std::vector<std::string> types = {};     // only events of these types; empty: all
  bool from_end = false;  // ignores `after`: an empty page whose `reached` is the end of the log
};

class FactFeed {
 public:
  virtual ~FactFeed() = default;
  // Calls `listener` on the core with the facts of each new commit, until it is replaced by an
  // empty one. It must not block.
  virtual void listen(std::function<void(const FeedBatch&)> listener) = 0;
  // Any thread; `page_to` is called once, on a worker thread. Errors: not_found: no such session;
  // gone: `after` is in the future, or the generation differs; internal: a damaged row, with its
  // location.
  virtual void read(PageQuery query, PageTo page_to) = 0;
  // Identifies the store's history, for cursors. Changes when a backup is restored.
  virtual const GenerationId& generation() const = 0;
};

}  // namespace agentrt::ports
