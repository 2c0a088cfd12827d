#include "sim/fakes/fickle_models.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/fakes/fake_world.h"
#include "sim/virtual_time.h"

namespace agentrt::sim {
namespace {

constexpr std::size_t kLongText = 70 * 1024;  // more than a closing fact holds inline
// Tool calls by keyword; any other keyword is a shell command.
struct Worded {
  std::string_view word, tool, args;
};
constexpr std::array<Worded, 10> kOtherTools = {{
    {"?", "ask_user", R"({"question":"Which?","choices":["a","b"]})"},
    {"read", "read_file", R"({"path":"a"})"},
    {"list", "list_files", "{}"},
    {"write", "write_file", R"({"path":"a","content":"one"})"},
    {"plan", "update_plan", R"({"plan":[{"step":"look","status":"pending"}]})"},
    {"act", "mcp__sim__act", "{}"},
    {"act ask", "mcp__sim__act", R"({"how":"ask"})"},
    {"spawn", "spawn_subagent", R"({"role":"helper","prompt":"help"})"},
    {"await", "wait_subagents", R"({"timeoutMs":4000})"},
    {"tell", "send_subagent_input", R"({"subagentId":"helper","prompt":"more"})"},
}};
constexpr std::array<const char*, 28> kCalls = {"ls",
                                                "ls",
                                                "ls",
                                                "ls",
                                                "bash check.sh",
                                                "bash check.sh",
                                                "bash check.sh",
                                                "bash check.sh",
                                                "bash check.sh",
                                                "bash check.sh",
                                                "?",
                                                "exit 3",
                                                "exit 3",
                                                "read",
                                                "read",
                                                "list",
                                                "write",
                                                "write",
                                                "write",
                                                "write",
                                                "act ask",
                                                "act",
                                                "act",
                                                "spawn",
                                                "spawn",
                                                "await",
                                                "tell",
                                                "plan"};
constexpr std::uint64_t kBoastedTokens = std::uint64_t{1} << 40;

ports::ModelFault fault_of(std::uint64_t draw) {
  ports::ModelFault fault;
  const bool retryable = draw % 4 != 0;
  fault.error = {retryable ? schema::Category::rate_limited : schema::Category::provider,
                 "the provider gave up", retryable};
  fault.cause = retryable           ? schema::FaultCause::rate_limit
                : draw / 4 % 2 == 0 ? schema::FaultCause::credential
                                    : schema::FaultCause::content;
  fault.ended_by_provider = draw % 3 != 0;
  constexpr std::array<std::int64_t, 5> kWishes = {0, -5, 700, 20'000, 1'000'000'000'000};
  if (draw / 4 % 2 == 0) fault.retry_after_ms = kWishes[draw / 8 % kWishes.size()];
  return fault;
}

// A random shell call, sometimes in the background, or a call of another tool.
std::string call_of(Random& random) {
  const std::string call = kCalls[random.below(kCalls.size())];
  const bool is_command = std::ranges::find(kOtherTools, call, &Worded::word) == kOtherTools.end();
  return is_command && random.one_in(3) ? call + " &" : call;
}

struct SimCall {
  std::string tool;
  schema::Json args;
};

// The call that a keyword stands for.
SimCall call_in(const std::string& word) {
  if (const auto* other = std::ranges::find(kOtherTools, word, &Worded::word);
      other != kOtherTools.end())
    return {std::string(other->tool), {std::string(other->args)}};
  return {"shell", shell_args(word)};
}

}  // namespace

ports::ModelChoice FickleModels::choice(const TurnId&, const std::vector<std::string>&) {
  if (provider_.absent > 0) {
    --provider_.absent;
    return {};
  }
  schema::Candidate candidate;
  candidate.name = "fickle";
  candidate.provider = "sim";
  candidate.model = "fickle-1";
  schema::Candidate spare = candidate;
  spare.name = "spare";
  spare.model = "fickle-2";
  return {{candidate, spare}, {}, "fickle", {"spare"}};
}

std::vector<FickleModels::Beat> FickleModels::beats_of(const Mood& mood) {
  using Does = Beat::Does;
  Random random{mood.draw};
  std::vector<Beat> beats;
  if (random.one_in(3)) beats.push_back({Does::reasoning, 3, "hm "});
  for (std::uint64_t left = random.below(5); left > 0; --left)
    beats.push_back({random.one_in(6) ? Does::reasoning : Does::text,
                     static_cast<std::int64_t>(random.below(60)),
                     fmt::format("piece {} \u20ac ", left)});
  if (random.one_in(40)) beats.push_back({Does::text, 1, std::string(kLongText, 'x')});
  for (std::uint64_t left = random.one_in(2) ? 1 + random.below(2) : 0; left > 0; --left)
    beats.push_back({Does::calls, 1, call_of(random)});
  Beat end{.does = Does::completes,
           .gap_ms = static_cast<std::int64_t>(random.below(30)),
           .text = {},
           .usage = {12, 7, {}, {}}};
  if (mood.kind == Kind::model_breaks || (mood.kind == Kind::model_stalls && random.one_in(2)))
    end = {.does = Does::fails, .gap_ms = 5, .text = {}, .fault = fault_of(random.next())};
  beats.push_back(end);
  add_writing(beats, Random{mood.draw + 1});
  if (mood.kind == Kind::model_stalls)
    beats[random.below(beats.size())].gap_ms = std::max<std::int64_t>(mood.stall_ms, 1);
  if (mood.kind == Kind::model_lies) add_lies(beats, random.next());
  if (mood.kind == Kind::model_repeats) {
    const std::vector<Beat> once = beats;
    beats.insert(beats.end(), once.begin(), once.end());
  }
  return beats;
}

// Some calls arrive in pieces before they are complete. Some of these never become complete.
void FickleModels::add_writing(std::vector<Beat>& beats, Random random) {
  using Does = Beat::Does;
  std::vector<Beat> out;
  std::size_t number = 0;
  for (const Beat& beat : beats) {
    const bool ends = beat.does == Does::completes || beat.does == Does::fails;
    const bool abandons = ends && random.one_in(20);
    if ((beat.does == Does::calls && random.one_in(2)) || abandons)
      for (std::uint64_t left = 1 + random.below(3); left > 0; --left)
        out.push_back({.does = Does::writes,
                       .gap_ms = static_cast<std::int64_t>(random.below(300)),
                       .text = beat.does == Does::calls ? beat.text : "ls",
                       .number = number});
    if (beat.does == Does::calls) ++number;
    out.push_back(beat);
  }
  beats = std::move(out);
}

void FickleModels::add_lies(std::vector<Beat>& beats, std::uint64_t draw) {
  using Does = Beat::Does;
  Beat& end = beats.back();
  switch (draw % 6) {
    case 0:  // ends twice
      beats.push_back(end);
      break;
    case 1:  // continues after the end
      beats.push_back({Does::text, 2, "and another thing"});
      beats.push_back({Does::reasoning, 0, "or is it"});
      break;
    case 2:  // fails after its end
      beats.push_back({.does = Does::fails, .gap_ms = 0, .text = {}, .fault = fault_of(draw / 6)});
      break;
    case 3:  // reports wrong usage
      end.usage = {kBoastedTokens, 0, kBoastedTokens, 1};
      break;
    case 4:  // sends empty chunks
      beats.insert(beats.begin(), 5, {Does::text, 0, ""});
      break;
    default:  // fails, then answers successfully
      beats.insert(beats.end() - 1,
                   {.does = Does::fails, .gap_ms = 1, .text = {}, .fault = fault_of(draw / 6)});
  }
}

void FickleModels::start(ports::ModelRequest request,
                         std::shared_ptr<ports::ModelListener> listener) {
  if (provider_.on_start) provider_.on_start(request);
  Mood mood{Kind::quiet, 0, 77 * ++provider_.requests};
  if (!provider_.next.empty()) {
    mood = provider_.next.front();
    provider_.next.pop_front();
  }
  const ModelRequestId id = request.id;
  Playing& playing = playing_[id];
  playing = {beats_of(mood), std::move(listener), 0, mood.kind == Kind::model_lies, 0};
  if (mood.draw % 7 == 0 && mood.kind != Kind::model_stalls) return play(id);  // immediately
  wait(id, playing, playing.beats.front().gap_ms);
}

void FickleModels::cancel(const ModelRequestId& request) {
  const auto found = playing_.find(request);
  if (found == playing_.end() || found->second.deaf) return;
  loop_.cancel(found->second.timer);
  playing_.erase(found);
}

void FickleModels::hurry() {
  for (auto& [id, playing] : playing_) {
    loop_.cancel(playing.timer);
    for (Beat& beat : playing.beats) beat.gap_ms = std::min<std::int64_t>(beat.gap_ms, 60);
    wait(id, playing, 1);
  }
}

void FickleModels::wait(const ModelRequestId& id, Playing& playing, std::int64_t gap_ms) {
  playing.timer = loop_.after(gap_ms, [this, id] { play(id); });
}

void FickleModels::play(const ModelRequestId& id) {
  const auto found = playing_.find(id);
  if (found == playing_.end()) return;
  Playing& playing = found->second;
  const Beat beat = playing.beats[playing.at++];
  const auto listener = playing.listener;
  if (playing.at < playing.beats.size())
    wait(id, playing, playing.beats[playing.at].gap_ms);
  else
    playing_.erase(found);
  switch (beat.does) {
    case Beat::Does::text:
      return listener->on_text(beat.text);
    case Beat::Does::reasoning:
      return listener->on_reasoning(beat.text);
    case Beat::Does::writes: {
      const SimCall call = call_in(beat.text);
      return listener->on_call_piece(beat.number, call.tool,
                                     std::string_view(call.args.text).substr(0, 7));
    }
    case Beat::Does::calls: {
      SimCall call = call_in(beat.text);
      return listener->on_call(std::move(call.tool), std::move(call.args));
    }
    case Beat::Does::completes:
      return listener->on_completed(schema::StopReason::end_turn, beat.usage);
    case Beat::Does::fails:
      return listener->on_failed(beat.fault);
  }
}

}  // namespace agentrt::sim
