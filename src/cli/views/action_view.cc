#include "cli/views/action_view.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/sessions/session_ids.h"
#include "cli/views/form_view.h"
#include "cli/views/layout.h"
#include "cli/views/trust_view.h"
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

// The arguments of a command, if the action is about one.
std::optional<tools::Command> command_of(const ActionSnapshot& action) {
  if (!action.input || !action.tool_name) return std::nullopt;
  return tools::command_in(*action.tool_name, action.input->text);
}

bool is_command(const ActionSnapshot& action) {
  return tools::runner_of(action.tool_name.value_or("")) == tools::Runner::process;
}

bool is_about_a_host(const ActionSnapshot& action) {
  return tools::rule_form_of(action.tool_name.value_or("")) == tools::RuleForm::host;
}

bool is_outside(const ActionSnapshot& action) { return action.outside_sandbox.value_or(false); }

// "as root, without network"
std::string outside_words(const ActionSnapshot& action) {
  return fmt::format("as {}, {} network", action.user.value_or("the user of the runtime"),
                     action.network.value_or(false) ? "with the machine's" : "without");
}

std::string heading_of(const ActionSnapshot& action) {
  if (is_outside(action)) return "OUTSIDE THE SANDBOX: run this command without confinement?";
  if (is_command(action)) return "Run this command?";
  if (is_about_a_host(action)) return "Load this page from the web?";
  return fmt::format("Allow a call of {}?", visible_line(action.tool_name.value_or("this")));
}

// How a command runs, where that differs from the usual.
void add_manner(std::string& out, const ActionSnapshot& action, Paper paper) {
  const auto command = command_of(action);
  if (is_outside(action)) {
    add_row(out, "OUTSIDE",
            fmt::format("no sandbox confines it: it runs {}, and can read and change every file of "
                        "that user",
                        outside_words(action)),
            Paint::red, paper);
    add_row(
        out, "model says",
        command && command->justification ? *command->justification : "(it gives no justification)",
        Paint::yellow, paper);
  } else if (action.sandbox == SandboxMode::full_access && command) {
    add_row(out, "sandbox", "none: this turn has the profile full_access", Paint::yellow, paper);
  }
  if (command && command->background)
    add_row(out, "background", "it keeps running after the call ends", Paint::yellow, paper);
  if (command && command->tty)
    add_row(out, "tty", "it gets a terminal of its own", Paint::plain, paper);
}

// The same as one sentence; empty for an ordinary call.
std::string manner_of(const ActionSnapshot& action) {
  const auto command = command_of(action);
  std::vector<std::string> parts;
  if (is_outside(action)) parts.push_back("runs OUTSIDE THE SANDBOX " + outside_words(action));
  if (command && command->background) parts.emplace_back("runs in the background");
  if (command && command->tty) parts.emplace_back("has a tty");
  std::string out = fmt::format("{}", fmt::join(parts, "; "));
  if (is_outside(action))
    out += "; the model says: " +
           (command && command->justification ? *command->justification : std::string("nothing"));
  return out;
}

std::string heading(std::string_view text, Paint how, Paper paper) {
  std::string out;
  for (const std::string& line : prose_lines(visible_line(text), paper.width))
    out += paint(line, how, paper.colour) + "\n";
  return out;
}

std::string permission_question(const ActionSnapshot& action, Paper paper) {
  const std::string subject = subject_of(action);
  std::string out;
  out += heading(heading_of(action), is_outside(action) ? Paint::alarm : Paint::bold, paper) + "\n";
  add_block(out, subject, Paint::cyan, paper);
  out += "\n";
  if (action.subagent) add_row(out, "subagent", *action.subagent, Paint::yellow, paper);
  add_manner(out, action, paper);
  if (action.cwd) add_row(out, "folder", *action.cwd, Paint::plain, paper);
  if (action.reason) add_row(out, "reason", *action.reason, Paint::plain, paper);
  if (action.destructive.value_or(false)) {
    add_row(out, "destructive", action.impact.value_or("it may delete or overwrite data"),
            Paint::red, paper);
    if (action.rollback) add_row(out, "undo", *action.rollback, Paint::plain, paper);
  }
  if (action.executes_unknown)
    add_row(out, "warning", *action.executes_unknown, Paint::yellow, paper);
  if (std::ranges::count(subject, '\n') > 0 || subject.size() > 200)
    add_row(out, "length",
            fmt::format("{} bytes in {} lines, shown in full", subject.size(),
                        std::ranges::count(subject, '\n') + 1),
            Paint::plain, paper);
  if (action.expires_at) add_row(out, "answer by", format(*action.expires_at), Paint::plain, paper);
  return out;
}

