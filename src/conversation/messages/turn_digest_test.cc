// conversation/messages/turn_digest_test.cc: the digest that a view extends fact by fact equals
// that of the messages.
#include "conversation/messages/turn_digest.h"

#include <random>

#include <doctest/doctest.h>

#include "conversation/messages/question.h"
#include "conversation/messages/turn_messages.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

const SessionId kSession{"sess_1"};
const TurnScope kTurn{kSession,
                      {ThreadId{"thread_1"}, TurnId{"turn_1"}, TaskId{"task_1"}, RunId{"run_1"},
                       AttemptId{"attempt_1"}, TraceId{"4bf92f3577b34da6a3ce929d0e0e4736"}}};
const std::vector<InputPart> kInput{{InputKind::text, "Fix it.", {}}, {InputKind::file, {}, "a.c"}};

// A turn whose facts are random, read in both ways.
class RandomTurn {
 public:
  explicit RandomTurn(std::uint32_t seed) : random_(seed) { reading_.set_input(kInput); }

  void step() {
    switch (random_() % 8) {
      case 0:
        return prepare();
      case 1:
        return answer();
      case 2:
        return hook(false);
      case 3:
        return hook(true);
      default:
        return of_call();
    }
  }
  HexDigest by_facts() const {
    const auto digest = request_digest(digest_, "m", "{}");
    return digest.value_or("none");
  }
  HexDigest by_messages() const {
    const auto messages = reading_.messages();
    return request_digest({.model = "m",
                           .parameters = "{}",
                           .instructions = {},
                           .tools = {},
                           .history = history_,
                           .turn = turn_digest(messages, reading_.question())});
  }
  void prepare() {
    ContextResolved context;
    if (random_() % 2 == 0) context.message = fmt("surroundings");
    context.workspace_refs.push_back({.ref = "file:a.c", .output_ref = fmt("out_")});
    history_ = extended({}, digest_of(note_of(fmt("before"))));
    context.history_digest = history_;
    if (!reading_.answered())
      context.input_digest = digest_of(question_of(kSession, kInput, files_in(context)));
    give(kTurn, context);
  }
  void compact() {
    CompactionCompleted completed;
    completed.continuation_ref = fmt("out_");
    history_ = extended({}, digest_of(continuation_message(kSession, *completed.continuation_ref)));
    const Fact fact = fact_of(Draft{kTurn, completed});
    take(digest_, fact);
    if (reading_.answered()) reading_.cover();
  }

 private:
  std::string fmt(std::string_view word) { return std::string(word) + std::to_string(random_()); }

  Fact fact_of(Draft draft) {
    return Fact{++sequence_, Timestamp{1}, std::move(draft.ids), std::move(draft.payload)};
  }
  template <class P>
  void give(const typename P::Scope& scope, P payload) {
    const Fact fact = fact_of(Draft{scope, std::move(payload)});
    reading_.take(fact);
    take(digest_, fact);
  }
  void answer() {
    ModelCompleted completed{.text = random_() % 3 == 0 ? "" : fmt("answer "),
                             .tool_calls = {},
                             .provider = "script",
                             .model = "m"};
    calls_.clear();
    for (std::uint32_t i = random_() % 4; i > 0; --i) {
      calls_.emplace_back(fmt("call_"));
      completed.tool_calls.push_back({calls_.back(), "shell", Json{R"({"command":"ls"})"}, {}});
    }
    if (random_() % 3 == 0) completed.provider_state = Json{R"({"id":1})"};
    give(ModelScope{kTurn, ModelRequestId{"mreq_1"}}, std::move(completed));
  }
  void hook(bool updates) {
    HookCompleted hook{.point = HookPoint::post_tool_use};
    if (updates) hook.updated_tool_output = fmt("updated ");
    if (random_() % 2 == 0) hook.additional_context = std::vector<std::string>{fmt("note ")};
    if (random_() % 2 == 0) hook.block = true;
    give(HookScope{calls_.empty() ? kTurn : TurnScope{scope()}, "hook_1"}, std::move(hook));
  }
  ToolScope scope() { return {kTurn, StepId{"step_1"}, calls_.at(random_() % calls_.size())}; }
  void of_call() {
    if (calls_.empty()) return;
    const ToolScope of = scope();
    const ProcessScope process{of, ProcessId{"proc_1"}};
    switch (random_() % 6) {
      case 0:
        return give(of, ToolStarted{.tool_name = "shell"});
      case 1:
        return give(process,
                    ProcessCompleted{.exit_code = random_() % 3,
                                     .output_refs = std::vector<std::string>{fmt("out_")}});
      case 2:
        return give(of,
                    OutputSpilled{.output_ref = fmt("out_"), .size = 9, .media_type = "image/png"});
      case 3:
        return give(of, ToolFailed{.error = {Category::denied, fmt("no "), false}});
      case 4:
        return give(of, OutputSpilled{.output_ref = "out_1", .size = 5, .digest = "sha256:aa"});
      default:
        return give(of, ToolResult{.preview = fmt("result "),
                                   .output_ref = "out_1",
                                   .is_error = random_() % 2 == 0});
    }
  }

  std::mt19937 random_;
  Sequence sequence_ = 0;
  TurnReading reading_{kSession, TurnId{"turn_1"}, 1};
  TurnDigest digest_;
  HexDigest history_;
  std::vector<ToolCallId> calls_;
};

}  // namespace

TEST_CASE("the digest of a turn by its facts is that of its messages") {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    RandomTurn turn(seed);
    turn.prepare();
    for (int step = 0; step < 60; ++step) {
      if (step % 25 == 24) turn.compact();
      turn.step();
      REQUIRE_MESSAGE(turn.by_facts() == turn.by_messages(), "seed ", seed, " step ", step);
    }
  }
}

TEST_CASE("a turn that an earlier version prepared has no digest") {
  TurnDigest turn;
  CHECK_FALSE(request_digest(turn, "m", "{}").has_value());
  turn.history = "";
  CHECK_FALSE(request_digest(turn, "m", "{}").has_value());
  turn.question = "";
  CHECK(request_digest(turn, "m", "{}")->starts_with("sha256:"));
}

TEST_CASE("every part of a request changes its digest") {
  const RequestParts parts{"m", "{}", "sha256:" + std::string(64, 'a'), {}, {}, {}};
  const std::string digest = request_digest(parts);
  const std::string other(64, 'b');
  for (auto member : {&RequestParts::model, &RequestParts::parameters, &RequestParts::instructions,
                      &RequestParts::tools, &RequestParts::history, &RequestParts::turn}) {
    RequestParts changed = parts;
    changed.*member = other;
    CHECK(request_digest(changed) != digest);
  }
}

TEST_CASE("each member of a message changes its digest, and sizes do not") {
  ports::Message message = note_of("a");
  message.parts.push_back(
      {.session = kSession, .ref = "out_1", .media_type = {}, .name = {}, .offset = 0, .size = 0});
  const HexDigest digest = digest_of(message);
  message.parts.front().size = 7;
  CHECK(digest_of(message) == digest);
  message.parts.front().offset = 1;
  CHECK(digest_of(message) != digest);
}

}  // namespace agentrt::conversation
