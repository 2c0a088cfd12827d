#include "cli/acp/updates.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/acp/editor.h"
#include "cli/views/call_view.h"
#include "schema/json_loose.h"
#include "tools/registry.h"

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr std::size_t kOutputBytesMax = 16 * 1024;  // of one update

// The arguments from which editors draw a change.
struct ChangeArgs {
  std::optional<std::string> path;
  std::optional<std::string> old_text;
  std::optional<std::string> new_text;
  std::optional<std::string> content;
};
BOOST_DESCRIBE_STRUCT(ChangeArgs, (), (path, old_text, new_text, content))

struct PlanEntry {
  std::string step;
  std::string status;
};
BOOST_DESCRIBE_STRUCT(PlanEntry, (), (step, status))

struct PlanArgs {
  std::optional<std::vector<PlanEntry>> plan;
};
BOOST_DESCRIBE_STRUCT(PlanArgs, (), (plan))

std::string chunk(std::string_view kind, std::string_view text, std::string_view message) {
  return fmt::format(
      R"({{"sessionUpdate":"{}","content":{{"type":"text","text":{}}},"messageId":{}}})", kind,
      json_text(text), json_text(message));
}

std::string text_content(std::string_view text) {
  return fmt::format(R"({{"type":"content","content":{{"type":"text","text":{}}}}})",
                     json_text(utf8_prefix(text, kOutputBytesMax)));
}

std::string absolute(const std::string& cwd, const std::string& path) {
  return path.starts_with('/') ? path : fmt::format("{}/{}", cwd, path);
}

// The change that the call makes, if its arguments show it.
std::string diff_of(const std::string& cwd, std::string_view tool, const Json& args) {
  const tools::Tool* const own = tools::find(tool);
  ChangeArgs read;
  Met met;
  if (!own || own->runs != tools::Runner::file || own->access == tools::Access::read ||
      !read_loosely(args.text, read, met) || !read.path)
    return {};
  const auto& fresh = read.content ? read.content : read.new_text;
  if (!fresh) return {};
  std::string out =
      fmt::format(R"({{"type":"diff","path":{})", json_text(absolute(cwd, *read.path)));
  if (read.old_text) out += fmt::format(R"(,"oldText":{})", json_text(*read.old_text));
  return out + fmt::format(R"(,"newText":{}}})", json_text(*fresh));
}

std::string locations_of(const std::string& cwd, std::string_view tool, const Json& args) {
  const auto path = tools::path_in(tool, args.text);
  if (!path) return {};
  return fmt::format(R"(,"locations":[{{"path":{}}}])", json_text(absolute(cwd, *path)));
}

bool is_plan(std::string_view tool) {
  const tools::Tool* const own = tools::find(tool);
  return own && own->item == ItemKind::todo;
}

std::string plan_of(const Json& args) {
  PlanArgs read;
  Met met;
  if (!read_loosely(args.text, read, met) || !read.plan) return {};
  std::string entries;
  for (const PlanEntry& entry : *read.plan)
    entries +=
        fmt::format(R"({}{{"content":{},"priority":"medium","status":{}}})",
                    entries.empty() ? "" : ",", json_text(entry.step), json_text(entry.status));
  return fmt::format(R"({{"sessionUpdate":"plan","entries":[{}]}})", entries);
}

std::string update_of(const ToolCallId& id, std::string_view members) {
  return fmt::format(R"({{"sessionUpdate":"tool_call_update","toolCallId":{}{}}})",
                     json_text(id.text()), members);
}

}  // namespace

std::vector<std::string> update_types() {
  return {"turn.submitted",  "turn.started",    "turn.completed",   "turn.failed",
          "model.requested", "model.delta",     "model.completed",  "reasoning.delta",
          "item.started",    "tool.started",    "tool.args",        "tool.progress",
          "tool.result",     "tool.failed",     "context.resolved", "session.updated",
          "action.required", "action.resolved", "thread.updated"};
}

std::string_view kind_of_tool(std::string_view tool) {
  const tools::Tool* const own = tools::find(tool);
  if (!own) return "other";
  switch (own->runs) {
    case tools::Runner::process:
      return "execute";
    case tools::Runner::file:
      return own->access == tools::Access::read ? "read" : "edit";
    case tools::Runner::web:
      return "fetch";
    case tools::Runner::session:
    case tools::Runner::agent:
      return "think";
    default:
      return "other";
  }
}

std::string title_of_call(std::string_view tool, std::string_view args) {
  cli::Call call;
  call.tool = tool;
  call.args = args;
  std::string title = call_title(call);
  return title.empty() ? std::string(tool) : title;
}

struct AcpUpdates::Visitor {
  AcpUpdates& self;
  const Envelope& event;
  std::vector<std::string>& out;

