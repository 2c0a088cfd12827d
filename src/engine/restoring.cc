#include "engine/restoring.h"

namespace agentrt::engine {

using namespace schema;

struct Engine::Restoring::Shared {
  const Parts& parts;
  const TurnId turn;
  const std::string cwd;
  const ports::RestoreQuery query;
  bool wanted = true;
  bool over = false;
};

Engine::Restoring::Restoring(const Parts& parts, const state::Session& view,
                             const RestoreFiles& what)
    : shared_(std::make_shared<Shared>(Shared{.parts = parts,
                                              .turn = what.turn.turn,
                                              .cwd = view.cwd,
                                              .query = {.session = view.id,
                                                        .thread = what.turn.thread,
                                                        .range = what.range,
                                                        .skip = what.next,
                                                        .max = kRestoresTogether}})) {
  auto task = std::make_shared<ports::Step>([shared = shared_] {
    shared->parts.loop.post([shared, report = read(*shared)]() mutable {
      if (!shared->wanted) return;
      shared->parts.reports.report(shared->query.session, std::move(report),
                                   [shared] { shared->over = true; });
    });
  });
  run_soon(parts.loop, parts.worker, std::move(task));
}

Engine::Restoring::~Restoring() { shared_->wanted = false; }

bool Engine::Restoring::over() const { return shared_->over; }

// Blocks; on a worker.
ReportRestoreFiles Engine::Restoring::read(const Shared& shared) {
  ReportRestoreFiles report{.turn = shared.turn, .next = shared.query.skip};
  auto policy = shared.parts.policies.policy(shared.cwd);
  auto files = shared.parts.history.restores(shared.query);
  if (policy)
    report.policy = *std::move(policy);
  else
    report.failure = failure_of(policy.error());
  if (files)
    report.files = *std::move(files);
  else
    report.failure = failure_of(files.error());
  return report;
}

}  // namespace agentrt::engine
