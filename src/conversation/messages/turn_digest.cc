#include "conversation/messages/turn_digest.h"

#include <algorithm>
#include <utility>

#include "conversation/messages/question.h"
#include "conversation/messages/turn_messages.h"
#include "schema/json.h"
#include "schema/outputs.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

constexpr std::size_t kDigestBytes = 32;

HexDigest digest_of_text(std::string_view text) { return hex(bytes_of(sha256(text))); }

std::string raw(const HexDigest& digest) {
  const auto bytes = digest_of_hex(digest);
  return bytes ? std::string(bytes_of(*bytes)) : std::string(kDigestBytes, '\0');
}

// Without the prefix sha256:.
std::string raw_named(std::string_view digest) {
  if (digest.starts_with(kDigestPrefix)) digest.remove_prefix(kDigestPrefix.size());
  return raw(HexDigest(digest));
}

// A JSON object, member by member.
class Writer {
 public:
  void text(std::string_view name, std::string_view value) {
    next(name);
    write_string(out_, value);
  }
  void json(std::string_view name, std::string_view value) {
    next(name);
    out_ += value;
  }
  template <class Range, class Write>
  void list(std::string_view name, const Range& range, Write write) {
    if (range.empty()) return;
    next(name);
    out_ += '[';
    for (const auto& each : range) {
      if (&each != &range.front()) out_ += ',';
      Writer inner;
      write(inner, each);
      out_ += inner.end();
    }
    out_ += ']';
  }
  std::string end() { return out_.empty() ? "{}" : out_ + "}"; }

 private:
  void next(std::string_view name) {
    out_ += out_.empty() ? '{' : ',';
    write_string(out_, name);
    out_ += ':';
  }

  std::string out_;
};

void close_group(TurnDigest& turn) {
  const auto add = [&turn](const HexDigest& digest) { turn.after = extended(turn.after, digest); };
  if (!turn.answer.empty()) add(turn.answer);
  for (const SentCall& call : turn.calls)
    add(call.digest.empty() ? digest_of(result_of(call.outcome)) : call.digest);
  for (const HexDigest& note : turn.notes) add(note);
  turn.answer.clear();
  turn.calls.clear();
  turn.notes.clear();
}

void take_answer(TurnDigest& turn, const Fact& fact, const ModelCompleted& completed) {
  if (completed.purpose) return;
  close_group(turn);
  turn.answered = true;
  const auto answer = answer_of(fact.ids.session, completed);
  if (!answer) return;
  turn.answer = digest_of(*answer);
  for (const ports::MadeCall& call : answer->calls)
    turn.calls.push_back({.outcome = {.call = call.id}, .digest = {}});
}

void take_context(TurnDigest& turn, const ContextResolved& context) {
  turn.history = context.history_digest;
  if (!turn.answered) turn.question = context.input_digest;
  const bool again = std::exchange(turn.prepared, true);
  if (!context.message) return;
  const HexDigest note = digest_of(note_of(*context.message));
  if (again)
    turn.notes.push_back(note);
  else
    turn.before = extended(turn.before, note);
}

void take_summary(TurnDigest& turn, const Fact& fact, const CompactionCompleted& completed) {
  const ports::Message continuation =
      continuation_message(fact.ids.session, completed.continuation_ref.value_or(""));
  turn.history = extended({}, digest_of(continuation));
  if (!turn.answered) return;
  turn.before.clear();
  turn.question.emplace();
  turn.after.clear();
  turn.answer.clear();
  turn.calls.clear();
  turn.notes.clear();
}

}  // namespace

HexDigest digest_of(const ports::Message& message) {
  Writer out;
  out.text("role", name_of(message.role));
  out.text("text", message.text);
  out.list("parts", message.parts, [](Writer& to, const ports::StoredPart& part) {
    to.text("ref", part.ref);
    to.text("mediaType", part.media_type);
    to.text("name", part.name);
    to.json("offset", std::to_string(part.offset));
  });
  out.list("images", message.images, [](Writer& to, const ports::StoredImage& image) {
    to.text("ref", image.ref);
    to.text("mediaType", image.media_type);
  });
  out.list("calls", message.calls, [](Writer& to, const ports::MadeCall& call) {
    to.text("toolCallId", call.id.text());
    to.text("name", call.name);
    to.json("args", call.args.text);
  });
  if (message.state) out.json("providerState", message.state->state.text);
  if (message.answers) out.text("toolCallId", message.answers.text());
  if (message.is_error) out.json("isError", "true");
  return digest_of_text(out.end());
}

HexDigest extended(const HexDigest& list, const HexDigest& element) {
  return digest_of_text(raw(list) + raw(element));
}

HexDigest turn_digest(const HexDigest& before, const HexDigest& question, const HexDigest& after) {
  return digest_of_text(raw(before) + raw(question) + raw(after));
}

HexDigest turn_digest(std::span<const ports::Message> messages,
                      std::optional<std::size_t> question) {
  HexDigest before;
  HexDigest after;
  const std::size_t at = question.value_or(0);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (question && i == at) continue;
    HexDigest& list = question && i < at ? before : after;
    list = extended(list, digest_of(messages[i]));
  }
  return turn_digest(before, question ? digest_of(messages[at]) : HexDigest{}, after);
}

void take(TurnDigest& turn, const Fact& fact) {
  if (const auto* completed = std::get_if<ModelCompleted>(&fact.payload))
    return take_answer(turn, fact, *completed);
  if (const auto* context = std::get_if<ContextResolved>(&fact.payload))
    return take_context(turn, *context);
  if (const auto* summary = std::get_if<CompactionCompleted>(&fact.payload))
    return take_summary(turn, fact, *summary);
  const auto call = std::ranges::find(turn.calls, fact.ids.tool_call_id,
                                      [](const SentCall& each) { return each.outcome.call; });
  if (call != turn.calls.end() && take(call->outcome, fact)) {
    call->digest.clear();
    if (call->outcome.known) {
      call->digest = digest_of(result_of(call->outcome));
      call->outcome.text.clear();
      call->outcome.stored.clear();
    }
  }
  if (const auto* hook = std::get_if<HookCompleted>(&fact.payload))
    for (std::string& text : notes_of(*hook))
      turn.notes.push_back(digest_of(note_of(std::move(text))));
}

std::string request_digest(const RequestParts& parts) {
  return std::string(kDigestPrefix) +
         digest_of_text(raw(digest_of_text(parts.model)) + raw(digest_of_text(parts.parameters)) +
                        raw_named(parts.instructions) + raw_named(parts.tools) +
                        raw(parts.history) + raw(parts.turn));
}

std::optional<std::string> request_digest(const TurnDigest& turn, std::string model,
                                          std::string parameters) {
  if (!turn.history || !turn.question) return std::nullopt;
  TurnDigest whole = turn;
  close_group(whole);
  return request_digest({.model = std::move(model),
                         .parameters = std::move(parameters),
                         .instructions = whole.instructions,
                         .tools = whole.tools,
                         .history = *whole.history,
                         .turn = turn_digest(whole.before, *whole.question, whole.after)});
}

}  // namespace agentrt::conversation
