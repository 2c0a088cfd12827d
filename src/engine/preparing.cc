#include "engine/preparing.h"

#include <utility>

#include "conversation/surroundings.h"
#include "policy/routing.h"
#include "state/policies.h"

namespace agentrt::engine {

using namespace schema;

namespace {

// Takes what was read on the worker.
void take(ReportPrepared found, ReportPrepared& report) {
  report.context = std::move(found.context);
  report.environment = std::move(found.environment);
  report.files = std::move(found.files);
  report.request_bytes = found.request_bytes;
  report.new_bytes = found.new_bytes;
  report.history = std::move(found.history);
  report.policy = std::move(found.policy);
  report.policy_failed = std::move(found.policy_failed);
}

// A request with the settings that all commands of the turn share.
ports::ProcessRequest commands_of(const state::Session& view, const Prepare& what) {
  ports::ProcessRequest request;
  request.turn = what.turn.turn;
  request.workspace = view.cwd;
  request.additional_roots = view.additional_roots.value_or(std::vector<std::string>{});
  request.sandbox = what.sandbox;
  return request;
}

}  // namespace

// State of the preparation, which has two parts: a worker reads files and log, while MCP servers
// list their tools. Servers are asked only after the turn is stored, because that may start them.
struct Engine::Preparing::Shared {
  const Parts& parts;
  const SessionId session;
  // What the turn's policy is derived from, with the policy that is read for it.
  const std::vector<PolicyRule> granted;
  const std::optional<PermissionMode> mode;
  const TurnOptions options;
  const conversation::MaterialQuery query;
  const std::optional<Surroundings> told;  // what the model knows about its surroundings
  const bool fits;  // the oldest turns are omitted if the request would be too long
  const Timestamp now;
  const ports::ProcessRequest commands;
  ReportPrepared report;
  Keep keep;
  bool stored = false;
  bool read_again = false;  // reading failed before the commit; retry after it
  bool listed = false;      // the first listing of the MCP servers has arrived
  int awaited = 2;          // 0: the report is sent
  bool wanted = true;
  bool over = false;
};

Engine::Preparing::Preparing(const Parts& parts, const state::Session& view, const Prepare& what,
                             Log log, Keep keep) {
  const state::Turn* turn = state::find_turn(view, what.turn.turn);
  check(turn != nullptr, "a plan is of its view");
  ReportPrepared report;
  report.turn = what.turn.turn;
  report.context.cwd = view.cwd;
  std::vector<std::string> named = turn->options.fallback.value_or(std::vector<std::string>{});
  if (what.model) named.push_back(*what.model);
  ports::ModelChoice choice = parts.models.choice(environment_of(what.turn), named);
  report.candidates = std::move(choice.candidates);
  report.excluded = std::move(choice.excluded);
  report.default_model = std::move(choice.default_name);
  report.fallback = std::move(choice.fallback);
  // The same route that the decision about this report will choose.
  const policy::RoutingAnswer route =
      policy::route(policy::question_of(turn->options, state::switched_model(*turn), report));
  conversation::MaterialQuery query =
      query_of(view, what.turn, report.candidates,
               policy::outcome_of(route).selected_name.value_or(""), parts);
  query.policy = effective_policy(parts, view, *turn);
  const state::Thread* thread = state::find_thread(view, what.turn.thread);
  ports::ProcessRequest commands = commands_of(view, what);
  if (query.policy.parent) {  // the parent of a subagent may have become stricter
    commands.sandbox = query.policy.sandbox;
    commands.write_roots = query.policy.write_roots;
  }
  std::vector<PolicyRule> room;
  shared_ =
      std::make_shared<Shared>(Shared{.parts = parts,
                                      .session = view.id,
                                      .granted = state::granted_to(view, *turn, room),
                                      .mode = view.mode,
                                      .options = turn->options,
                                      .query = std::move(query),
                                      .told = thread ? thread->told : std::nullopt,
                                      .fits = !parts.context.compacts || turn->compaction_failed,
                                      .now = parts.loop.now(),
                                      .commands = std::move(commands),
                                      .report = std::move(report),
                                      .keep = std::move(keep)});
  if (log == Log::has_it) stored();
  read(shared_);
}

void Engine::Preparing::stored() {
  shared_->stored = true;
  ask_servers(shared_);
  if (shared_->read_again) read(shared_);
}

void Engine::Preparing::read(const std::shared_ptr<Shared>& shared) {
  const bool ahead = !shared->stored;
  auto task = std::make_shared<ports::Step>([shared, ahead, &parts = shared->parts] {
    ReportPrepared found;
    std::shared_ptr<const conversation::TurnFiles> files;
    read_all(*shared, found, files);
    parts.loop.post([shared, ahead, found = std::move(found), files = std::move(files)]() mutable {
      const bool too_early = ahead && !files;
      shared->read_again = too_early && !shared->stored;
      if (too_early && shared->stored) return read(shared);
      if (too_early) return;
      if (shared->wanted && files) shared->keep(std::move(files));
      take(std::move(found), shared->report);
      arrived(shared);
    });
  });
  run_soon(shared->parts.loop, shared->parts.worker, std::move(task));
}

void Engine::Preparing::ask_servers(const std::shared_ptr<Shared>& shared) {
  shared->parts.tools.list(
      shared->session, shared->query.cwd, shared->commands.additional_roots,
      [shared](ports::ToolListing listing) { listed(shared, std::move(listing)); });
}

// A server that was not ready in time joins the turn as soon as it is.
void Engine::Preparing::listed(const std::shared_ptr<Shared>& shared, ports::ToolListing listing) {
  if (shared->awaited == 0)
    return shared->parts.reports.report(
        shared->session,
        ReportToolsListed{shared->query.turn.turn, std::move(listing.tools),
                          std::move(listing.missing)},
        {});
  shared->report.server_tools = std::move(listing.tools);
  shared->report.missing_servers = std::move(listing.missing);
  if (!std::exchange(shared->listed, true)) arrived(shared);
}

// Blocks; on a worker.
void Engine::Preparing::read_all(const Shared& shared, ReportPrepared& read,
                                 std::shared_ptr<const conversation::TurnFiles>& files) {
  const Parts& parts = shared.parts;
  conversation::MaterialQuery query = shared.query;
  read.context.cwd = query.cwd;
  if (auto policy = parts.policies.policy(query.cwd))
    read.policy = *std::move(policy);
  else
    read.policy_failed = failure_of(policy.error());
  // Away from the core: its rule sets are not for this thread, but the set of this turn is.
  policy::RuleSets sets(query.policy.rules);
  const policy::Effective before = std::move(query.policy);
  query.policy =
      policy::derive({read.policy, shared.granted, shared.mode, shared.options}, before.home, sets);
  query.policy.write_roots = before.write_roots;
  if (before.parent) query.policy = policy::narrowed(std::move(query.policy), *before.parent);
  if (shared.fits) query.history.fit_bytes = 0;  // gather() computes the room
  conversation::Material material = gather(parts.workspace, parts.history, query);
  read.files = give_files(parts.workspace, parts.keeper, query, material);
  for (KeptOutput& part : store_instructions(parts.keeper, query, material))
    read.files.push_back(std::move(part));
  describe(material, query, read);
  if (material.history) read.history = material.history->loaded;
  if (auto environment = parts.processes.environment(shared.commands))
    read.environment = *std::move(environment);
  else
    read.context.missing.push_back({.ref = "environment", .reason = environment.error().message});
  describe_surroundings(shared, query.policy, material, read);
  if (material.history) files = material.files;  // otherwise the files of the input were not read
}

// Blocks; on a worker.
void Engine::Preparing::describe_surroundings(const Shared& shared, const policy::Effective& policy,
                                              const conversation::Material& material,
                                              ReportPrepared& read) {
  Surroundings now =
      conversation::surroundings_of({.now = shared.now,
                                     .cwd = shared.query.cwd,
                                     .additional_roots = shared.commands.additional_roots,
                                     .environment = read.environment ? &*read.environment : nullptr,
                                     .git = shared.parts.workspace.git(shared.query.cwd),
                                     .policy = policy});
  // If the oldest turns are not sent any more, the message about the surroundings is lost with
  // them.
  const bool lost =
      material.history && material.history->omitted_through > shared.query.history.omitted_through;
  read.context.message = conversation::surroundings_message(lost ? std::nullopt : shared.told, now);
  if (!read.context.message) return;
  read.new_bytes += read.context.message->size();
  read.request_bytes += read.context.message->size();
  read.context.surroundings = std::move(now);
}

void Engine::Preparing::arrived(const std::shared_ptr<Shared>& shared) {
  if (--shared->awaited > 0 || !shared->wanted) return;
  shared->parts.reports.report(shared->session, std::move(shared->report),
                               [shared] { shared->over = true; });
}

bool Engine::Preparing::over() const { return shared_->over; }

Engine::Preparing::~Preparing() { shared_->wanted = false; }

}  // namespace agentrt::engine