std::string trust_question(const ActionSnapshot& action, Paper paper) {
  std::string out =
      heading(action.prompt.value_or("Trust these files?"), Paint::bold, paper) + "\n";
  const auto files = action.files.value_or(std::vector<PolicyFile>{});
  out += trust_files_text(files, paper) + "\n";
  const bool described = std::ranges::any_of(
      files, [](const PolicyFile& file) { return file.effects && !file.effects->empty(); });
  if (action.reason && !described) add_row(out, "they want", *action.reason, Paint::plain, paper);
  return out;
}

std::string choice_line(std::size_t number, std::string_view text, Paper paper) {
  return fmt::format("    {} {}\n", paint(fmt::format("[{}]", number), Paint::cyan, paper.colour),
                     visible_line(text));
}

// The answers that the question offers; none: any text is an answer.
std::vector<std::string> choices_of(const ActionSnapshot& action) {
  if (!action.input || !action.tool_name) return {};
  const auto question = tools::question_in(*action.tool_name, action.input->text);
  return question ? question->choices.value_or(std::vector<std::string>{})
                  : std::vector<std::string>{};
}

std::string input_question(const ActionSnapshot& action, Paper paper) {
  std::string out;
  if (action.subagent) add_row(out, "subagent", *action.subagent, Paint::yellow, paper);
  add_block(out, action.prompt.value_or(""), Paint::bold, paper);
  const std::vector<std::string> choices = choices_of(action);
  for (std::size_t i = 0; i < choices.size(); ++i) out += choice_line(i + 1, choices[i], paper);
  return out;
}

