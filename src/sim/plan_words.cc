// sim/plan_words.cc: converts an action to a request and to a sentence.
#include <array>

#include <fmt/format.h>

#include "sim/plan.h"

namespace agentrt::sim {
namespace {

std::string place(const Action& action) {
  return fmt::format("s{}/t{}", action.session, action.thread);
}

std::string names_of(const Action& action) {
  return fmt::format("{}{}", action.key ? fmt::format(" (key k{})", action.key) : "",
                     action.again ? ", again" : "");
}

// JSON members that all commands share: session and key.
std::string shared_members(const Action& action) {
  std::string out = fmt::format(R"("sessionId":"s{}")", action.session);
  if (action.key) out += fmt::format(R"(,"idempotencyKey":"k{}")", action.key);
  return out;
}

std::string submit_params(const Action& action) {
  std::string out = fmt::format(R"({{{},"threadId":"t{}","input":[{{"type":"text","text":"o{}"}}])",
                                shared_members(action), action.thread, action.order);
  if (action.turn) out += fmt::format(R"(,"turnId":"u{}")", action.turn);
  if (action.draw % 5 == 0) out += fmt::format(R"(,"taskId":"task{}")", action.order);
  constexpr std::array kPolicies = {"", "", "", "", "enqueue", "reject", "interrupt"};
  const std::string_view policy = kPolicies[action.draw / 5 % kPolicies.size()];
  std::string options = action.draw % 2 == 0 ? R"("askTrust":true)" : R"("askTrust":false)";
  if (!policy.empty()) options += fmt::format(R"(,"queuePolicy":"{}")", policy);
  constexpr std::array kPatience = {0, 0, 0, 50, 3'000, 60'000};
  if (const int patience = kPatience[action.draw / 35 % kPatience.size()]; patience > 0)
    options += fmt::format(R"(,"askTimeoutMs":{})", patience);
  if (action.draw / 211 % 12 == 0) options += R"(,"interactive":false)";
  return out + fmt::format(R"(,"options":{{{}}}}})", options);
}

// Mostly a plain approval; also a denial, an invalid decision, a wrong digest, a wider scope.
Request answer_request(const Action& action, const Question& question) {
  const bool yes = action.draw % 3 != 0;
  std::string out =
      fmt::format(R"({{"actionId":"{}","reason":"o{}")", question.action, action.order);
  if (action.key) out += fmt::format(R"(,"idempotencyKey":"k{}")", action.key);
  if (question.about == Question::About::input) {
    out += yes ? R"(,"decision":"answer","payload":{"answer":"a"}})" : R"(,"decision":"cancel"})";
    return {"respond_action", out};
  }
  if (question.about == Question::About::server) {
    out += yes ? R"(,"decision":"accept","payload":{"yes":true}})" : R"(,"decision":"decline"})";
    return {"respond_action", out};
  }
  const std::string_view decision = action.draw % 37 == 0 ? "perhaps" : yes ? "allow" : "deny";
  out += fmt::format(R"(,"decision":"{}")", decision);
  const std::uint64_t digest = action.draw / 64 % 8;
  if (digest < 4)
    out += fmt::format(R"(,"digest":"{}")", digest == 0 ? "sha256:1" : question.digest);
  constexpr std::array kScopes = {"", "", "", "", "", "once", "session", "always"};
  const std::string_view scope = kScopes[action.draw / 512 % kScopes.size()];
  if (!scope.empty()) out += fmt::format(R"(,"scope":"{}")", scope);
  return {action.draw / 4'096 % 4 == 0 ? "resolve_permission" : "respond_action", out + "}"};
}

std::string rule_params(const Action& action) {
  constexpr std::array kChanges = {R"-("allow":["shell(ls)"])-",   R"-("deny":["shell(ls)"])-",
                                   R"-("ask":["shell(exit 3)"])-", R"-("mode":"default")-",
                                   R"-("mode":"bypass")-",         R"-("remove":["shell(ls)"])-"};
  return fmt::format(R"({{{},"reason":"o{}",{}}})", shared_members(action), action.order,
                     kChanges[action.draw % kChanges.size()]);
}

std::string interrupt_params(const Action& action) {
  std::string out = fmt::format(R"({{{},"reason":"o{}")", shared_members(action), action.order);
  if (action.turn)
    out += fmt::format(R"(,"turnId":"u{}")", action.turn);
  else if (action.draw % 4 != 0)
    out += fmt::format(R"(,"threadId":"t{}")", action.thread);
  if (action.draw % 3 == 0) out += R"(,"queue":"clear")";
  return out + "}";
}

std::string queued_params(const Action& action) {
  return fmt::format(R"({{{},"threadId":"t{}","queuedTurnId":"u{}"}})", shared_members(action),
                     action.thread, action.turn);
}

std::string command_in_words(const Action& action) {
  const std::string who = fmt::format("client {}", action.client);
  const std::string turn = action.turn ? fmt::format("turn u{}", action.turn) : "a turn";
  const std::string rest = names_of(action);
  switch (action.kind) {
    case Kind::create:
      return fmt::format("{} creates session s{}{}", who, action.session, rest);
    case Kind::update:
      return fmt::format("{} calls session s{} \"o{}\"{}", who, action.session, action.order, rest);
    case Kind::submit:
      return fmt::format("{} submits {} to {}{}", who, turn, place(action), rest);
    case Kind::interrupt:
      return fmt::format("{} interrupts {} in s{}{}", who,
                         action.turn ? turn : std::string("what runs"), action.session, rest);
    case Kind::remove:
      return fmt::format("{} removes {} from the queue of {}{}", who, turn, place(action), rest);
    case Kind::promote:
      return fmt::format("{} promotes {} in the queue of {}{}", who, turn, place(action), rest);
    case Kind::answer:
      return fmt::format("{} answers what s{} waits for{}", who, action.session, rest);
    case Kind::rule:
      return fmt::format("{} changes the rules of s{}{}", who, action.session, rest);
    default:
      return fmt::format("{} resumes {}{}", who, place(action), rest);
  }
}

std::string fault_in_words(const Action& action) {
  const std::string span = span_in_words(action.amount);
  const std::string down = action.amount > 0 ? fmt::format("; down for {}", span) : "";
  switch (action.kind) {
    case Kind::crash:
      return "crash" + down;
    case Kind::crash_in_commit:
      return "the next commit will meet a crash" + down;
    case Kind::sync_fails:
      return "the next sync will fail" + down;
    case Kind::disk_full:
      return fmt::format("the disk is full for {} commits", action.amount);
    case Kind::disk_fails:
      return fmt::format("the disk fails for {} commits", action.amount);
    case Kind::reads_fail:
      return fmt::format("the next {} reads of the disk will fail", action.amount);
    case Kind::readers_full:
      return fmt::format("the readers are full for {} tasks", action.amount);
    case Kind::disk_slow:
      return fmt::format("commits take {}", span);
    case Kind::reads_slow:
      return fmt::format("reads take {}", span);
    case Kind::clock_jump:
      return fmt::format("the clock jumps by {}", span);
    case Kind::model_stalls:
      return fmt::format("the next model request will stall for {}", span);
    case Kind::model_breaks:
      return "the next model request will break";
    case Kind::model_lies:
      return "the next model request will be answered with lies";
    case Kind::model_repeats:
      return "the next model request will be answered twice over";
    case Kind::hook_slow:
      return fmt::format("the next hook will take {}", span);
    case Kind::hook_fails:
      return "the next hook will fail";
    case Kind::hook_objects:
      return "the next hook will object";
    case Kind::hook_rewrites:
      return "the next hook will rewrite what it is asked about";
    case Kind::world_changes:
      return "the world changes that answers are bound to";
    case Kind::end_unstored:
      return "commits around the next end of a process are slow, fail or lose their power";
    case Kind::launcher_killed:
      return "the launchers of the processes in the background are killed";
    default:
      return "no model can be asked for a while";
  }
}

}  // namespace

Request request_of(const Action& action, const Question& question) {
  const std::string session = fmt::format(R"("sessionId":"s{}")", action.session);
  switch (action.kind) {
    case Kind::create:
      return {"create_session",
              fmt::format(R"({{{},"title":"o{}"}})", shared_members(action), action.order)};
    case Kind::update:
      return {"update_session",
              fmt::format(R"({{{},"title":"o{}"}})", shared_members(action), action.order)};
    case Kind::submit:
      return {"submit_turn", submit_params(action)};
    case Kind::interrupt:
      return {"interrupt_turn", interrupt_params(action)};
    case Kind::remove:
      return {"remove_queued_turn", queued_params(action)};
    case Kind::promote:
      return {"promote_queued_turn", queued_params(action)};
    case Kind::resume:
      return {"resume_thread",
              fmt::format(R"({{{},"threadId":"t{}"}})", shared_members(action), action.thread)};
    case Kind::answer:
      return answer_request(action, question);
    case Kind::rule:
      return {"set_policy", rule_params(action)};
    case Kind::read_thread:
      return {"get_thread_read", fmt::format(R"({{{},"threadId":"t{}"}})", session, action.thread)};
    case Kind::list_sessions:
      return {"list_sessions", R"({"limit":2})"};
    case Kind::list_events:
      return {"list_events", fmt::format(R"({{{},"limit":{}}})", session, 1 + action.draw % 20)};
    default:
      return {"get_session", fmt::format("{{{}}}", session)};
  }
}

std::string in_words(const Action& action) {
  const std::string who = fmt::format("client {}", action.client);
  if (is_command(action.kind)) return command_in_words(action);
  if (is_fault(action.kind)) return fault_in_words(action);
  switch (action.kind) {
    case Kind::read_session:
      return fmt::format("{} reads session s{}", who, action.session);
    case Kind::read_thread:
      return fmt::format("{} reads {}", who, place(action));
    case Kind::list_sessions:
      return who + " lists the sessions";
    case Kind::list_events:
      return fmt::format("{} lists events of s{}", who, action.session);
    case Kind::vanish:
      return who + " goes away without waiting for its replies";
    case Kind::follow:
      return fmt::format("follower {} follows s{} from where it left off", action.client,
                         action.session);
    case Kind::stop_read:
      return fmt::format("follower {} of s{} stops reading", action.client, action.session);
    case Kind::go_read:
      return fmt::format("follower {} of s{} reads again", action.client, action.session);
    case Kind::type:
      return fmt::format("{} types {} at its terminal for s{}", who,
                         types_yes(action) ? "yes" : "no", action.session);
    default:
      return fmt::format("{} pass", span_in_words(action.amount));
  }
}

std::string span_in_words(std::int64_t ms) {
  const auto size = static_cast<double>(ms < 0 ? -ms : ms);
  const std::string_view sign = ms < 0 ? "-" : "";
  if (size < 1e3) return fmt::format("{} ms", ms);
  if (size < 6e4) return fmt::format("{}{:.1f} s", sign, size / 1e3);
  if (size < 3.6e6) return fmt::format("{}{:.1f} min", sign, size / 6e4);
  if (size < 8.64e7) return fmt::format("{}{:.1f} hours", sign, size / 3.6e6);
  return fmt::format("{}{:.1f} days", sign, size / 8.64e7);
}

}  // namespace agentrt::sim
