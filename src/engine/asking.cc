#include "engine/asking.h"

#include <algorithm>

#include <fmt/format.h>

#include "conversation/images.h"
#include "conversation/stored_parts.h"
#include "engine/answer_listener.h"
#include "engine/compacting.h"

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
  put_material(std::move(material), query, request);
  if (ahead && has_images(request.messages))
    return fail(Code::unavailable, "the refs of the images are not stored yet");
  const auto read =
      parts.outputs ? conversation::reader_of(*parts.outputs) : conversation::ReadOutput{};
  if (put_stored_parts(request.messages, query.images, read) > 0 && ahead)
    return fail(Code::unavailable, "a ref of the conversation is not stored yet");
  conversation::attach_images(
      request.messages, query.images,
      read ? conversation::image_reader(read, query.session) : conversation::ReadImage{});
  return request;
}

// Assembles the request for a piece of a summary. Blocks; on a worker.
Result<ports::ModelRequest> put_summary_together(const Engine::Parts& parts, const Ask& what,
                                                 const CompactionQuery& query) {
  TRY_ASSIGN(ports::ModelRequest request, summary_request(parts, query));
  request.id = what.request;
  request.turn = environment_of(what.turn);
  request.model_name = what.model_name;
  request.ended_requests = what.ended_by_provider;
  return request;
}

}  // namespace

// A request may be assembled before its intent is stored, but is sent only afterwards.
struct Engine::Asking::Shared {
  const Parts& parts;
  const Ask what;
  const conversation::MaterialQuery query;
  const std::optional<CompactionQuery> summary;  // set if it asks for a summary
  std::shared_ptr<AnswerListener> listener;
  bool stored = false;
  std::optional<Result<ports::ModelRequest>> ready;
};

Engine::Asking::Asking(const Parts& parts, const state::Session& view, const Ask& what, Log log,
                       std::shared_ptr<const conversation::TurnFiles> files) {
  conversation::MaterialQuery query = query_of(
      view, what.turn, parts.models.choice(environment_of(what.turn), {what.model_name}).candidates,
      what.model_name, parts);
  const state::Turn* turn = state::find_turn(view, what.turn.turn);
  check(turn != nullptr, "a plan is of its view");
  query.policy = effective_policy(parts, view, *turn);
  query.files = std::move(files);
  shared_ = std::make_shared<Shared>(Shared{
      .parts = parts,
      .what = what,
      .query = std::move(query),
      .summary = what.summary
                     ? std::optional(compaction_query(parts, view, what.turn, what.model_name))
                     : std::nullopt,
      .listener = std::make_shared<AnswerListener>(parts, view.id, what.request),
      .stored = log == Log::has_it});
  gather_all(shared_);
}

void Engine::Asking::gather_all(const std::shared_ptr<Shared>& shared) {
  const bool ahead = !shared->stored;
  auto task = std::make_shared<ports::Step>([shared, ahead, &parts = shared->parts] {
    auto request = shared->summary ? put_summary_together(parts, shared->what, *shared->summary)
                                   : put_together(parts, shared->what, shared->query, ahead);
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
    shared->listener->begin(request->tools);
    if (shared->summary)
      shared->parts.loop.after(shared->parts.context.timeout_ms, [weak = std::weak_ptr(shared)] {
        if (const auto alive = weak.lock()) end_late(alive);
      });
    return shared->parts.models.start(*std::move(request), shared->listener);
  }
  const Code code = request.error().code;
  const bool may_pass = code == Code::unavailable || code == Code::overloaded;
  shared->listener->on_failed({.error = {Category::internal, request.error().message, may_pass},
                               .provider_status = {},
                               .ended_by_provider = false,
                               .retry_after_ms = {}});
}

// A request for a summary has a deadline, because the turn waits for it.
void Engine::Asking::end_late(const std::shared_ptr<Shared>& shared) {
  if (!shared->listener->wanted()) return;
  shared->parts.models.cancel(shared->what.request);
  shared->listener->on_failed(
      {.error = {Category::timeout,
                 fmt::format("the summary took longer than {} ms (context.compact_timeout_ms)",
                             shared->parts.context.timeout_ms),
                 false},
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
