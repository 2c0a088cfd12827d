// cli/sessions/transcript.h: the conversation of a session, built from its events and rendered as
// text, Markdown or JSON. Pure.
//
// Events are taken in order. A turn is complete when it has ended; the turns come out in the order
// in which they were submitted. Tool calls are folded to one line each.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cli/views/call_view.h"
#include "cli/views/envelope.h"

namespace agentrt::cli {

struct TranscriptCall {
  ToolCallId tool_call_id;
  std::string name;
  schema::Json args{"{}"};
  std::string outcome = "open";  // open, completed, failed, not_made
  std::optional<std::int64_t> exit_code;
  std::optional<std::int64_t> duration_ms;
  std::optional<std::string> result;  // its beginning
  std::optional<std::string> error;
  std::optional<schema::FileChange> change;
  bool outside_sandbox = false;
  Execution execution{};  // not part of the JSON
};
BOOST_DESCRIBE_STRUCT(TranscriptCall, (),
                      (tool_call_id, name, args, outcome, exit_code, duration_ms, result, error,
                       change, outside_sandbox))

// One answer of the model.
struct TranscriptMessage {
  ModelRequestId model_request_id;
  std::string text;
  std::vector<TranscriptCall> tool_calls;
};
BOOST_DESCRIBE_STRUCT(TranscriptMessage, (), (model_request_id, text, tool_calls))

struct TranscriptTurn {
  ThreadId thread_id;
  TurnId turn_id;
  Timestamp submitted_at;
  std::string status = "open";  // open, completed, failed, cancelled, timed_out
  std::optional<std::string> model;
  std::vector<schema::InputPart> input;
  std::vector<TranscriptMessage> messages;
  std::optional<std::string> error;
  std::optional<schema::Usage> usage;
  std::optional<bool> removed = {};  // by a rollback
};
BOOST_DESCRIBE_STRUCT(TranscriptTurn, (),
                      (thread_id, turn_id, submitted_at, status, model, input, messages, error,
                       usage, removed))

class Transcript {
 public:
  // The events that take() uses.
  static std::vector<std::string> types();

  // A history.rollback.completed. Call it for all of them before the first take().
  void know_rollback(const Envelope& event);
  void take(const Envelope& event);
  // The text of a message that is too long for its event: an output, or (in older logs) the deltas
  // of this range of the log.
  struct Range {
    ModelRequestId request;
    Sequence first = 0, last = 0;
    std::string output_ref = {};  // empty: it is in the log
  };
  std::optional<Range> take_range();
  void put_text(const ModelRequestId& request, std::string text);

  // Turns that have ended and that no unfinished one precedes; each is returned once.
  std::vector<TranscriptTurn> take_ended();
  // All others.
  std::vector<TranscriptTurn> take_rest();

 private:
  // The facts of a thread that a rollback removed.
  struct Removed {
    ThreadId thread;
    Sequence after = 0;
    Sequence through = 0;
  };

  TranscriptTurn* find(const TurnId& turn);
  void end(const Envelope& event, std::string status, std::optional<std::string> error,
           std::optional<schema::Usage> usage);

  std::deque<TranscriptTurn> turns_;
  std::vector<Range> ranges_;
  std::vector<Removed> removed_;
};

// `several`: the session has several threads, and each turn names its own.
std::string transcript_text(const TranscriptTurn& turn, bool several, Timestamp now, Paper paper);
std::string transcript_markdown(const TranscriptTurn& turn, bool several);

}  // namespace agentrt::cli
