#include "channels/agui/agui_events.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace agentrt::channels {
namespace {

using namespace schema;

std::string json_text(std::string_view text) {
  std::string out;
  write_string(out, text);
  return out;
}

bool offers(const ActionRequired& action, std::string_view decision) {
  return action.decisions &&
         std::ranges::find(*action.decisions, decision) != action.decisions->end();
}

constexpr std::string_view kApproval =
    R"({"type":"object","required":["approved"],"properties":{"approved":{"type":"boolean"}}})";

std::string usage_of(const Usage& usage) {
  return fmt::format(R"([{{"inputTokens":{},"outputTokens":{}}}])", usage.input_tokens,
                     usage.output_tokens);
}

}  // namespace

std::vector<std::string> agui_event_types() {
  return {"model.requested", "model.delta",     "reasoning.delta", "model.completed",
          "model.failed",    "tool.result",     "tool.failed",     "artifact.changed",
          "action.required", "action.resolved", "turn.completed",  "turn.failed"};
}

std::string agui_interrupt(const ActionId& id, const ToolCallId& call,
                           const ActionRequired& action) {
  const bool approval = offers(action, "allow") && offers(action, "deny");
  const std::string_view reason = approval && !call.empty() ? "tool_call"
                                  : approval                ? "confirmation"
                                                            : "input_required";
  std::string out = fmt::format(R"({{"id":{},"reason":"{}")", json_text(id.text()), reason);
  if (action.prompt) out += fmt::format(R"(,"message":{})", json_text(*action.prompt));
  if (!call.empty()) out += fmt::format(R"(,"toolCallId":{})", json_text(call.text()));
  out +=
      fmt::format(R"(,"responseSchema":{})", approval        ? kApproval
                                             : action.schema ? std::string_view(action.schema->text)
                                                             : std::string_view("{}"));
  if (action.expires_at) out += fmt::format(R"(,"expiresAt":"{}")", format(*action.expires_at));
  return out + "}";
}

std::string AguiEvents::started() const {
  return fmt::format(R"({{"type":"RUN_STARTED","threadId":{},"runId":{}}})", json_text(thread_),
                     json_text(run_));
}

std::vector<std::string> AguiEvents::ignored(const AguiInput& input) {
  std::vector<std::string> members;
  if (!input.tools.empty()) {
    std::vector<std::string> names;
    for (const std::string& tool : input.tools) names.push_back(json_text(tool));
    members.push_back(fmt::format(R"("tools":[{}])", fmt::join(names, ",")));
  }
  if (input.has_context) members.emplace_back(R"("context":true)");
  if (input.has_state) members.emplace_back(R"("state":true)");
  if (members.empty()) return {};
  return {fmt::format(R"({{"type":"CUSTOM","name":"agentrt.ignored","value":{{{}}}}})",
                      fmt::join(members, ","))};
}

std::string AguiEvents::error(const Error& error) {
  return fmt::format(R"({{"type":"RUN_ERROR","message":{},"code":"{}"}})", json_text(error.message),
                     code_name(error.code));
}

void AguiEvents::close_messages(std::vector<std::string>& out) {
  if (!reasoning_.empty()) {
    out.push_back(
        fmt::format(R"({{"type":"REASONING_MESSAGE_END","messageId":{}}})", json_text(reasoning_)));
    out.push_back(
        fmt::format(R"({{"type":"REASONING_END","messageId":{}}})", json_text(reasoning_)));
    reasoning_.clear();
  }
  if (message_.empty()) return;
  out.push_back(
      fmt::format(R"({{"type":"TEXT_MESSAGE_END","messageId":{}}})", json_text(message_)));
  message_.clear();
}

void AguiEvents::close(std::vector<std::string>& out) {
  close_messages(out);
  if (step_.empty()) return;
  out.push_back(fmt::format(R"({{"type":"STEP_FINISHED","stepName":{}}})", json_text(step_)));
  step_.clear();
}

