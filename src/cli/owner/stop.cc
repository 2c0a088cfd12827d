// cli/owner/stop.cc: `agentrt stop`: ends the background owner of the data folder.
#include <fmt/format.h>

#include "cli/decisions/keyboard.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "schema/commands.h"
#include "schema/snapshots.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPage = 1'000;
constexpr std::size_t kRowsShownMax = 20;

bool is_open(const schema::SessionSummary& session) {
  using schema::Status;
  if (session.processes.value_or(0) > 0) return true;
  switch (session.status) {
    case Status::idle:
    case Status::blocked:  // the owner does nothing for it
    case Status::completed:
    case Status::failed:
    case Status::cancelled:
    case Status::timed_out:
    case Status::lost:
      return false;
    default:
      return true;
  }
}

Result<std::vector<schema::SessionSummary>> open_sessions(const Client& client) {
  std::vector<schema::SessionSummary> open;
  schema::ListSessions params;
  params.limit = kPage;
  do {
    TRY_ASSIGN(const std::string text, client.call("list_sessions", schema::to_json(params)));
    TRY_ASSIGN(const ListReply page, read_list(text));
    for (const schema::Json& row : page.data) {
      schema::SessionSummary session;
      TRY(schema::from_json(row.text, session, schema::Unknown::ignore));
      if (is_open(session)) open.push_back(std::move(session));
    }
    params.cursor = page.next_cursor;
  } while (params.cursor);
  return open;
}

std::string line_of(const schema::SessionSummary& session) {
  const std::uint64_t processes = session.processes.value_or(0);
  return fmt::format("  {}  {}{}  {}\n", session.session_id.text(), schema::name_of(session.status),
                     processes > 0 ? fmt::format(", {} background process{}", processes,
                                                 processes == 1 ? "" : "es")
                                   : "",
                     one_line(session.preview.value_or("")));
}

enum class Answer { yes, no, nobody_to_ask };

// Lists what would be interrupted, and asks.
Result<Answer> may_stop(Context& context, const StopArguments& arguments, const Client& client,
                        Signals& signals) {
  TRY_ASSIGN(const auto open, open_sessions(client));
  if (open.empty()) return Answer::yes;
  std::string text = fmt::format("{} session{} at work; that work continues as after a restart:\n",
                                 open.size(), open.size() == 1 ? " is" : "s are");
  for (std::size_t i = 0; i < open.size() && i < kRowsShownMax; ++i) text += line_of(open[i]);
  if (open.size() > kRowsShownMax)
    text += fmt::format("  … and {} more\n", open.size() - kRowsShownMax);
  if (context.form() == Form::text) context.output.err(text);
  if (arguments.yes) return Answer::yes;
  if (!context.output.screen().in_terminal || context.form() == Form::json) {
    context.output.problem(
        {Code::conflict, "Sessions are at work; add --yes to stop the owner anyway.", {}});
    return Answer::nobody_to_ask;
  }
  const auto line =
      ask_line(context.output, signals, "Stop the owner of the data folder now? [y/N] ");
  return line == "y" || line == "yes" ? Answer::yes : Answer::no;
}

Result<int> stop(Context& context, const StopArguments& arguments, Signals& signals) {
  TRY_ASSIGN(const std::string data, data_folder_of(context));
  TRY_ASSIGN(const auto owner, runtime::read_owner(data));
  if (!owner) {
    context.output.out(context.form() == Form::json ? "{\"stopped\":false}\n"
                                                    : "nothing to stop: the folder has no owner\n");
    return kExitDone;
  }
  if (owner->kind == runtime::OwnerKind::serve)
    return fail(Code::conflict, fmt::format("The data folder {} belongs to process {}, which was "
                                            "started by agentrt serve; stop it there.",
                                            data, owner->pid));
  TRY_ASSIGN(const std::string token, read_token(data));
  Client client(runtime::socket_path(data), token);
  client.set_abandon([&signals] { return signals.count() > 0; });
  TRY_ASSIGN(const Answer answer, may_stop(context, arguments, client, signals));
  if (answer == Answer::nobody_to_ask) return kExitNeedsPerson;
  if (answer == Answer::no) return kExitInterrupted;
  // One that has just left by itself needs not be asked.
  if (const auto leaves = ask_to_leave(client, "now");
      !leaves && leaves.error().code != Code::unavailable)
    return std::unexpected(leaves.error());
  if (!runtime::wait_for_no_owner(data, kLeaveTimeoutMs))
    return fail(Code::timeout, fmt::format("Process {} does not end; see {}.", owner->pid,
                                           runtime::owner_log_path(data)));
  context.output.out(context.form() == Form::json
                         ? fmt::format("{{\"stopped\":true,\"pid\":{}}}\n", owner->pid)
                         : fmt::format("stopped process {}\n", owner->pid));
  return kExitDone;
}

}  // namespace

int stop_owner(Context& context, const StopArguments& arguments) {
  Signals signals;
  const Result<int> done = stop(context, arguments, signals);
  if (!done && signals.count() > 0) return kExitInterrupted;
  return done ? *done : context.output.problem(done.error());
}

}  // namespace agentrt::cli