std::string form_question(const ActionSnapshot& action, Paper paper) {
  std::string out =
      paint(fmt::format("The MCP server {} asks:", visible_line(action.server.value_or("?"))),
            Paint::bold, paper.colour) +
      "\n\n";
  add_block(out, action.prompt.value_or(""), Paint::cyan, paper);
  out += "\n";
  if (action.subagent) add_row(out, "subagent", *action.subagent, Paint::yellow, paper);
  if (action.url) add_row(out, "open", *action.url, Paint::yellow, paper);
  for (const FormField& field : form_fields(action.schema.value_or(Json{"{}"}))) {
    std::string about = field.takes_several()   ? "any of these"
                        : field.choices.empty() ? field.type
                                                : "one of these";
    if (!field.description.empty()) about += ": " + field.description;
    add_row(out, field.name, about + (field.required ? "" : " (optional)"), Paint::plain, paper);
    for (std::size_t i = 0; i < field.choices.size(); ++i)
      out += choice_line(i + 1, field.choices[i].title, paper);
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

bool offers(const ActionSnapshot& action, AnswerScope scope) {
  return !action.scopes ||
         std::ranges::find(*action.scopes, name_of(scope)) != action.scopes->end();
}

// The offered rule for exactly this call, whose text is a JSON string, or the one that covers more;
// nullptr: it is not listed.
const std::string* offered_rule(const ActionSnapshot& action, bool exact) {
  if (!action.rules) return nullptr;
  const auto found = std::ranges::find_if(
      *action.rules, [&](const std::string& rule) { return rule.contains("(\"") == exact; });
  return found == action.rules->end() ? nullptr : &*found;
}
const std::string* wider_rule(const ActionSnapshot& action) { return offered_rule(action, false); }

// What an answer for longer than once means, with the rule that it stores.
std::string lasting(std::string_view what, std::string_view how_long, const std::string* rule) {
  constexpr std::size_t kRuleCells = 60;  // the exact text is above in full
  std::string out = fmt::format("{} {}", what, how_long);
  if (rule) out += "; stores the rule " + fit(*rule, kRuleCells);
  return out;
}

// What the offered wider rule covers, and the letter for it.
struct Wider {
  char letter;
  std::string what;
};
Wider wider_words(const ActionSnapshot& action, const std::string& rule) {
  if (is_command(action)) {
    // shell(git log:*)
    const std::size_t begin = rule.find('(') + 1;
    const std::size_t end = std::max(begin, std::min(rule.rfind(":*"), rule.size()));
    return {'p', fmt::format("yes, every command that begins with {},",
                             one_line(std::string_view(rule).substr(begin, end - begin)))};
  }
  if (is_about_a_host(action)) return {'h', "yes, every page of this host"};
  return {'t', "yes, every call of the tool"};
}

std::vector<KeyRow> permission_keys(const ActionSnapshot& action) {
  constexpr std::string_view kSession = "in this session";
  constexpr std::string_view kAlways = "always in this folder";
  const bool session = offers(action, AnswerScope::session);
  const bool always = offers(action, AnswerScope::always);
  const std::string_view what =
      is_about_a_path(action) ? "yes, for this path" : "yes, exactly this";
  const std::string* exact = offered_rule(action, true);
  std::vector<KeyRow> keys{{"y", "yes, once"}};
  if (session) keys.push_back({"s", lasting(what, kSession, exact)});
  if (always) keys.push_back({"a", lasting(what, kAlways, exact)});
  if (const std::string* wider = wider_rule(action)) {
    const Wider all = wider_words(action, *wider);
    if (session)
      keys.push_back({fmt::format("s{}", all.letter), lasting(all.what, kSession, wider)});
    if (always) keys.push_back({fmt::format("a{}", all.letter), lasting(all.what, kAlways, wider)});
  }
  keys.push_back({"n", "no; n REASON also tells the model why"});
  return keys;
}

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return out;
}

// y, n, n REASON; for a permission also s, a and, with a wider rule, sp, sh, st, ap, ah, at.
Result<RespondAction> read_decision(const ActionSnapshot& action, std::string_view line,
                                    RespondAction answer) {
  const std::size_t space = std::min(line.find(' '), line.size());
  std::string_view rest = line.substr(space);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  const std::string word = lowered(line.substr(0, space));
  if (word == "n" || word == "no") {
    answer.decision = "deny";
    if (!rest.empty()) answer.reason = std::string(rest);
    return answer;
  }
  const bool permission = is(action, kPermissionAction);
  answer.decision = "allow";
  if (rest.empty() && (word == "y" || word == "yes")) return answer;
  const bool exact = word == "s" || word == "session" || word == "a" || word == "always";
  const bool wider = word.size() == 2 && (word[0] == 's' || word[0] == 'a') &&
                     (word[1] == 'p' || word[1] == 'h' || word[1] == 't');
  const std::string* rule = wider_rule(action);
  const AnswerScope scope = word.starts_with('s') ? AnswerScope::session : AnswerScope::always;
  if (permission && rest.empty() && offers(action, scope) && (exact || (wider && rule))) {
    answer.scope = scope;
    if (wider) answer.rule = *rule;
    return answer;
  }
  if (!permission) return wrong("type y or n");
  std::string keys;
  for (const KeyRow& key : permission_keys(action))
    keys += (keys.empty() ? "" : key.key == "n" ? " or " : ", ") + key.key;
  return wrong("type " + keys);
}

Paint paint_of(Decision decision) {
  if (decision == Decision::allow || decision == Decision::sandboxed) return Paint::green;
  return decision == Decision::ask ? Paint::yellow : Paint::red;
}

}  // namespace

std::string question_text(const ActionSnapshot& action, Paper paper) {
  if (is(action, kPermissionAction)) return permission_question(action, paper);
  if (is(action, kTrustAction)) return trust_question(action, paper);
  if (is(action, kElicitationAction)) return form_question(action, paper);
  return input_question(action, paper);
}

std::string answer_prompt(const ActionSnapshot& action, Paper paper) {
  if (is(action, kPermissionAction)) return keys_text(permission_keys(action), paper);
  if (is(action, kTrustAction))
    return keys_text({{"y", "trust them as they are now"}, {"n", "continue without them"}}, paper);
  const FormHint typed = form_hint(action);
  if (is(action, kElicitationAction))
    return keys_text({action.url ? KeyRow{"y", "I have finished there"}
                                 : KeyRow{std::string(typed.what), std::string(typed.meaning)},
                      {"/n", "decline"},
                      {"/c", "cancel"}},
                     paper);
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
  return read_decision(action, line, std::move(answer));
}

