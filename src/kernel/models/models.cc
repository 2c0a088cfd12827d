#include "kernel/models/models.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "kernel/session_reads.h"

namespace agentrt::kernel::models {

using namespace schema;

namespace {

struct Named {
  std::string_view name;
  Result<std::string> (*read)(const Source&);
  bool needs_thread = false;
};

constexpr std::array<Named, kReadModelNames.size()> kModels{
    Named{"session_snapshot", session_snapshot},
    Named{"thread_read_model", thread_read_model, true},
    Named{"tool_inventory_snapshot", tool_inventory_snapshot},
    Named{"queue_snapshot", queue_snapshot},
    Named{"task_snapshot", task_snapshot},
    Named{"context_boundary_snapshot", context_boundary_snapshot, true},
    Named{"artifact_checkpoint_summary", artifact_checkpoint_summary},
    Named{"evidence_summary", evidence_summary},
    Named{"permission_sandbox_summary", permission_sandbox_summary},
    Named{"execution_environment_snapshot", execution_environment_snapshot},
    Named{"routing_limit_summary", routing_limit_summary},
    Named{"subagent_job_summary", subagent_job_summary},
    Named{"channel_summary", channel_summary}};

struct Absent {
  Honesty status = Honesty::not_applicable;
  std::string reason;
};
BOOST_DESCRIBE_STRUCT(Absent, (), (status, reason))

const Named* find_model(std::string_view name) {
  const auto* found = std::ranges::find(kModels, name, &Named::name);
  return found == kModels.end() ? nullptr : found;
}

}  // namespace

Json absent(Honesty status, std::string reason) {
  return {to_json(Absent{status, std::move(reason)})};
}

std::optional<Error> wrong_query(const GetReadModel& query) {
  const Named* model = find_model(query.name);
  if (!model)
    return Error{Code::not_found,
                 fmt::format("there is no read model {}: the models are {}", query.name,
                             fmt::join(kReadModelNames, ", ")),
                 fmt::format(R"({{"models":["{}"]}})", fmt::join(kReadModelNames, R"(",")"))};
  if (model->needs_thread && !query.thread_id)
    return Error{Code::invalid_params,
                 fmt::format("threadId: {} is the model of one thread", query.name),
                 {}};
  return std::nullopt;
}

Result<std::string> read_model(const Source& source, std::string_view name) {
  if (source.thread) {
    TRY_ASSIGN(const bool known, has_thread(source.store, source.view, *source.thread));
    if (!known) return no_thread(source.view.id, *source.thread);
  }
  return find_model(name)->read(source);
}

}  // namespace agentrt::kernel::models
