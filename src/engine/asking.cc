#include "engine/asking.h"

#include <algorithm>

#include "conversation/images.h"
#include "conversation/system_prompt.h"
#include "engine/answer_listener.h"

namespace agentrt::engine {

using namespace schema;

namespace {

bool has_images(const std::vector<ports::Message>& messages) {
  return std::ranges::any_of(messages, [](const auto& message) { return !message.images.empty(); });
}

// Assembles the request. Blocks; on a worker. Images can be read only after the commit that names
// their refs; before it (`ahead`) the result is then `unavailable`.
Result<ports::ModelRequest> put_together(const Engine::Parts& parts, const Ask& what,
                                         const conversation::MaterialQuery& query, bool ahead) {
  conversation::Material material = gather(parts.workspace, parts.history, query);
  if (!material.history) return std::unexpected(material.history.error());
  ports::ModelRequest request;
  request.id = what.request;
  request.turn = environment_of(what.turn);
  request.model_name = what.model_name;
  request.ended_requests = what.ended_by_provider;
  request.cwd = query.cwd;
  put_material(std::move(material), query.cwd, request);
  if (ahead && has_images(request.messages))
    return fail(Code::unavailable, "the refs of the images are not stored yet");
  const auto read = parts.outputs ? conversation::reader_of(*parts.outputs, query.session)
                                  : conversation::ReadImage{};
  conversation::attach_images(request.messages, query.images, read);
  if (query.role) request.instructions += conversation::subagent_prompt(*query.role);
  return request;
}

}  // namespace

// A request may be assembled before its intent is stored, but is sent only afterwards.
struct Engine::Asking::Shared {
  const Parts& parts;
  const Ask what;
  const conversation::MaterialQuery query;
  std::shared_ptr<AnswerListener> listener;
  bool stored = false;
  std::optional<Result<ports::ModelRequest>> ready;
};

Engine::Asking::Asking(const Parts& parts, const state::Session& view, const Ask& what, Log log,
                       std::shared_ptr<const conversation::TurnFiles> files) {
  conversation::MaterialQuery query = query_of(
      view, what.turn, parts.models.choice(environment_of(what.turn), what.model_name).candidates,
      what.model_name, parts.job_inputs);
  const state::Turn* turn = state::find_turn(view, what.turn.turn);
  check(turn != nullptr, "a plan is of its view");
  query.policy = effective_policy(parts, view, *turn);
  query.files = std::move(files);
  shared_ = std::make_shared<Shared>(
      Shared{.parts = parts,
             .what = what,
             .query = std::move(query),
             .listener = std::make_shared<AnswerListener>(parts, view.id, what.request),
             .stored = log == Log::has_it});
  gather_all(shared_);
}

void Engine::Asking::gather_all(const std::shared_ptr<Shared>& shared) {
  const bool ahead = !shared->stored;
  auto task = std::make_shared<ports::Step>([shared, ahead, &parts = shared->parts] {
    auto request = put_together(parts, shared->what, shared->query, ahead);
    parts.loop.post([shared, ahead, request = std::move(request)]() mutable {
      if (!shared->listener->wanted()) return;
      if (!shared->stored)
        shared->ready = std::move(request);
      else if (!request && ahead)
        gather_all(shared);
      else
        ask(shared, std::move(request));
    });
  });
  run_soon(shared->parts.loop, shared->parts.worker, std::move(task));
}

void Engine::Asking::stored() {
  shared_->stored = true;
  if (!shared_->ready || !shared_->listener->wanted()) return;
  // A read that failed before the commit may succeed now.
  if (*shared_->ready) return ask(shared_, *std::move(shared_->ready));
  gather_all(shared_);
}

void Engine::Asking::ask(const std::shared_ptr<Shared>& shared,
                         Result<ports::ModelRequest> request) {
  ++shared->parts.metrics.model_requests;
  if (request) {
    shared->listener->offer(request->tools);
    return shared->parts.models.start(*std::move(request), shared->listener);
  }
  const Code code = request.error().code;
  const bool may_pass = code == Code::unavailable || code == Code::overloaded;
  shared->listener->on_failed({.error = {Category::internal, request.error().message, may_pass},
                               .provider_status = {},
                               .ended_by_provider = false,
                               .retry_after_ms = {}});
}

Engine::Asking::~Asking() {
  if (!shared_->listener->wanted()) return;
  shared_->listener->forget();
  shared_->parts.models.cancel(shared_->what.request);
}

// --- waiting ---

Engine::Waiting::Waiting(const Parts& parts, const state::Session& view, const AwaitRetry& what)
    : parts_(parts) {
  // The wall clock may have been set back since the deadline was computed.
  const std::int64_t delay =
      std::clamp<std::int64_t>(what.at - parts.loop.now(), 0, kRetryWaitMaxMs);
  timer_ = parts.loop.after(delay, [&parts, session = view.id, turn = what.turn] {
    parts.reports.report(session, ReportRetryDue{turn}, {});
  });
}

Engine::Waiting::~Waiting() { parts_.loop.cancel(timer_); }

}  // namespace agentrt::engine
