#include "engine/compacting.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/tokens.h"
#include "conversation/stored_parts.h"
#include "conversation/surroundings.h"

namespace agentrt::engine {

using namespace schema;

namespace {

constexpr std::uint64_t kWindowDefault = kContextTokensDefault;

std::uint64_t window_of(const std::vector<Candidate>& candidates, const std::string& name) {
  const auto found = std::ranges::find(candidates, name, &Candidate::name);
  return found == candidates.end() ? kWindowDefault
                                   : found->context_tokens.value_or(kWindowDefault);
}

// What the summary must not lose, as the view has it.
conversation::OpenWork open_work(const state::Session& view, const state::Thread& thread) {
  conversation::OpenWork out;
  for (const auto& [_, each] : view.threads)
    if (each.active && each.active->action)
      out.lines.push_back(fmt::format("Open action {}: {}", each.active->action->id.text(),
                                      each.active->action->required.prompt.value_or("")));
  for (const auto& [id, process] : view.processes)
    out.lines.push_back(fmt::format("Background process {} runs: {} (read_file reads output:{})",
                                    id.text(), process.command, id.text()));
  for (const Incident& incident : thread.incidents)
    out.lines.push_back(fmt::format("Incident {}: {}", incident.kind, incident.message));
  if (thread.told)
    out.surroundings = conversation::surroundings_message(std::nullopt, *thread.told).value_or("");
  return out;
}

}  // namespace

CompactionQuery compaction_query(const Engine::Parts& parts, const state::Session& view,
                                 const TurnIds& turn, const std::string& model) {
  const auto candidates = parts.models.choice(environment_of(turn), {model}).candidates;
  const state::Turn* own = state::find_turn(view, turn.turn);
  check(own != nullptr && own->compaction, "a plan is of its view");
  CompactionQuery out;
  out.material = query_of(view, turn, candidates, model, parts);
  // The window of the model that is asked next counts, and that of the one that writes.
  out.window_tokens = window_of(candidates, model);
  if (own->model_name)
    out.window_tokens = std::min(out.window_tokens, window_of(candidates, *own->model_name));
  out.instructions = own->work ? own->work->details.value_or("") : "";
  out.piece = own->compaction->done;
  return out;
}

Result<CompactionMaterial> read_compaction(const Engine::Parts& parts,
                                           const CompactionQuery& query) {
  TRY_ASSIGN(ports::HistoryWindow window, parts.history.window(query.material.history));
  const auto read =
      parts.outputs ? conversation::reader_of(*parts.outputs) : conversation::ReadOutput{};
  put_stored_parts(window.messages, conversation::ImagesSent::none, read);
  CompactionMaterial out;
  if (window.summary) {
    std::vector<ports::Message> summary{*std::move(window.summary)};
    put_stored_parts(summary, conversation::ImagesSent::none, read);
    out.so_far = std::move(summary.front().text);
  }
  out.covers_through = window.answered ? query.material.history.up_to
                                       : std::max<Sequence>(window.own_started, 1) - 1;
  const bool continued = !query.material.history.continuation_ref.empty();
  out.covered = conversation::covered_part(std::move(window), continued, query.window_tokens);
  out.covered.instructions = query.instructions;
  return out;
}

Result<ports::ModelRequest> summary_request(const Engine::Parts& parts,
                                            const CompactionQuery& query) {
  TRY_ASSIGN(const CompactionMaterial material, read_compaction(parts, query));
  const std::vector<std::string> pieces = pieces_of(material.covered).texts;
  if (query.piece >= pieces.size())
    return fail(Code::internal, "the conversation has changed during its compaction");
  ports::ModelRequest request;
  request.cwd = query.material.cwd;
  put_summary_request(material.covered, pieces[query.piece], material.so_far, request);
  return request;
}

struct Engine::Compacting::Shared {
  const Parts& parts;
  const SessionId session;
  const TurnId turn;
  const state::Compaction compaction;
  const std::string model;
  const Candidate writer;
  const CompactionQuery query;
  const conversation::OpenWork work;
  const std::uint64_t tokens_before;
  bool wanted = true;
  bool over = false;
};

Engine::Compacting::Compacting(const Parts& parts, const state::Session& view,
                               const Compact& what) {
  const state::Turn* turn = state::find_turn(view, what.turn.turn);
  const state::Thread* thread = state::find_thread(view, what.turn.thread);
  check(turn != nullptr && thread != nullptr && turn->compaction, "a plan is of its view");
  const std::string model = parts.context.model.value_or(turn->model_name.value_or(""));
  const auto candidates = parts.models.choice(environment_of(what.turn), {model}).candidates;
  const auto writer = std::ranges::find(candidates, model, &Candidate::name);
  shared_ = std::make_shared<Shared>(
      Shared{.parts = parts,
             .session = view.id,
             .turn = what.turn.turn,
             .compaction = *turn->compaction,
             .model = model,
             .writer = writer == candidates.end() ? Candidate{} : *writer,
             .query = compaction_query(parts, view, what.turn, model),
             .work = open_work(view, *thread),
             .tokens_before = std::max(thread->context.used(), turn->compaction->tokens_before)});
  auto task = std::make_shared<ports::Step>([shared = shared_] {
    const bool finish = shared->compaction.started;
    Report report = finish ? Report{complete(*shared)} : Report{plan(*shared)};
    shared->parts.loop.post([shared, report = std::move(report)]() mutable {
      if (!shared->wanted) return;
      shared->parts.reports.report(shared->session, std::move(report),
                                   [shared] { shared->over = true; });
    });
  });
  run_soon(parts.loop, parts.worker, std::move(task));
}

Engine::Compacting::~Compacting() { shared_->wanted = false; }

bool Engine::Compacting::over() const { return shared_->over; }

// Blocks; on a worker.
ReportCompactionPlanned Engine::Compacting::plan(const Shared& shared) {
  ReportCompactionPlanned report{.turn = shared.turn,
                                 .tokens_before = shared.tokens_before,
                                 .provider = shared.writer.provider,
                                 .model = shared.writer.model,
                                 .model_name = shared.model};
  if (shared.writer.name.empty()) {
    report.failure = Failure{
        Category::unavailable,
        fmt::format("there is no model {}; correct context.compact_model", shared.model), false};
    return report;
  }
  const auto material = read_compaction(shared.parts, shared.query);
  if (!material) {
    report.failure = failure_of(material.error());
    return report;
  }
  report.covers_through = material->covers_through;
  report.turns = material->covered.questions.size();
  const conversation::Pieces pieces = pieces_of(material->covered);
  report.pieces = pieces.texts.size();
  report.omitted_bytes = pieces.omitted_bytes;
  report.piece_digests = conversation::piece_digests(material->covered, pieces.texts);
  report.window_tokens = material->covered.window_tokens;
  return report;
}

// Blocks; on a worker.
ReportCompacted Engine::Compacting::complete(const Shared& shared) {
  ReportCompacted report{.turn = shared.turn};
  const auto material = read_compaction(shared.parts, shared.query);
  if (!material || shared.parts.keeper == nullptr) {
    report.failure = material ? Failure{Category::unavailable, "outputs cannot be stored", false}
                              : failure_of(material.error());
    return report;
  }
  const std::string text = continuation_of(material->covered, material->so_far, shared.work);
  auto summary = shared.parts.keeper->keep_bytes(material->so_far, {});
  auto continuation = shared.parts.keeper->keep_bytes(text, {});
  if (!summary || !continuation) {
    report.failure = failure_of((summary ? continuation : summary).error());
    return report;
  }
  std::size_t before = 0;
  for (const ports::Message& message : material->covered.messages) before += message.text.size();
  const std::uint64_t saved = estimated_tokens(before);
  const std::uint64_t kept =
      shared.compaction.tokens_before > saved ? shared.compaction.tokens_before - saved : 0;
  report.tokens_after = kept + estimated_tokens(text.size());
  report.refs = conversation::refs_in(text);
  report.summary = *std::move(summary);
  report.continuation = *std::move(continuation);
  return report;
}

}  // namespace agentrt::engine
