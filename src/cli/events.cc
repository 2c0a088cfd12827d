// cli/events.cc: `agentrt events`: prints a session's events from the log, and live with --follow.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "cli/follow.h"
#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/event_line.h"
#include "cli/views/session_view.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;

class Printer {
 public:
  Printer(Context& context, const EventsArguments& arguments)
      : context_(context), arguments_(arguments), seen_(arguments.after) {}

  Sequence seen() const { return seen_; }
  // The limit was reached, or the reader of the output is gone.
  bool done() const { return broken_ || (arguments_.limit && printed_ >= *arguments_.limit); }
  std::uint64_t left() const { return arguments_.limit ? *arguments_.limit - printed_ : kPageMax; }

  // Continues at a page's cursor, which is a sequence: with a filter, a page may be empty. False if
  // that is no progress.
  bool skip_to(const std::string& cursor) {
    Sequence next = 0;
    const auto [end, error] = std::from_chars(cursor.data(), cursor.data() + cursor.size(), next);
    if (error != std::errc() || end != cursor.data() + cursor.size()) return false;
    const bool forward = next > page_end_;
    page_end_ = seen_ = std::max(next, seen_);
    return forward;
  }

  Result<void> print(const std::string& text) {
    TRY_ASSIGN(const Envelope event, read_envelope(text));
    if (event.sequence <= seen_ || done()) return {};
    seen_ = event.sequence;
    const auto& types = arguments_.types;
    if (!types.empty() && std::find(types.begin(), types.end(), event.type) == types.end())
      return {};
    ++printed_;
    const Screen& screen = context_.output.screen();
    const bool for_reading = context_.form() == Form::text;
    const std::size_t width = screen.out_terminal ? screen.width : std::size_t{4'096};
    const std::string line =
        for_reading ? event_line(event, width, screen.out_colour) + "\n" : text + "\n";
    broken_ = !context_.output.out(line);
    return {};
  }

 private:
  Context& context_;
  const EventsArguments& arguments_;
  Sequence seen_;
  Sequence page_end_ = 0;
  std::uint64_t printed_ = 0;
  bool broken_ = false;
};

Result<int> print_stored(const Client& client, const SessionId& session,
                         const EventsArguments& arguments, Printer& printer) {
  while (!printer.done()) {
    schema::ListEvents params;
    params.session_id = session;
    params.after = printer.seen();
    params.limit = std::min(printer.left(), kPageMax);
    if (!arguments.types.empty()) params.types = arguments.types;
    TRY_ASSIGN(const std::string reply, client.call("list_events", schema::to_json(params)));
    TRY_ASSIGN(const ListReply page, read_list(reply));
    for (const schema::Json& event : page.data) TRY(printer.print(event.text));
    if (!page.next_cursor || !printer.skip_to(*page.next_cursor)) break;
  }
  return kExitDone;
}

Result<int> print_live(const Client& client, const SessionId& session, Printer& printer,
                       Signals& signals) {
  int failures = 0;
  while (!printer.done()) {
    auto stream = client.follow(session, printer.seen());
    if (!stream) {
      const Code code = stream.error().code;
      const bool passing =
          code == Code::unavailable || code == Code::timeout || code == Code::overloaded;
      if (signals.count() > 0) return kExitInterrupted;
      if (!passing || ++failures > kReconnectsMax) return std::unexpected(stream.error());
      std::this_thread::sleep_for(std::chrono::milliseconds(kReconnectPauseMs));
      continue;
    }
    bool open = true;
    while (open && !printer.done()) {
      TRY_ASSIGN(const Stream::Received received, stream->next(-1, signals.descriptor()));
      if (received.what == Stream::What::woken && signals.count() > 0) return kExitInterrupted;
      if (received.what == Stream::What::ended) open = false;
      for (const StreamEvent& event : received.events) {
        if (event.type == "stream.overflow") {
          open = false;
        } else {
          TRY(printer.print(event.data));
          failures = 0;
        }
      }
    }
    if (!printer.done() && ++failures > kReconnectsMax)
      return fail(Code::unavailable,
                  "The event stream keeps breaking off; check with agentrt doctor whether the "
                  "runtime is running.");
  }
  return kExitDone;
}

}  // namespace

int print_events(Context& context, const EventsArguments& arguments) {
  Printer printer(context, arguments);  // remembers what was printed, also under the next owner
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    TRY_ASSIGN(const SessionId session, find_session(client, arguments.session));
    if (arguments.follow) return print_live(client, session, printer, signals);
    return print_stored(client, session, arguments, printer);
  });
}

}  // namespace agentrt::cli