std::string refusal_text(std::string_view why, Paper paper) {
  std::string out;
  add_paragraph(out, "not accepted: " + std::string(why), Paint::yellow, paper);
  return out;
}

std::string elsewhere_text(const ActionSnapshot& action, Paper paper) {
  const bool typed = is(action, kInputAction) || (is(action, kElicitationAction) && !action.url);
  const std::string how = fmt::format(
      "standard input has ended; answer from another terminal with agentrt approve {0}{1} or "
      "agentrt deny {0}; Ctrl-C interrupts the turn",
      one_line(action.action_id.text()), typed ? " --answer TEXT" : "");
  std::string out;
  add_paragraph(out, how, Paint::yellow, paper);
  return out;
}

std::string subject_line(const ActionSnapshot& action) {
  const std::string what =
      is(action, kPermissionAction) ? subject_of(action) : action.prompt.value_or("");
  return is_outside(action) ? "OUTSIDE THE SANDBOX: " + what : what;
}

std::string answer_commands(const ActionId& action) {
  return fmt::format("answer: agentrt approve {0}, or agentrt deny {0}", action.text());
}

std::string actions_text(const std::vector<ActionSnapshot>& actions, Timestamp now, Paper paper) {
  if (actions.empty()) return "No requests are waiting for a decision.\n";
  Table table{{"ACTION", "WAITS", "SESSION", "WHAT"}, {}};
  std::vector<SessionId> sessions;
  for (const ActionSnapshot& action : actions)
    if (std::ranges::find(sessions, action.session_id) == sessions.end())
      sessions.push_back(action.session_id);
  const std::vector<std::string> names = short_ids(sessions);
  for (const ActionSnapshot& action : actions) {
    const auto at = std::ranges::find(sessions, action.session_id) - sessions.begin();
    table.rows.push_back({action.action_id.text(), spoken_age(action.required_at, now),
                          names[static_cast<std::size_t>(at)], subject_line(action)});
  }
  std::string out = render(table, paper.width, paper.colour);
  for (const ActionSnapshot& action : actions) {
    const std::string manner = manner_of(action);
    if (manner.empty()) continue;
    out += "\n";
    add_paragraph(out, action.action_id.text() + " " + manner,
                  is_outside(action) ? Paint::red : Paint::yellow, paper);
  }
  return out;
}

std::string explanation_text(const EvaluatePermissionReply& reply, std::string_view text,
                             Paper paper) {
  std::string out = paint(name_of(reply.decision), paint_of(reply.decision), paper.colour) + ": " +
                    visible_line(reply.decision_reason) + "\n\n";
  add_block(out, text, Paint::cyan, paper);
  out += "\n";
  add_row(out, "folder", reply.cwd, Paint::plain, paper);
  add_row(out, "mode", name_of(reply.mode), Paint::plain, paper);
  add_row(out, "sandbox", name_of(reply.sandbox), Paint::plain, paper);
  for (const std::string& command : reply.subcommands)
    add_row(out, "runs", command, Paint::plain, paper);
  if (reply.executed) add_row(out, "bash gets", *reply.executed, Paint::plain, paper);
  for (const Verdict& verdict : reply.chain) {
    std::string said = fmt::format("{}: {}", name_of(verdict.source), name_of(verdict.verdict));
    if (verdict.rule) said += fmt::format(" by {}", *verdict.rule);
    // The reason of the source that decides is the first line.
    const bool decides = verdict.source == reply.decision_source &&
                         verdict.verdict == reply.decision && verdict.reason &&
                         reply.decision_reason.starts_with(*verdict.reason);
    if (decides)
      said += " (decides)";
    else if (verdict.reason)
      said += fmt::format(" ({})", *verdict.reason);
    add_row(out, "source", said, Paint::plain, paper);
  }
  if (reply.destructive)
    add_row(out, "destructive", reply.impact.value_or("it may delete or overwrite data"),
            Paint::red, paper);
  if (reply.rollback) add_row(out, "undo", *reply.rollback, Paint::plain, paper);
  if (reply.executes_unknown)
    add_row(out, "warning", *reply.executes_unknown, Paint::yellow, paper);
  for (const std::string& ignored : reply.ignored)
    add_row(out, "not trusted", ignored, Paint::yellow, paper);
  return out;
}

}  // namespace agentrt::cli
