#include "cli/views/session_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/tasks/job_view.h"

#include "cli/sessions/session_ids.h"

namespace agentrt::cli {
namespace {

using namespace schema;

Paint paint_of(Status status) {
  switch (status) {
    case Status::completed:
      return Paint::green;
    case Status::failed:
    case Status::timed_out:
    case Status::lost:
      return Paint::red;
    case Status::blocked:
    case Status::waiting_input:
    case Status::waiting_permission:
    case Status::waiting_resource:
    case Status::retrying:
      return Paint::yellow;
    case Status::idle:
    case Status::cancelled:
    case Status::stale:
      return Paint::dim;
    default:
      return Paint::cyan;
  }
}

std::string word(Status status) { return spoken_status(name_of(status)); }

std::string status_text(const SessionSummary& session) {
  if (session.archived) return "archived";
  const std::string processes =
      session.processes ? fmt::format(" +{} in background", *session.processes) : "";
  return word(session.status) + processes;
}

template <class T>
Result<T> read_reply(const std::string& text) {
  T out;
  if (!check_json(text) || !from_json(text, out, Unknown::ignore))
    return fail(Code::internal,
                "The reply of the runtime cannot be decoded; check that it has the same version as "
                "this program.");
  return out;
}

std::string line_of(std::string_view mark, const std::string& text, std::size_t width) {
  return fmt::format("    {} {}\n", mark, fit(one_line(text), width > 8 ? width - 6 : 8));
}

std::string turn_text(const TurnSnapshot& turn, Timestamp now, std::size_t width, Colour colour) {
  std::string facts = turn.removed.value_or(false) ? "removed · " : "";
  facts += spoken_age(turn.submitted_at, now);
  if (turn.completed_at)
    facts += fmt::format(" · {}", spoken_duration(*turn.completed_at - turn.submitted_at));
  if (turn.model) facts += fmt::format(" · {}", one_line(*turn.model));
  if (turn.usage)
    facts += fmt::format(" · {} in, {} out", turn.usage->input_tokens, turn.usage->output_tokens);
  std::string out =
      fmt::format("  {} {}  {}\n", paint(word(turn.status), paint_of(turn.status), colour),
                  one_line(turn.turn_id.text()), paint(facts, Paint::dim, colour));
  out += line_of(paint(">", Paint::bold, colour), turn.input_preview, width);
  if (turn.output_preview) out += line_of("<", *turn.output_preview, width);
  if (turn.error && turn.status != Status::completed) {
    out += line_of(paint("!", Paint::red, colour), turn.error->message, width);
  } else if (turn.reason && turn.status != Status::completed) {
    out += line_of(paint("!", Paint::yellow, colour), *turn.reason, width);
  }
  return out;
}

std::string thread_text(const ThreadSnapshot& thread, const SessionId& session, std::size_t width,
                        Colour colour) {
  std::string out =
      fmt::format("thread {}  {}", one_line(thread.thread_id.text()),
                  paint(word(thread.status_detail), paint_of(thread.status_detail), colour));
  if (thread.status_reason) out += fmt::format(" ({})", one_line(*thread.status_reason));
  out += '\n';
  if (thread.forked_from)
    out += fmt::format("  forked from thread {} after turn {}\n",
                       one_line(thread.forked_from->thread_id.text()),
                       one_line(thread.forked_from->turn_id.text()));
  if (thread.status_detail == Status::blocked && thread.resumable.value_or(false))
    out += fmt::format("  to resume: agentrt run --session {} --thread {}\n",
                       one_line(session.text()), one_line(thread.thread_id.text()));
  for (const QueuedTurnSnapshot& queued : thread.queued_turns)
    out += fmt::format("  {} {}  {}\n",
                       paint(fmt::format("queued #{}", queued.position), Paint::cyan, colour),
                       one_line(queued.turn_id.text()),
                       fit(one_line(queued.input_preview), width > 60 ? width - 50 : 20));
  return out;
}

Paint paint_of(ProcessStatus status) {
  return status == ProcessStatus::running ? Paint::cyan : Paint::yellow;
}

// Background processes survive the runtime, so the text explains how to end them.
std::string processes_text(const std::vector<ProcessSnapshot>& processes, Timestamp now,
                           std::size_t width, Colour colour) {
  if (processes.empty()) return {};
  std::string out = "\nbackground processes (they keep running when the runtime stops)\n";
  for (const ProcessSnapshot& process : processes) {
    out += fmt::format(
        "  {} {}  {}\n",
        paint(std::string(name_of(process.status)), paint_of(process.status), colour),
        one_line(process.process_id.text()),
        paint(fmt::format("{}{}", spoken_age(process.started_at, now), process.tty ? " · tty" : ""),
              Paint::dim, colour));
    out += line_of("$", process.command, width);
  }
  return out +
         fmt::format("  to stop one: agentrt call terminate_process '{{\"processId\":\"{}\"}}'\n",
                     one_line(processes.front().process_id.text()));
}

}  // namespace

Result<ListReply> read_list(const std::string& reply) { return read_reply<ListReply>(reply); }

Result<std::string> sessions_text(const ListReply& list, Timestamp now, std::size_t width,
                                  Colour colour) {
  if (list.data.empty())
    return std::string("No sessions yet. Start one with: agentrt run \"PROMPT\"\n");
  std::vector<SessionSummary> sessions;
  std::vector<SessionId> ids;
  for (const Json& row : list.data) {
    TRY_ASSIGN(sessions.emplace_back(), read_reply<SessionSummary>(row.text));
    ids.push_back(sessions.back().session_id);
  }
  const std::vector<std::string> names = short_ids(ids);
  Table table{{"SESSION", "STATUS", "TURNS", "UPDATED", "WHAT"}, {}};
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    const SessionSummary& session = sessions[i];
    const std::string what = session.title ? *session.title : session.preview.value_or("");
    table.rows.push_back({one_line(names[i]), status_text(session), std::to_string(session.turns),
                          spoken_age(session.updated_at, now), one_line(what)});
  }
  return render(table, width, colour);
}

