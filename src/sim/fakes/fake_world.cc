#include "sim/fakes/fake_world.h"

namespace agentrt::sim {

ports::ModelChoice FakeModels::choice(const TurnId&, const std::vector<std::string>&) {
  schema::Candidate candidate;
  candidate.name = "fake";
  candidate.provider = "fake";
  candidate.model = "fake-1";
  return {{candidate}, {}, "fake", {}};
}

void FakeModels::start(ports::ModelRequest request,
                       std::shared_ptr<ports::ModelListener> listener) {
  ++started_;
  FakeAnswer answer{{"done"}, 1, {}, {}};
  if (request.ended_requests < answers_.size()) answer = answers_[request.ended_requests];
  const ModelRequestId id = request.id;
  const std::int64_t gap = answer.gap_ms;
  playing_[id] = {std::move(answer), std::move(listener), 0};
  loop_.after(gap, [this, id] { next(id); });
}

void FakeModels::next(const ModelRequestId& id) {
  const auto found = playing_.find(id);
  if (found == playing_.end()) return;
  Playing& playing = found->second;
  if (playing.at < playing.answer.pieces.size()) {
    const auto listener = playing.listener;
    const std::string piece = playing.answer.pieces[playing.at++];
    loop_.after(playing.answer.gap_ms, [this, id] { next(id); });
    return listener->on_text(piece);
  }
  const Playing ended = std::move(playing);
  playing_.erase(found);
  if (ended.answer.fault) return ended.listener->on_failed(*ended.answer.fault);
  for (const std::string& command : ended.answer.commands)
    ended.listener->on_call("shell", shell_args(command));
  for (const FakeCall& call : ended.answer.calls)
    ended.listener->on_call(call.tool, schema::Json{call.args});
  ended.listener->on_completed(schema::StopReason::end_turn, {10, 5, {}, {}});
}

schema::Json shell_args(std::string_view command) {
  const bool background = command.ends_with(" &");
  if (background) command.remove_suffix(2);
  return {R"({"command":)" + schema::to_json(std::string(command)) +
          (background ? R"(,"background":true})" : "}")};
}

}  // namespace agentrt::sim