void AguiEvents::finish(std::vector<std::string>& out, const std::string& outcome,
                        const std::string& usage) {
  close(out);
  out.push_back(fmt::format(
      R"({{"type":"RUN_FINISHED","threadId":{},"runId":{},"result":{{"sessionId":{},"turnId":{}}},)"
      R"("outcome":{}{}{}}})",
      json_text(thread_), json_text(run_), json_text(session_.text()), json_text(turn_.text()),
      outcome, usage.empty() ? "" : R"(,"usage":)", usage));
  done_ = true;
}

// The front end sees the conversation and the state as they are at the question.
void AguiEvents::interrupt(std::vector<std::string>& out) {
  close(out);
  std::vector<std::string> messages, interrupts;
  for (const Json& message : messages_) messages.push_back(message.text);
  for (const auto& [id, text] : open_) interrupts.push_back(text);
  out.push_back(
      fmt::format(R"({{"type":"MESSAGES_SNAPSHOT","messages":[{}]}})", fmt::join(messages, ",")));
  out.push_back(fmt::format(
      R"({{"type":"STATE_SNAPSHOT","snapshot":{{"agentrt":{{"sessionId":{},"turnId":{},)"
      R"("interrupts":[{}]}}}}}})",
      json_text(session_.text()), json_text(turn_.text()), fmt::join(interrupts, ",")));
  finish(out,
         fmt::format(R"({{"type":"interrupt","interrupts":[{}]}})", fmt::join(interrupts, ",")),
         "");
}

struct AguiEvents::Visitor {
  AguiEvents& self;
  const Fact& fact;
  std::vector<std::string>& out;

  bool hidden() const { return self.hidden_.contains(fact.ids.model_request_id); }
  std::string request() const { return fact.ids.model_request_id.text(); }

