// cli/views/hostile_test.cc: no event content can send control sequences to the terminal.
//
// Every member and every key of every event type is made hostile, one at a time, and rendered by
// each view.
#include <doctest/doctest.h>
#include <simdjson.h>

#include "cli/views/action_view.h"
#include "cli/views/event_line.h"
#include "cli/views/turn_view.h"
#include "schema/testing/samples.h"

namespace agentrt::cli {
namespace {

// Sets a title, the clipboard (OSC 52), C1 controls, a direction override, invisible characters.
constexpr std::string_view kHostile =
    "\x1b]0;t\x07\x1b]52;c;ZXZpbA==\x07\x1b[2J\r\b\xC2\x9B"
    "2J\xC2\x9D\xE2\x80\xAE\xE2\x81\xA6\xE2\x80\x8B\xEF\xBB\xBF\xC2\xAD\xF3\xA0\x81\xA1";

// Serialises a parsed value with the string or key number `target` made hostile.
class Rewriter {
 public:
  explicit Rewriter(std::size_t target) : target_(target) {}

  void write(const simdjson::dom::element& value) {
    if (value.is_object())
      write_object(value.get_object().value_unsafe());
    else if (value.is_array())
      write_array(value.get_array().value_unsafe());
    else if (value.is_string())
      write_text(value.get_string().value_unsafe());
    else
      out += simdjson::to_string(value);
  }

  std::string out;
  std::size_t seen = 0;

 private:
  void write_object(const simdjson::dom::object& object) {
    out += '{';
    bool first = true;
    for (const auto field : object) {
      if (!std::exchange(first, false)) out += ',';
      write_text(field.key);
      out += ':';
      write(field.value);
    }
    out += '}';
  }
  void write_array(const simdjson::dom::array& array) {
    out += '[';
    bool first = true;
    for (const simdjson::dom::element element : array) {
      if (!std::exchange(first, false)) out += ',';
      write(element);
    }
    out += ']';
  }
  void write_text(std::string_view text) {
    const bool hostile = seen++ == target_;
    schema::write_string(out, std::string(text) + std::string(hostile ? kHostile : ""));
  }

  std::size_t target_;
};

// The payload of a draft, with added free-form JSON: argument keys are untrusted too.
std::string payload_of(const schema::Draft& draft) {
  std::string text;
  schema::write_payload(text, draft.payload);
  const std::string sample = R"({"n":[1.10,18446744073709551615,1e400],"s":"\ud83d\ude00"})";
  for (std::size_t at = text.find(sample); at != text.npos; at = text.find(sample, at))
    text.replace(at, sample.size(), R"({"key":"x","inner":{"key":"y"},"list":["z"]})");
  return text;
}

// Removes colour sequences, which are ours; no other escape sequence is allowed.
std::string without_colours(std::string text) {
  for (std::size_t at = text.find("\x1b["); at != text.npos; at = text.find("\x1b[", at)) {
    const std::size_t end = text.find_first_not_of("0123456789;", at + 2);
    if (end == text.npos || text[end] != 'm') break;
    text.erase(at, end + 1 - at);
  }
  return text;
}

void check_text(const std::string& shown, const std::string& what) {
  const std::string text = without_colours(shown);
  CHECK_MESSAGE(safe_text(text) == text, what);
  // The model's prose may contain joiners, and is not a question to approve.
  const bool prose = what.starts_with("model.delta") || what.starts_with("model.completed") ||
                     what.starts_with("reasoning.delta");
  if (!prose || what.ends_with("as a line")) CHECK_MESSAGE(visible(text) == text, what);
}

void show_everywhere(const std::string& type, const std::string& payload) {
  Envelope event;
  event.type = type;
  event.sequence = 1;
  event.session_id = SessionId{"sess_1" + std::string(kHostile)};
  event.thread_id = ThreadId{"thread_1"};
  event.turn_id = TurnId{"turn_1"};
  event.action_id = ActionId{"action_1" + std::string(kHostile)};
  event.model_request_id = ModelRequestId{"mreq_1"};
  event.tool_call_id = ToolCallId{"call_1"};
  event.payload.text = payload;
  for (const Colour colour : {Colour::off, Colour::on}) {
    check_text(event_line(event, 10'000, colour), type + " as a line");
    TurnView view(event.turn_id, event.thread_id, {Layout::together, colour, colour, true, 10'000});
    for (const TurnText::Piece& piece : view.show(event).pieces)
      check_text(piece.text, type + " in a turn");
    for (const TurnText::Piece& piece : view.note(view.end().reason).pieces)
      check_text(piece.text, type + " as the end of a turn");
    if (!view.action()) continue;
    check_text(question_text(*view.action(), {0, colour}), type + " as a question");
    check_text(answer_prompt(*view.action(), {0, colour}), type + " as a prompt");
    check_text(elsewhere_text(*view.action(), {0, colour}), type + " elsewhere");
    check_text(actions_text({*view.action()}, {}, {10'000, colour}), type + " in the list");
  }
}

}  // namespace

TEST_CASE("no member and no key of any event type steers a terminal or hides") {
  std::size_t shown = 0;
  for (const schema::Draft& draft : schema::samples::drafts()) {
    const std::string type(schema::type_of(draft.payload));
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    REQUIRE(parser.parse(payload_of(draft)).get(root) == simdjson::SUCCESS);
    Rewriter counter(~std::size_t{0});
    counter.write(root);
    for (std::size_t target = 0; target < counter.seen; ++target, ++shown) {
      Rewriter rewriter(target);
      rewriter.write(root);
      show_everywhere(type, rewriter.out);
    }
    show_everywhere(type + std::string(kHostile), counter.out);
  }
  CHECK(shown > 1'000);
}

}  // namespace agentrt::cli
