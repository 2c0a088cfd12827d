#include "conversation/compaction.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/tokens.h"
#include "conversation/messages/turn_digest.h"
#include "schema/json_loose.h"
#include "schema/outputs.h"
#include "schema/utf8.h"
#include "tools/edit_file.h"
#include "tools/update_plan.h"
#include "tools/write_file.h"

namespace agentrt::conversation {
namespace {

constexpr std::string_view kHead =
    "The earlier part of this conversation was replaced by this text. The work continues where it "
    "stopped.";
constexpr std::string_view kSummary = "\n\n## Summary\n\n";
constexpr std::string_view kUser = "\n\n## Messages of the user, word for word, oldest first\n\n";
constexpr std::string_view kState = "\n\n## Current state\n\n";
constexpr std::string_view kNewest = "\n\n## The newest turns, word for word\n\n";
constexpr std::string_view kBetween = "\n\n---\n\n";  // between two messages of the user
constexpr std::string_view kPlan = "Plan: ";
constexpr std::string_view kFile = "Changed file: ";

constexpr std::string_view kSystem =
    "You summarise a conversation between a user and an agent that works with tools, so that the "
    "agent can continue without the conversation. Write in plain sentences. Keep: the goals and "
    "decisions, with reasons; what was done and the results that matter; names of files, "
    "functions, "
    "commands, ids and refs (output:...), exactly as written; errors and how they were solved; "
    "what "
    "is unfinished and the next step. Leave out greetings and repetition. Invent nothing. Answer "
    "with the summary only.";

std::size_t window_bytes(const Covered& covered) {
  return static_cast<std::size_t>(covered.window_tokens) * kBytesPerToken;
}

std::string rendered(const ports::Message& message,
                     const std::map<ToolCallId, std::string>& names) {
  if (message.role == ports::Role::user) return "User:\n" + message.text + "\n\n";
  if (message.role == ports::Role::tool) {
    const auto name = names.find(message.answers);
    return fmt::format("Result of {}{}:\n{}\n\n", name == names.end() ? "a call" : name->second,
                       message.is_error ? " (error)" : "", message.text);
  }
  std::string out = "Agent:\n" + message.text + "\n";
  for (const ports::MadeCall& call : message.calls)
    out += fmt::format("Call of {}: {}\n", call.name, call.args.text);
  return out + "\n";
}

std::vector<std::string> all_rendered(const Covered& covered) {
  std::map<ToolCallId, std::string> names;
  std::vector<std::string> out;
  for (const ports::Message& message : covered.messages) {
    for (const ports::MadeCall& call : message.calls) names[call.id] = call.name;
    out.push_back(rendered(message, names));
  }
  return out;
}

// The section of a continuation that begins with this heading.
std::string_view section_of(std::string_view continuation, std::string_view heading) {
  const std::size_t at = continuation.find(heading);
  if (at == std::string_view::npos) return {};
  continuation.remove_prefix(at + heading.size());
  std::size_t end = continuation.size();
  for (const std::string_view next : {kSummary, kUser, kState, kNewest})
    end = std::min(end, continuation.find(next));
  return continuation.substr(0, end);
}

std::string_view last_continuation(const Covered& covered) {
  return covered.continued && !covered.messages.empty() ? covered.messages.front().text
                                                        : std::string_view{};
}

std::vector<std::string> user_messages(const Covered& covered) {
  std::vector<std::string> out;
  std::string_view before = section_of(last_continuation(covered), kUser);
  while (!before.empty()) {
    const std::size_t end = before.find(kBetween);
    out.emplace_back(before.substr(0, end));
    before.remove_prefix(end == std::string_view::npos ? before.size() : end + kBetween.size());
  }
  for (const std::size_t question : covered.questions)
    if (question < covered.messages.size()) out.push_back(covered.messages[question].text);
  return out;
}

// The newest messages that fit; the last one always does.
std::string newest_fitting(const std::vector<std::string>& texts, std::size_t bytes_max) {
  std::string out;
  for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
    if (!out.empty() && out.size() + text->size() + kBetween.size() > bytes_max) break;
    out = out.empty() ? *text : *text + std::string(kBetween) + out;
  }
  return out;
}

std::optional<std::string> path_in(const schema::Json& args) {
  tools::WriteFileArgs given;  // edit_file names the file by the same member
  schema::Met met;
  if (!schema::check_json(args.text) || !schema::read_loosely(args.text, given, met)) return {};
  return given.path.empty() ? std::nullopt : std::optional(given.path);
}

// The plan and the changed files, from the calls and from the last continuation.
std::vector<std::string> known_state(const Covered& covered) {
  std::string plan;
  std::set<std::string> files;
  std::string_view before = section_of(last_continuation(covered), kState);
  while (!before.empty()) {
    const std::string_view line = before.substr(0, before.find('\n'));
    if (line.starts_with(kPlan)) plan = line.substr(kPlan.size());
    if (line.starts_with(kFile)) files.emplace(line.substr(kFile.size()));
    before.remove_prefix(std::min(before.size(), line.size() + 1));
  }
  for (const ports::Message& message : covered.messages)
    for (const ports::MadeCall& call : message.calls) {
      if (call.name == tools::kUpdatePlan.name) plan = call.args.text;
      if (call.name == tools::kWriteFile.name || call.name == tools::kEditFile.name)
        if (const auto path = path_in(call.args)) files.insert(*path);
    }
  std::vector<std::string> out;
  if (!plan.empty()) out.push_back(std::string(kPlan) + plan);
  for (const std::string& file : files) out.push_back(std::string(kFile) + file);
  return out;
}

// The newest turns that fit as a whole.
std::string newest_turns(const Covered& covered, std::size_t bytes_max) {
  const std::vector<std::string> texts = all_rendered(covered);
  std::string out;
  std::size_t end = texts.size();
  for (auto question = covered.questions.rbegin(); question != covered.questions.rend();
       ++question) {
    std::string turn;
    for (std::size_t i = *question; i < end; ++i) turn += texts[i];
    if (out.size() + turn.size() > bytes_max) break;
    out = turn + out;
    end = *question;
  }
  return out;
}

}  // namespace

