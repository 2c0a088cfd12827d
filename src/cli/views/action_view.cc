#include "cli/views/action_view.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/views/form_view.h"
#include "schema/tools.h"
#include "tools/registry.h"

namespace agentrt::cli {
namespace {

using namespace schema;

// The complete effect of the call: a command's text, the change of a file, or else its arguments.
std::string subject_of(const ActionSnapshot& action) {
  if (!action.input) return action.prompt.value_or("");
  const std::string& input = action.input->text;
  const tools::Tool* own = tools::find(action.tool_name.value_or(""));
  return own && own->subject ? own->subject(input).value_or(input) : input;
}

void add_row(std::string& out, std::string_view name, std::string_view text, Paint how,
             Colour colour) {
  out +=
      fmt::format("  {} {}\n", paint(fmt::format("{:<12}", visible_line(name)), Paint::dim, colour),
                  paint(visible_line(text), how, colour));
}

void add_block(std::string& out, std::string_view text, Paint how, Colour colour) {
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find('\n');
    out += "    " + paint(visible(rest.substr(0, end)), how, colour) + "\n";
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

std::string permission_question(const ActionSnapshot& action, Colour colour) {
  const std::string subject = subject_of(action);
  const bool command = tools::runner_of(action.tool_name.value_or("")) == tools::Runner::process;
  std::string out = paint(command ? "Run this command?"
                                  : fmt::format("Allow a call of {}?",
                                                visible_line(action.tool_name.value_or("this"))),
                          Paint::bold, colour) +
                    "\n\n";
  add_block(out, subject, Paint::cyan, colour);
  out += "\n";
  if (action.cwd) add_row(out, "folder", *action.cwd, Paint::plain, colour);
  if (action.reason) add_row(out, "reason", *action.reason, Paint::plain, colour);
  if (action.destructive.value_or(false)) {
    add_row(out, "destructive", action.impact.value_or("it may delete or overwrite data"),
            Paint::red, colour);
    if (action.rollback) add_row(out, "undo", *action.rollback, Paint::plain, colour);
  }
  if (action.executes_unknown)
    add_row(out, "warning", *action.executes_unknown, Paint::yellow, colour);
  if (std::ranges::count(subject, '\n') > 0 || subject.size() > 200)
    add_row(out, "length",
            fmt::format("{} bytes in {} lines, shown in full", subject.size(),
                        std::ranges::count(subject, '\n') + 1),
            Paint::plain, colour);
  if (action.expires_at)
    add_row(out, "answer by", format(*action.expires_at), Paint::plain, colour);
  return out;
}

std::string trust_question(const ActionSnapshot& action, Colour colour) {
  std::string out =
      paint(visible_line(action.prompt.value_or("Trust these files?")), Paint::bold, colour) +
      "\n\n";
  for (const PolicyFile& file : action.files.value_or(std::vector<PolicyFile>{}))
    add_block(out, file.path + (file.changed ? " (changed since it was trusted)" : ""), Paint::cyan,
              colour);
  out += "\n";
  if (action.reason) add_row(out, "they want", *action.reason, Paint::plain, colour);
  return out;
}

std::string choice_line(std::size_t number, std::string_view text, Colour colour) {
  return fmt::format("    {} {}\n", paint(fmt::format("[{}]", number), Paint::cyan, colour),
                     visible_line(text));
}

// The answers that the question offers; none: any text is an answer.
std::vector<std::string> choices_of(const ActionSnapshot& action) {
  if (!action.input || !action.tool_name) return {};
  const auto question = tools::question_in(*action.tool_name, action.input->text);
  return question ? question->choices.value_or(std::vector<std::string>{})
                  : std::vector<std::string>{};
}

std::string input_question(const ActionSnapshot& action, Colour colour) {
  std::string out;
  add_block(out, action.prompt.value_or(""), Paint::bold, colour);
  const std::vector<std::string> choices = choices_of(action);
  for (std::size_t i = 0; i < choices.size(); ++i) out += choice_line(i + 1, choices[i], colour);
  return out;
}

std::string form_question(const ActionSnapshot& action, Colour colour) {
  std::string out =
      paint(fmt::format("The MCP server {} asks:", visible_line(action.server.value_or("?"))),
            Paint::bold, colour) +
      "\n\n";
  add_block(out, action.prompt.value_or(""), Paint::cyan, colour);
  out += "\n";
  if (action.url) add_row(out, "open", *action.url, Paint::yellow, colour);
  for (const FormField& field : form_fields(action.schema.value_or(Json{"{}"}))) {
    std::string about = field.takes_several()   ? "any of these"
                        : field.choices.empty() ? field.type
                                                : "one of these";
    if (!field.description.empty()) about += ": " + field.description;
    add_row(out, field.name, about + (field.required ? "" : " (optional)"), Paint::plain, colour);
    for (std::size_t i = 0; i < field.choices.size(); ++i)
      out += choice_line(i + 1, field.choices[i].title, colour);
  }
  return out;
}

struct FormHint {
  std::string_view what, meaning;
};

FormHint form_hint(const ActionSnapshot& action) {
  const auto fields = form_fields(action.schema.value_or(Json{"{}"}));
  if (fields.size() != 1 || fields.front().choices.empty())
    return {"value", "or name=value, name=value, or a JSON object"};
  if (fields.front().takes_several()) return {"numbers", "separated by commas"};
  return {"number", "of the choice"};
}

std::unexpected<Error> wrong(std::string sentence) {
  return fail(Code::invalid_params, std::move(sentence));
}

Result<RespondAction> read_form_answer(const ActionSnapshot& action, std::string_view line,
                                       RespondAction answer) {
  if (line == "/n" || line == "/c") {
    answer.decision = line == "/n" ? "decline" : "cancel";
    return answer;
  }
  answer.decision = "accept";
  if (action.url && line == "y") return answer;
  if (action.url)
    return wrong("type y when you have finished there, /n to decline or /c to cancel");
  TRY_ASSIGN(answer.payload, read_form(form_fields(action.schema.value_or(Json{"{}"})), line));
  return answer;
}

bool is(const ActionSnapshot& action, std::string_view type) { return action.action_type == type; }

// For these tools, an answer with a longer scope applies to every call on the same path.
bool is_about_a_path(const ActionSnapshot& action) {
  return tools::rule_form_of(action.tool_name.value_or("")) == tools::RuleForm::path;
}

Result<RespondAction> read_input(const ActionSnapshot& action, std::string_view line,
                                 RespondAction answer) {
  if (line.empty()) return wrong("nothing was typed; type the answer");
  AskUserAnswer given{std::string(line)};
  const std::vector<std::string> choices = choices_of(action);
  if (!choices.empty()) {
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (line == std::to_string(i + 1)) given.answer = choices[i];
    if (std::ranges::find(choices, given.answer) == choices.end())
      return wrong(fmt::format("that is not one of the choices; type a number from 1 to {}",
                               choices.size()));
  }
  answer.decision = "answer";
  answer.payload = Json{to_json(given)};
  return answer;
}

Paint paint_of(Decision decision) {
  if (decision == Decision::allow || decision == Decision::sandboxed) return Paint::green;
  return decision == Decision::ask ? Paint::yellow : Paint::red;
}

}  // namespace

std::string question_text(const ActionSnapshot& action, Colour colour) {
  if (is(action, kPermissionAction)) return permission_question(action, colour);
  if (is(action, kTrustAction)) return trust_question(action, colour);
  if (is(action, kElicitationAction)) return form_question(action, colour);
  return input_question(action, colour);
}

std::string answer_prompt(const ActionSnapshot& action, Colour colour) {
  const auto key = [&](std::string_view letter, std::string_view meaning) {
    return paint(letter, Paint::cyan, colour) + " " + std::string(meaning) + "   ";
  };
  if (is(action, kPermissionAction)) {
    const bool path = is_about_a_path(action);
    return "  " + key("y", "yes, once") +
           key("s", path ? "this path, for this session" : "yes, for this session") +
           key("a", path ? "this path, always" : "always in this folder") + key("n", "no") +
           "\n  > ";
  }
  if (is(action, kTrustAction))
    return "  " + key("y", "trust them as they are now") + key("n", "continue without them") +
           "\n  > ";
  const FormHint typed = form_hint(action);
  if (is(action, kElicitationAction))
    return "  " +
           (action.url ? key("y", "I have finished there") : key(typed.what, typed.meaning)) +
           key("/n", "decline") + key("/c", "cancel") + "\n  > ";
  return "  > ";
}

Result<RespondAction> read_answer(const ActionSnapshot& action, std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  RespondAction answer;
  answer.action_id = action.action_id;
  answer.digest = action.digest;
  if (is(action, kInputAction)) return read_input(action, line, std::move(answer));
  if (is(action, kElicitationAction)) return read_form_answer(action, line, std::move(answer));
  std::string word(line);
  std::ranges::transform(word, word.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  const bool permission = is(action, kPermissionAction);
  if (word == "n" || word == "no") {
    answer.decision = "deny";
  } else if (word == "y" || word == "yes") {
    answer.decision = "allow";
  } else if (permission && (word == "s" || word == "session")) {
    answer.decision = "allow";
    answer.scope = AnswerScope::session;
  } else if (permission && (word == "a" || word == "always")) {
    answer.decision = "allow";
    answer.scope = AnswerScope::always;
  } else {
    return wrong(permission ? "type y, s, a or n" : "type y or n");
  }
  return answer;
}

std::string refusal_text(std::string_view why, Colour colour) {
  return "  " + paint("not accepted: " + one_line(why), Paint::yellow, colour) + "\n";
}

std::string elsewhere_text(const ActionSnapshot& action, Colour colour) {
  const bool typed = is(action, kInputAction) || (is(action, kElicitationAction) && !action.url);
  const std::string how = fmt::format(
      "standard input has ended; answer from another terminal with agentrt approve {0}{1} or "
      "agentrt deny {0}; Ctrl-C interrupts the turn",
      one_line(action.action_id.text()), typed ? " --answer TEXT" : "");
  return "  " + paint(how, Paint::yellow, colour) + "\n";
}

std::string actions_text(const std::vector<ActionSnapshot>& actions, Timestamp now,
                         std::size_t width, Colour colour) {
  if (actions.empty()) return "No requests are waiting for a decision.\n";
  Table table{{"ACTION", "WAITS", "SESSION", "WHAT"}, {}};
  for (const ActionSnapshot& action : actions) {
    const std::string what =
        is(action, kPermissionAction) ? subject_of(action) : action.prompt.value_or("");
    table.rows.push_back({action.action_id.text(), spoken_age(action.required_at, now),
                          action.session_id.text(), what});
  }
  return render(table, width, colour);
}

std::string explanation_text(const EvaluatePermissionReply& reply, std::string_view text,
                             Colour colour) {
  std::string out = paint(name_of(reply.decision), paint_of(reply.decision), colour) + ": " +
                    visible_line(reply.decision_reason) + "\n\n";
  add_block(out, text, Paint::cyan, colour);
  out += "\n";
  add_row(out, "folder", reply.cwd, Paint::plain, colour);
  add_row(out, "mode", name_of(reply.mode), Paint::plain, colour);
  add_row(out, "sandbox", name_of(reply.sandbox), Paint::plain, colour);
  for (const std::string& command : reply.subcommands)
    add_row(out, "runs", command, Paint::plain, colour);
  if (reply.executed) add_row(out, "bash gets", *reply.executed, Paint::plain, colour);
  for (const Verdict& verdict : reply.chain) {
    std::string said = fmt::format("{}: {}", name_of(verdict.source), name_of(verdict.verdict));
    if (verdict.rule) said += fmt::format(" by {}", *verdict.rule);
    if (verdict.reason) said += fmt::format(" ({})", *verdict.reason);
    add_row(out, "source", said, Paint::plain, colour);
  }
  if (reply.destructive)
    add_row(out, "destructive", reply.impact.value_or("it may delete or overwrite data"),
            Paint::red, colour);
  if (reply.rollback) add_row(out, "undo", *reply.rollback, Paint::plain, colour);
  if (reply.executes_unknown)
    add_row(out, "warning", *reply.executes_unknown, Paint::yellow, colour);
  for (const std::string& ignored : reply.ignored)
    add_row(out, "not trusted", ignored, Paint::yellow, colour);
  return out;
}

}  // namespace agentrt::cli
