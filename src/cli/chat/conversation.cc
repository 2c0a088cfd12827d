#include "cli/chat/conversation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cli/tasks/job_view.h"
#include "tools/registry.h"

namespace agentrt::cli {
namespace {

using namespace schema;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

std::string joined(const TurnText& text) {
  std::string out;
  for (const TurnText::Piece& piece : text.pieces) out += piece.text;
  return out;
}

// The last lines of an output, without control characters.
std::vector<std::string> last_lines(std::string_view text, std::size_t count) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < count) {
    while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty()) break;
    const std::size_t from = text.find_last_of("\r\n");
    const std::string_view line = from == text.npos ? text : text.substr(from + 1);
    lines.push_back(one_line(line));
    text = from == text.npos ? std::string_view() : text.substr(0, from);
  }
  std::ranges::reverse(lines);
  return lines;
}

// The members of item.started and item.updated that tell about a call.
struct ItemMembers {
  std::string kind;
  std::optional<std::string> tool_name;
  std::optional<std::uint64_t> text_bytes;
  std::optional<std::string> preview;
};
BOOST_DESCRIBE_STRUCT(ItemMembers, (), (kind, tool_name, text_bytes, preview))

// The text after "NAME": " in the beginning of a JSON object, which may be cut anywhere.
std::string_view text_member(std::string_view json, std::string_view name) {
  const std::size_t key = json.find("\"" + std::string(name) + "\"");
  if (name.empty() || key == json.npos) return {};
  const std::size_t begin = json.find('"', key + name.size() + 2);
  if (begin == json.npos) return {};
  json.remove_prefix(begin + 1);
  return json.substr(0, json.find('"'));
}

}  // namespace