Covered covered_part(ports::HistoryWindow window, bool continued, std::uint64_t window_tokens) {
  Covered out;
  out.continued = continued;
  out.window_tokens = window_tokens;
  out.messages = std::move(window.messages);
  if (!window.answered) out.messages.resize(window.own);
  for (const std::size_t question : window.questions)
    if (question < out.messages.size()) out.questions.push_back(question);
  return out;
}

Pieces pieces_of(const Covered& covered) {
  const std::size_t bytes_max = std::max<std::size_t>(window_bytes(covered) / 2, 1'000);
  std::vector<std::string> texts = all_rendered(covered);
  if (covered.continued && !texts.empty()) texts.erase(texts.begin());  // see put_summary_request
  Pieces out;
  std::vector<std::string>& pieces = out.texts;
  for (const std::string& text : texts)
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t used = pieces.empty() ? bytes_max : pieces.back().size();
      if (used + std::min(rest.size(), bytes_max) > bytes_max) pieces.emplace_back();
      std::string_view part = schema::utf8_prefix(rest, bytes_max - pieces.back().size());
      if (part.empty()) part = rest.substr(0, bytes_max);
      pieces.back() += part;
      rest.remove_prefix(part.size());
    }
  if (pieces.size() > kPiecesMax) {
    const auto kept = pieces.end() - static_cast<std::ptrdiff_t>(kPiecesMax);
    for (auto each = pieces.begin(); each != kept; ++each) out.omitted_bytes += each->size();
    pieces.erase(pieces.begin(), kept);
  }
  return out;
}

void put_summary_request(const Covered& covered, const std::string& piece,
                         const std::string& so_far, ports::ModelRequest& request) {
  request.instructions = kSystem;
  std::string known = so_far;
  if (known.empty()) known = section_of(last_continuation(covered), kSummary);
  ports::Message message;
  if (!known.empty())
    message.text = "Summary of the earlier conversation. Keep the parts that still matter:\n\n" +
                   known + "\n\nThe conversation after that summary:\n\n";
  message.text += piece;
  message.text += fmt::format(
      "\nWrite one summary of all of this, in at most {} words.{}", covered.window_tokens / 16,
      covered.instructions.empty() ? "" : " The user asks: " + covered.instructions);
  request.messages = {std::move(message)};
}

std::vector<std::string> piece_digests(const Covered& covered,
                                       const std::vector<std::string>& pieces) {
  std::vector<std::string> out;
  for (const std::string& piece : pieces) {
    ports::ModelRequest request;
    put_summary_request(covered, piece, {}, request);
    const std::string instructions = hex(bytes_of(sha256(request.instructions)));
    out.push_back(std::string(schema::kDigestPrefix) +
                  extended(instructions, digest_of(request.messages.front())));
  }
  return out;
}

std::string continuation_of(const Covered& covered, const std::string& summary,
                            const OpenWork& work) {
  std::size_t covered_bytes = 0;
  for (const ports::Message& message : covered.messages) covered_bytes += message.text.size();
  std::string out(kHead);
  out += kSummary;
  out += summary;
  out += kUser;
  out += newest_fitting(user_messages(covered), window_bytes(covered) / 10);
  out += kState;
  for (const std::string& line : known_state(covered)) out += line + "\n";
  for (const std::string& line : work.lines) out += line + "\n";
  out += work.surroundings;
  const std::string newest =
      newest_turns(covered, std::min(window_bytes(covered) / 4, covered_bytes / 4));
  if (!newest.empty()) out += std::string(kNewest) + newest;
  return out;
}

std::vector<std::string> refs_in(std::string_view text) {
  constexpr std::string_view kPrefix = "output:";
  std::vector<std::string> out;
  for (std::size_t at = text.find(kPrefix); at != std::string_view::npos;
       at = text.find(kPrefix, at + 1)) {
    const std::string_view rest = text.substr(at + kPrefix.size());
    const std::string_view ref =
        rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                              "0123456789_"));
    if (ref.starts_with("out_") && std::ranges::find(out, ref) == out.end()) out.emplace_back(ref);
  }
  return out;
}

}  // namespace agentrt::conversation