Result<std::string> session_text(const std::string& reply, Timestamp now, std::size_t width,
                                 Colour colour) {
  TRY_ASSIGN(const auto session, read_reply<SessionSnapshot>(reply));
  std::string out = paint("session " + one_line(session.session_id.text()), Paint::bold, colour);
  out += fmt::format("  {}{}\n", paint(word(session.status), paint_of(session.status), colour),
                     session.archived ? " (archived)" : "");
  if (session.title) out += fmt::format("  {}\n", fit(one_line(*session.title), width - 2));
  out += paint(fmt::format("  in {} · created {} · updated {} · {} events\n", one_line(session.cwd),
                           spoken_age(session.created_at, now), spoken_age(session.updated_at, now),
                           session.as_of_sequence),
               Paint::dim, colour);
  std::vector<TurnSnapshot> turns;
  for (const Json& row : session.history) {
    TRY_ASSIGN(auto turn, read_reply<TurnSnapshot>(row.text));
    if (turn.status != Status::queued) turns.push_back(std::move(turn));
  }
  std::reverse(turns.begin(), turns.end());  // oldest first
  for (const ThreadSnapshot& thread : session.threads) {
    out += "\n" + thread_text(thread, session.session_id, width, colour);
    for (const TurnSnapshot& turn : turns)
      if (turn.thread_id == thread.thread_id) out += turn_text(turn, now, width, colour);
  }
  if (!session.jobs.empty()) out += "\njobs\n";
  for (const JobSummary& job : session.jobs) out += job_lines(job, {}, {}, now, {width, colour});
  out += processes_text(session.processes, now, width, colour);
  if (session.history_cursor)
    out +=
        paint(fmt::format("\nOlder turns: agentrt show {} --cursor {}\n",
                          one_line(session.session_id.text()), one_line(*session.history_cursor)),
              Paint::dim, colour);
  return out;
}

}  // namespace agentrt::cli