std::string writing_text(std::string_view tool, std::string_view preview, std::uint64_t bytes) {
  constexpr std::size_t kObjectCells = 60;
  const tools::Tool* own = tools::find(tool);
  std::string out(own && !own->verb.empty() ? own->verb : tool);
  std::string_view object = text_member(preview, tools::path_argument_of(tool));
  if (object.empty()) object = text_member(preview, "command");
  if (!object.empty()) out += " " + fit(one_line(object), kObjectCells);
  return one_line(out) + (bytes < 1'024 ? fmt::format(" · {} bytes", bytes)
                                        : fmt::format(" · {} KiB", bytes / 1'024));
}

std::string input_text(const std::vector<InputPart>& input) {
  std::string out;
  for (const InputPart& part : input) {
    if (!out.empty()) out += "\n";
    if (part.text) out += *part.text;
    if (part.path) out += "[file " + *part.path + "]";
  }
  return out;
}

namespace {

std::string rollback_news(const RollbackCompleted& rollback) {
  const std::uint64_t removed = rollback.removed_turn_count.value_or(0);
  return fmt::format("rolled back: {} turn{} left the conversation, which continues after turn {}",
                     removed, removed == 1 ? "" : "s", rollback.target_turn_id.text());
}

}  // namespace

std::string Conversation::take(const Envelope& event) {
  const auto payload = read_payload(event.type, event.payload.text);
  if (!payload) return {};  // written by an incompatible runtime; the log keeps it
  if (std::holds_alternative<PolicyChanged>(*payload)) ++policy_changes_;
  if (const auto* created = std::get_if<SessionCreated>(&*payload)) title_ = created->title;
  if (const auto* updated = std::get_if<SessionUpdated>(&*payload); updated && updated->title)
    title_ = updated->title;
  if (const auto* progress = std::get_if<ToolProgress>(&*payload); progress && progress->change)
    note_change(*progress->change);
  if (const std::string news = event.job_id.empty() ? "" : job_news(event.job_id, *payload);
      !news.empty())
    return view_ ? noted(news, Paint::dim)
                 : paint("· " + news, Paint::dim, style_.out_colour) + "\n";
  if (event.thread_id != thread_) return view_ ? joined(view_->show(event)) : std::string();
  std::string out;
  see(event, *payload, out);
  return out;
}

void Conversation::recall(const Envelope& event) {
  (void)take(event);
  (void)take_diff();
  said_something_ = false;
}

std::vector<std::string> Conversation::recalled_types() {
  std::vector<std::string> out;
  for (const std::string_view type :
       {SessionCreated::kType, SessionUpdated::kType, TurnSubmitted::kType, QueueChanged::kType,
        TurnStarted::kType, ModelRequested::kType, ModelCompleted::kType, ToolStarted::kType,
        ToolProgress::kType, ToolResult::kType, ToolFailed::kType, TurnCompleted::kType,
        TurnFailed::kType})
    out.emplace_back(type);
  return out;
}

void Conversation::see(const Envelope& event, const Payload& payload, std::string& out) {
  if (const auto* submitted = std::get_if<TurnSubmitted>(&payload)) {
    inputs_[event.turn_id] = input_text(submitted->input);
    if (submitted->status == Status::queued) add_queued({event.turn_id, inputs_[event.turn_id]});
    return;
  }
  if (const auto* change = std::get_if<QueueChanged>(&payload)) return change_queue(*change);
  if (const auto* rollback = std::get_if<RollbackCompleted>(&payload)) {
    out += noted(rollback_news(*rollback), Paint::dim);
    return;
  }
  if (std::holds_alternative<TurnStarted>(payload)) begin_turn(event, out);
  if (!view_) return;
  note_item(event);
  const std::size_t ended = view_->last_call();
  out += joined(view_->show(event));
  if (view_->last_call() > ended) keep_output(event);
  std::visit(
      Overloaded{[&](const ModelRequested& requested) {
                   model_name_ = requested.model_name;
                   model_ = requested.model;
                 },
                 [&](const ModelCompleted& completed) {
                   add_tokens(model_name_, completed.usage);
                   context_tokens_ = completed.usage.input_tokens + completed.usage.output_tokens;
                 },
                 [&](const ProcessOutput& output) { note_output(event, output); },
                 [&](const ToolResult&) { tails_.erase(event.tool_call_id); },
                 [&](const ToolFailed&) { tails_.erase(event.tool_call_id); }, [](const auto&) {}},
      payload);
  if (event.turn_id != active_) return;
  if (view_->end().ending == Ending::blocked && !view_->action()) {
    if (std::exchange(blocked_shown_, view_->end().reason) != view_->end().reason)
      out += noted(fmt::format("The turn is blocked: {}; /continue continues it, Ctrl-C ends it",
                               view_->end().reason),
                   Paint::yellow);
  } else {
    blocked_shown_.clear();
  }
  if (std::holds_alternative<TurnCompleted>(payload) || std::holds_alternative<TurnFailed>(payload))
    end_turn(event, out);
}

void Conversation::begin_turn(const Envelope& event, std::string& out) {
  if (active_ == event.turn_id) return;
  active_ = event.turn_id;
  std::erase_if(queue_, [&](const Queued& queued) { return queued.turn == event.turn_id; });
  if (said_something_) out += "\n";
  out += message_text(event.turn_id);
  inputs_.erase(event.turn_id);
  said_something_ = true;
  ChildLines children = view_ ? view_->children() : ChildLines(thread_);
  view_.emplace(event.turn_id, thread_, style_, Setting::conversation, calls_);
  view_->set_children(std::move(children));
}

void Conversation::end_turn(const Envelope&, std::string& out) {
  const TurnEnd& end = view_->end();
  if (end.ending == Ending::failed)
    out += noted("The turn failed: " + end.reason, Paint::red);
  else if (end.ending == Ending::cancelled)
    out += noted(end.reason.starts_with("interrupted") ? end.reason : "interrupted: " + end.reason,
                 Paint::yellow);
  active_.reset();
  tails_.clear();
  writing_.reset();
}

std::string Conversation::noted(std::string_view text, Paint how) {
  return view_ ? joined(view_->note(text, how)) : std::string();
}

// The message, marked, and a blank line.
std::string Conversation::message_text(const TurnId& turn) const {
  const auto found = inputs_.find(turn);
  const std::string text = visible(found == inputs_.end() ? "(a message)" : found->second);
  std::vector<std::string> lines;
  std::size_t from = 0;
  while (from <= text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size());
    for (std::string& line :
         wrap(text.substr(from, end - from), style_.width > 4 ? style_.width - 3 : 0))
      lines.push_back(std::move(line));
    from = end + 1;
  }
  const std::size_t shown = lines.size() > kMessageLinesMax ? kMessageLinesMax - 1 : lines.size();
  std::string out;
  for (std::size_t i = 0; i < shown; ++i)
    out += paint(i == 0 ? "› " : "  ", Paint::cyan, style_.out_colour) +
           paint(lines[i], Paint::bold, style_.out_colour) + "\n";
  if (shown < lines.size())
    out += paint(fmt::format("  … {} more lines", lines.size() - shown), Paint::dim,
                 style_.out_colour) +
           "\n";
  return out + "\n";
}

std::optional<std::string> Conversation::take_diff() {
  return view_ ? view_->take_diff() : std::nullopt;
}

std::string Conversation::show_diff(std::string_view diff) {
  return view_ ? joined(view_->show_diff(diff)) : std::string();
}

void Conversation::set_width(std::size_t width) {
  style_.width = width;
  if (view_) view_->set_width(width);
}

std::string Conversation::blocked() const {
  if (!active_ || !view_ || view_->action() || view_->end().ending != Ending::blocked) return {};
  return view_->end().reason.empty() ? "unknown reason" : view_->end().reason;
}

bool Conversation::blocked_for_model() const {
  return !blocked().empty() && view_->end().phase == "no_model";
}

const ActionSnapshot* Conversation::question() const {
  if (!view_) return nullptr;
  return active_ ? view_->action() : view_->children().action();
}

std::optional<Doing> Conversation::doing() const {
  if (active_ && writing_)
    return Doing{"writing: " + writing_text(writing_->tool, writing_->preview, writing_->bytes),
                 writing_->since};
  return active_ && view_ ? view_->doing() : std::nullopt;
}

// A call is written from its item.started to its item.completed, or until the message ends.
void Conversation::note_item(const Envelope& event) {
  if (event.type == ItemCompleted::kType || event.type == ModelCompleted::kType ||
      event.type == ModelFailed::kType || event.type == ToolStarted::kType)
    return writing_.reset();
  const bool begins = event.type == ItemStarted::kType;
  if (!begins && event.type != ItemUpdated::kType) return;
  ItemMembers item;
  if (!from_json(event.payload.text, item, Unknown::ignore)) return;
  if (begins && item.tool_name) writing_ = Writing{*item.tool_name, "", 0, event.timestamp};
  if (begins || !writing_ || !item.preview) return;
  writing_->preview = *item.preview;
  writing_->bytes = item.text_bytes.value_or(0);
}

void Conversation::add_queued(Queued queued) {
  if (std::ranges::find(queue_, queued.turn, &Queued::turn) == queue_.end())
    queue_.push_back(std::move(queued));
}

void Conversation::change_queue(const QueueChanged& change) {
  if (change.change == QueueChange::cleared) return queue_.clear();
  const auto found = std::ranges::find(queue_, change.turn_id, &Queued::turn);
  if (found == queue_.end()) return;
  Queued moved = std::move(*found);
  queue_.erase(found);
  if (change.position == 0) return;
  const std::size_t at = std::min<std::size_t>(change.position - 1, queue_.size());
  queue_.insert(queue_.begin() + static_cast<std::ptrdiff_t>(at), std::move(moved));
}

std::vector<std::string> Conversation::running() const {
  std::vector<std::string> rows;
  if (!active_ || !view_) return rows;
  for (const auto& [id, tail] : tails_) {
    const Call* call = view_->call(id);
    if (call == nullptr || !call->running) continue;
    for (const std::string& line : last_lines(tail, kTailLines))
      rows.push_back("  " + paint(line, Paint::dim, style_.out_colour));
  }
  const std::string plan = view_->plan();
  for (std::size_t from = 0; from < plan.size();) {
    const std::size_t end = std::min(plan.find('\n', from), plan.size());
    rows.push_back(plan.substr(from, end - from));
    from = end + 1;
  }
  return rows;
}

void Conversation::add_tokens(const std::string& model, const Usage& usage) {
  Tokens& sum = tokens_[model];
  sum.input += usage.input_tokens;
  sum.output += usage.output_tokens;
  sum.cached += usage.cached_tokens.value_or(0);
}

void Conversation::note_output(const Envelope& event, const ProcessOutput& output) {
  if (!output.text) return;
  std::string& tail = tails_[event.tool_call_id];
  tail += *output.text;
  if (tail.size() > kTailBytesMax) tail.erase(0, tail.size() - kTailBytesMax);
}

void Conversation::note_change(const FileChange& change) {
  auto found = std::ranges::find(files_, change.path, &ChangedFile::path);
  if (found == files_.end()) {
    if (files_.size() >= kFilesMax) {
      ++files_omitted_;
      return;
    }
    found = files_.insert(files_.end(), {change.path, 0, 0, {}});
  }
  found->added += change.lines_added;
  found->removed += change.lines_removed;
  if (!change.diff_ref) return;
  if (found->diffs.size() >= kDiffsPerFileMax) found->diffs.erase(found->diffs.begin());
  found->diffs.push_back(*change.diff_ref);
}

void Conversation::keep_output(const Envelope& event) {
  CallOutput kept;
  if (const Call* call = view_->call(event.tool_call_id))
    kept.title = fit(call_title(*call), kTitleBytesMax);
  kept.ended = event.sequence;
  calls_ = view_->last_call();
  outputs_.push_back(std::move(kept));
  if (outputs_.size() > kOutputsMax) outputs_.pop_front();
}

const CallOutput* Conversation::output(std::size_t number) const {
  if (number == 0 || number > calls_ || calls_ - number >= outputs_.size()) return nullptr;
  return &outputs_[outputs_.size() - 1 - (calls_ - number)];
}

}  // namespace agentrt::cli
