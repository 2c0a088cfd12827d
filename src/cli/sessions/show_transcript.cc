#include "cli/sessions/show_transcript.h"

#include <fmt/format.h>

#include "cli/sessions/event_pages.h"
#include "cli/sessions/pager.h"
#include "cli/sessions/transcript.h"
#include "cli/views/session_view.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

constexpr std::uint64_t kPageMax = 1'000;

// Calls `visit` with the session's events of these types after `after`, in order, until it returns
// false.
template <class Visit>
Result<void> each_event(const Client& client, const SessionId& session, Sequence after,
                        std::vector<std::string> types, Visit visit) {
  schema::ListEvents params;
  params.session_id = session;
  params.limit = kPageMax;
  params.types = std::move(types);
  params.after = after;
  while (true) {
    TRY_ASSIGN(const EventPage page, read_events(client, params));
    for (const Envelope& event : page.events) {
      TRY_ASSIGN(const bool more, visit(event));
      if (!more) return {};
    }
    if (!page.next) return {};
    params.after = *page.next;
  }
}

// The text of a long message, from its output or its deltas.
Result<std::string> long_text(const Client& client, const SessionId& session,
                              const Transcript::Range& range) {
  if (!range.output_ref.empty())
    return client.ask("GET", "/v1/outputs/" + url_escaped(range.output_ref), "");
  std::string text;
  TRY(each_event(client, session, range.first > 0 ? range.first - 1 : 0,
                 {std::string(schema::ModelDelta::kType)},
                 [&](const Envelope& event) -> Result<bool> {
                   if (event.sequence > range.last) return false;
                   if (event.model_request_id != range.request) return true;
                   schema::ModelDelta delta;
                   TRY(schema::from_json(event.payload.text, delta, schema::Unknown::ignore));
                   text += delta.text;
                   return true;
                 }));
  return text;
}

// Renders turns in one of the formats, one by one.
class Printer {
 public:
  Printer(Context& context, schema::SessionSnapshot session, bool markdown)
      : output_(context.output),
        session_(std::move(session)),
        markdown_(markdown),
        json_(context.form() == Form::json) {
    const Screen& screen = output_.screen();
    paper_ = {screen.out_terminal ? screen.width : 0, screen.out_colour};
  }

  bool begin() { return output_.out(head()); }
  // False: the reader of the output is gone.
  bool print(const TranscriptTurn& turn) {
    const bool several = session_.threads.size() > 1;
    std::string text;
    if (json_)
      text = (printed_++ > 0 ? "," : "") + schema::to_json(turn);
    else if (markdown_)
      text = shown(transcript_markdown(turn, several));
    else
      text = transcript_text(turn, several, now_of_clock(), paper_);
    return output_.out(text);
  }
  void end() {
    if (json_) output_.out("]}\n");
  }

 private:
  // The source of Markdown, on a terminal without what it would interpret.
  std::string shown(std::string text) const {
    return output_.screen().out_terminal ? safe_text(text) : text;
  }
  std::string head() const {
    const std::string& id = session_.session_id.text();
    if (json_)
      return fmt::format(
          R"({{"sessionId":{},{}"cwd":{},"asOfSequence":{},"turns":[)", schema::to_json(id),
          session_.title ? fmt::format(R"("title":{},)", schema::to_json(*session_.title)) : "",
          schema::to_json(session_.cwd), session_.as_of_sequence);
    if (markdown_)
      return shown(fmt::format("# {}\n\nSession `{}` in `{}`\n\n", session_.title.value_or(id), id,
                               session_.cwd));
    return paint("session " + id, Paint::bold, paper_.colour) +
           paint("  in " + one_line(session_.cwd), Paint::dim, paper_.colour) + "\n\n";
  }

  Output& output_;
  schema::SessionSnapshot session_;
  bool markdown_;
  bool json_;
  Paper paper_;
  std::size_t printed_ = 0;
};

Result<void> print_turns(const Client& client, const SessionId& session, Printer& printer) {
  Transcript transcript;
  bool broken = !printer.begin();
  const auto print_all = [&](const std::vector<TranscriptTurn>& turns) {
    for (const TranscriptTurn& turn : turns) broken = broken || !printer.print(turn);
  };
  TRY(each_event(client, session, 0, {std::string(schema::RollbackCompleted::kType)},
                 [&](const Envelope& event) -> Result<bool> {
                   transcript.know_rollback(event);
                   return true;
                 }));
  TRY(each_event(client, session, 0, Transcript::types(),
                 [&](const Envelope& event) -> Result<bool> {
                   transcript.take(event);
                   while (const auto range = transcript.take_range()) {
                     TRY_ASSIGN(std::string text, long_text(client, session, *range));
                     transcript.put_text(range->request, std::move(text));
                   }
                   print_all(transcript.take_ended());
                   return !broken;
                 }));
  print_all(transcript.take_rest());
  printer.end();
  return {};
}

}  // namespace

Result<int> show_transcript(Context& context, const Client& client, const SessionId& session,
                            bool markdown) {
  schema::GetSession params;
  params.session_id = session;
  params.limit = 1;
  TRY_ASSIGN(const std::string reply, client.call("get_session", schema::to_json(params)));
  schema::SessionSnapshot snapshot;
  TRY(schema::from_json(reply, snapshot, schema::Unknown::ignore));
  Printer printer(context, std::move(snapshot), markdown);
  const Screen& screen = context.output.screen();
  const bool paged = screen.live && screen.in_terminal && context.form() == Form::text;
  const Pager pager(paged ? pager_command(context.environment) : "");
  TRY(print_turns(client, session, printer));
  return kExitDone;
}

}  // namespace agentrt::cli