  void operator()(const TurnSubmitted& submitted) {
    if (self.own_.contains(event.turn_id) || submitted.source != "user") return;
    for (const InputPart& part : submitted.input) {
      const std::string text =
          part.text ? *part.text
                    : fmt::format("[{} {}]", name_of(part.type), part.path.value_or(""));
      out.push_back(chunk("user_message_chunk", text, event.turn_id.text()));
    }
  }
  void operator()(const TurnStarted&) { self.calls_.clear(); }
  void operator()(const ModelRequested& requested) {
    if (requested.purpose) self.hidden_.insert(event.model_request_id);
  }
  void operator()(const ModelDelta& delta) {
    if (self.hidden_.contains(event.model_request_id)) return;
    self.streamed_.insert(event.model_request_id);
    out.push_back(chunk("agent_message_chunk", delta.text, event.model_request_id.text()));
  }
  void operator()(const ReasoningDelta& delta) {
    if (self.hidden_.contains(event.model_request_id)) return;
    out.push_back(
        chunk("agent_thought_chunk", delta.text, event.model_request_id.text() + ".thought"));
  }
  void operator()(const ModelCompleted& completed) {
    if (self.hidden_.erase(event.model_request_id) > 0) return;
    const bool streamed = self.streamed_.erase(event.model_request_id) > 0;
    if (!streamed && completed.text && !completed.text->empty())
      out.push_back(chunk("agent_message_chunk", *completed.text, event.model_request_id.text()));
    for (const RequestedCall& call : completed.tool_calls)
      self.calls_[call.tool_call_id] = {call.name, call.args};
    const std::uint64_t used = completed.usage.input_tokens + completed.usage.output_tokens;
    if (used > 0 && self.context_limit_ > 0)
      out.push_back(fmt::format(R"({{"sessionUpdate":"usage_update","used":{},"size":{}}})", used,
                                self.context_limit_));
  }
  void operator()(const ContextResolved& context) {
    if (context.tokens) self.context_limit_ = context.tokens->limit;
  }
  void operator()(const ItemStarted& started) {
    if (event.tool_call_id.empty() || !started.tool_name || is_plan(*started.tool_name)) return;
    Call& call = self.calls_[event.tool_call_id];
    if (call.tool.empty()) call.tool = *started.tool_name;
    self.begin_call(out, event.tool_call_id, call, "pending");
  }
  void operator()(const ToolStarted& started) {
    Call& call = self.calls_[event.tool_call_id];
    call.tool = started.tool_name;
    if (started.safe_args) call.args = *started.safe_args;
    if (is_plan(call.tool)) {
      if (std::string plan = plan_of(call.args); !plan.empty()) out.push_back(std::move(plan));
      return;
    }
    if (!call.told) return self.begin_call(out, event.tool_call_id, call, "in_progress");
    out.push_back(update_of(event.tool_call_id, R"(,"status":"in_progress")"));
  }
  void operator()(const ToolProgress& progress) {
    if (!progress.preview || progress.change || is_plan(self.calls_[event.tool_call_id].tool))
      return;
    out.push_back(update_of(event.tool_call_id,
                            fmt::format(R"(,"content":[{}])", text_content(*progress.preview))));
  }
  void operator()(const ToolResult& result) {
    end_call(result.is_error ? "failed" : "completed", result.preview.value_or(""),
             to_json(result));
  }
  void operator()(const ToolFailed& failed) {
    end_call("failed",
             failed.preview ? *failed.preview + "\n" + failed.error.message : failed.error.message,
             to_json(failed));
  }
  void operator()(const SessionUpdated& updated) {
    if (!updated.title) return;
    out.push_back(
        fmt::format(R"({{"sessionUpdate":"session_info_update","title":{},"updatedAt":"{}"}})",
                    json_text(*updated.title), format(event.timestamp)));
  }
  template <class Other>
  void operator()(const Other&) {}

  void end_call(std::string_view status, const std::string& text, const std::string& raw) {
    const auto found = self.calls_.find(event.tool_call_id);
    if (found == self.calls_.end() || is_plan(found->second.tool)) return;
    std::string content = text.empty() ? "" : text_content(text);
    if (const std::string diff = diff_of(self.cwd_, found->second.tool, found->second.args);
        !diff.empty() && status == "completed")
      content = diff;
    out.push_back(update_of(
        event.tool_call_id,
        fmt::format(R"(,"status":"{}","content":[{}],"rawOutput":{})", status, content, raw)));
    self.calls_.erase(found);
  }
};

void AcpUpdates::begin_call(std::vector<std::string>& out, const ToolCallId& id, Call& call,
                            std::string_view status) {
  call.told = true;
  const std::string diff = diff_of(cwd_, call.tool, call.args);
  out.push_back(fmt::format(
      R"({{"sessionUpdate":"tool_call","toolCallId":{},"title":{},"kind":"{}","status":"{}",)"
      R"("content":[{}]{},"rawInput":{}}})",
      json_text(id.text()), json_text(title_of_call(call.tool, call.args.text)),
      kind_of_tool(call.tool), status, diff, locations_of(cwd_, call.tool, call.args),
      call.args.text));
}

std::vector<std::string> AcpUpdates::take(const Envelope& event) {
  std::vector<std::string> out;
  const auto payload = read_payload(event.type, event.payload.text);
  if (payload) std::visit(Visitor{*this, event, out}, *payload);
  return out;
}

std::string AcpUpdates::tool_call_of(const ToolCallId& id, const ActionRequired& action,
                                     const std::string& fallback) const {
  const auto found = calls_.find(id);
  const std::string tool =
      found != calls_.end() ? found->second.tool : action.tool_name.value_or("");
  const Json args = action.input            ? *action.input
                    : found != calls_.end() ? found->second.args
                                            : Json{"{}"};
  std::string reason = action.prompt.value_or("A decision is needed.");
  if (action.reason) reason += "\n" + *action.reason;
  if (action.impact) reason += "\nImpact: " + *action.impact;
  if (action.rollback) reason += "\nTo undo: " + *action.rollback;
  const std::string diff = diff_of(cwd_, tool, args);
  return fmt::format(
      R"({{"toolCallId":{},"title":{},"kind":"{}","status":"pending","content":[{}{}{}]{},)"
      R"("rawInput":{}}})",
      json_text(id.empty() ? fallback : id.text()),
      json_text(tool.empty() ? action.prompt.value_or("decision") : title_of_call(tool, args.text)),
      kind_of_tool(tool), text_content(reason), diff.empty() ? "" : ",", diff,
      locations_of(cwd_, tool, args), args.text);
}

}  // namespace agentrt::cli