  void operator()(const ModelRequested& requested) {
    if (requested.purpose) {
      self.hidden_.insert(fact.ids.model_request_id);
      return;
    }
    self.close(out);
    self.step_ = fmt::format("step {}", ++self.steps_);
    out.push_back(fmt::format(R"({{"type":"STEP_STARTED","stepName":{}}})", json_text(self.step_)));
  }
  void operator()(const ReasoningDelta& delta) {
    if (hidden() || delta.text.empty()) return;
    if (self.reasoning_.empty()) {
      self.reasoning_ = request() + ".reasoning";
      out.push_back(fmt::format(R"({{"type":"REASONING_START","messageId":{}}})",
                                json_text(self.reasoning_)));
      out.push_back(
          fmt::format(R"({{"type":"REASONING_MESSAGE_START","messageId":{},"role":"reasoning"}})",
                      json_text(self.reasoning_)));
    }
    out.push_back(fmt::format(R"({{"type":"REASONING_MESSAGE_CONTENT","messageId":{},"delta":{}}})",
                              json_text(self.reasoning_), json_text(delta.text)));
  }
  void add_text(const std::string& text) {
    if (text.empty()) return;
    if (self.message_.empty()) {
      self.close_messages(out);
      self.message_ = request();
      self.text_.clear();
      out.push_back(
          fmt::format(R"({{"type":"TEXT_MESSAGE_START","messageId":{},"role":"assistant"}})",
                      json_text(self.message_)));
    }
    self.text_ += text;
    out.push_back(fmt::format(R"({{"type":"TEXT_MESSAGE_CONTENT","messageId":{},"delta":{}}})",
                              json_text(self.message_), json_text(text)));
  }
  void operator()(const ModelDelta& delta) {
    if (!hidden()) add_text(delta.text);
  }
  void operator()(const ModelCompleted& completed) {
    if (self.hidden_.erase(fact.ids.model_request_id) > 0) return;
    if (self.message_.empty() && completed.text) add_text(*completed.text);
    const std::string text = std::exchange(self.text_, {});
    self.close_messages(out);
    std::vector<std::string> calls;
    for (const RequestedCall& call : completed.tool_calls) {
      const std::string id = json_text(call.tool_call_id.text());
      out.push_back(fmt::format(
          R"({{"type":"TOOL_CALL_START","toolCallId":{},"toolCallName":{},"parentMessageId":{}}})",
          id, json_text(call.name), json_text(request())));
      out.push_back(fmt::format(R"({{"type":"TOOL_CALL_ARGS","toolCallId":{},"delta":{}}})", id,
                                json_text(call.args.text)));
      out.push_back(fmt::format(R"({{"type":"TOOL_CALL_END","toolCallId":{}}})", id));
      calls.push_back(
          fmt::format(R"({{"id":{},"type":"function","function":{{"name":{},"arguments":{}}}}})",
                      id, json_text(call.name), json_text(call.args.text)));
    }
    std::string message = fmt::format(R"({{"id":{},"role":"assistant")", json_text(request()));
    if (!text.empty()) message += fmt::format(R"(,"content":{})", json_text(text));
    if (!calls.empty()) message += fmt::format(R"(,"toolCalls":[{}])", fmt::join(calls, ","));
    self.messages_.push_back({message + "}"});
  }
  void operator()(const ModelFailed&) {
    if (self.hidden_.erase(fact.ids.model_request_id) == 0) self.close_messages(out);
  }
  void result(const std::string& content, bool failed) {
    const std::string call = fact.ids.tool_call_id.text();
    out.push_back(
        fmt::format(R"({{"type":"TOOL_CALL_RESULT","messageId":{},"toolCallId":{},"content":{},)"
                    R"("role":"tool"}})",
                    json_text(call + ".result"), json_text(call), json_text(content)));
    self.messages_.push_back(
        {fmt::format(R"({{"id":{},"role":"tool","toolCallId":{},"content":{}{}{}}})",
                     json_text(call + ".result"), json_text(call), json_text(content),
                     failed ? R"(,"error":)" : "", failed ? json_text(content) : "")});
  }
  void operator()(const ToolResult& tool) { result(tool.preview.value_or(""), tool.is_error); }
  void operator()(const ToolFailed& tool) {
    result(tool.preview ? *tool.preview + "\n" + tool.error.message : tool.error.message, true);
  }
  void operator()(const ArtifactChanged& artifact) {
    out.push_back(fmt::format(R"({{"type":"CUSTOM","name":"agentrt.artifact","value":{}}})",
                              to_json(artifact)));
  }
  void operator()(const ActionRequired& action) {
    self.open_.emplace_back(fact.ids.action_id,
                            agui_interrupt(fact.ids.action_id, fact.ids.tool_call_id, action));
    self.interrupt(out);
  }
  void operator()(const ActionResolved&) {
    std::erase_if(self.open_, [&](const auto& each) { return each.first == fact.ids.action_id; });
  }
  void operator()(const TurnCompleted& completed) {
    if (fact.ids.turn_id == self.turn_)
      self.finish(out, R"({"type":"success"})", usage_of(completed.usage));
  }
  void operator()(const TurnFailed& failed) {
    if (fact.ids.turn_id != self.turn_) return;
    if (failed.status == Status::cancelled) return self.finish(out, R"({"type":"cancelled"})", "");
    self.close(out);
    const std::string why = failed.error ? failed.error->message : failed.reason;
    out.push_back(
        fmt::format(R"({{"type":"RUN_ERROR","message":{},"code":"{}"}})",
                    json_text(why.empty() ? "the turn failed" : why),
                    failed.error ? name_of(failed.error->category) : std::string_view("internal")));
    self.done_ = true;
  }
  template <class Other>
  void operator()(const Other&) {}
};

std::vector<std::string> AguiEvents::take(const Fact& fact) {
  std::vector<std::string> out;
  if (done_) return out;
  // Subagents work on threads of their own: of them, only the questions concern the front end.
  const bool own = fact.ids.turn_id == turn_;
  const bool question = std::holds_alternative<ActionRequired>(fact.payload) ||
                        std::holds_alternative<ActionResolved>(fact.payload);
  if (own || question) std::visit(Visitor{*this, fact, out}, fact.payload);
  return out;
}

}  // namespace agentrt::channels
