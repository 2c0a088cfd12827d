#include "sim/people.h"

#include <fmt/format.h>

namespace agentrt::sim {
namespace {

// The draw of an answer without a digest and without a scope: this one allows, the next denies.
constexpr std::uint64_t kPlainAnswer = 4'096 + 256;

Question question_of(const state::Action& action) {
  const std::string& type = action.required.action_type;
  Question question{action.id.text(), action.required.digest.value_or("sha256:0"), {}};
  if (type == schema::kInputAction) question.about = Question::About::input;
  if (type == schema::kElicitationAction) question.about = Question::About::server;
  return question;
}

}  // namespace

std::optional<Question> People::waiting_in(const SessionId& session, Watch& watch) {
  for (const auto& [_, thread] : watch.replayed(session).threads)
    if (thread.active && thread.active->action) return question_of(*thread.active->action);
  return std::nullopt;
}

Request People::request(const Action& action, Watch& watch) {
  if (const auto sent = orders_.find(action.order); sent != orders_.end())
    return sent->second.request;
  constexpr std::uint64_t kLateOneIn = 8;
  std::optional<Question> question;
  if (last_ && action.draw / 65'536 % kLateOneIn == 0)
    question = last_;
  else
    question = waiting_in(SessionId{fmt::format("s{}", action.session)}, watch);
  for (const SessionId& other : watch.sessions())
    if (!question) question = waiting_in(other, watch);
  if (!question) question = last_.value_or(Question{});
  last_ = question;
  const Order& order = orders_[action.order] = {request_of(action, *question), question->action};
  return order.request;
}

std::pair<std::uint32_t, Request> People::typed(const Question& question, bool yes) {
  Action action;
  action.kind = Kind::answer;
  action.order = ++last_typed_;
  action.draw = kPlainAnswer + (yes ? 0 : 1);
  orders_[action.order] = {request_of(action, question), question.action};
  return {action.order, orders_[action.order].request};
}

Checked People::told(std::uint32_t order) {
  const std::string& about = orders_.at(order).about;
  const auto [winner, first] = winners_.try_emplace(about, order);
  if (first || winner->second == order) return std::nullopt;
  return Violation{
      std::string(invariant::kDecisions),
      fmt::format("the answers o{} and o{} to {} were both taken", winner->second, order, about)};
}

std::vector<Request> People::last_answers(Watch& watch) {
  std::vector<Request> out;
  for (const SessionId& session : watch.sessions())
    for (const auto& [_, thread] : watch.replayed(session).threads) {
      if (!thread.active || !thread.active->action) continue;
      Action action;
      action.kind = Kind::answer;
      // Allow or deny, varying.
      action.draw = kPlainAnswer + ++last_answers_ % 256;
      out.push_back(request_of(action, question_of(*thread.active->action)));
    }
  return out;
}

}  // namespace agentrt::sim
