// kernel/models/models.h: the thirteen read models of a session, one file per model.
//
// A model is a pure function of the view and of the store's rows and facts up to the view's
// sequence. So it is the same in a running daemon, after a restart and after an offline replay of
// the log; docs/read_models.md names the exceptions. Lists are bounded and say how much they leave
// out. A part that this runtime cannot vouch for is {"status": WORD, "reason": …} in its place.
#pragma once

#include <string>
#include <string_view>

#include "control/decide.h"
#include "kernel/limits.h"
#include "ports/policies.h"
#include "schema/commands.h"
#include "store/store.h"

namespace agentrt::kernel::models {

// What a model is made from. The store's rows must be as of the view.
struct Source {
  store::Store& store;
  const state::Session& view;
  const std::optional<ThreadId> thread;  // narrows the model to this thread
  const std::optional<BootId> boot;      // nullopt: of a time when every process was followed
  const control::Settings& settings;
  ports::Policies* policies;  // null: the policy is the one that the log names
  const Limits& limits;
};

// The refusal of a query that names no model, or lacks the thread that the model needs.
std::optional<Error> wrong_query(const schema::GetReadModel& query);

// The JSON of the model. Blocks; runs on a worker. Errors: not_found: no such thread; and those of
// the store. REQUIRES: wrong_query() found nothing.
Result<std::string> read_model(const Source& source, std::string_view name);

// --- the models ---

Result<std::string> session_snapshot(const Source& source);
Result<std::string> thread_read_model(const Source& source);
Result<std::string> tool_inventory_snapshot(const Source& source);
Result<std::string> queue_snapshot(const Source& source);
Result<std::string> task_snapshot(const Source& source);
Result<std::string> context_boundary_snapshot(const Source& source);
Result<std::string> artifact_checkpoint_summary(const Source& source);
Result<std::string> evidence_summary(const Source& source);
Result<std::string> permission_sandbox_summary(const Source& source);
Result<std::string> execution_environment_snapshot(const Source& source);
Result<std::string> routing_limit_summary(const Source& source);
Result<std::string> subagent_job_summary(const Source& source);
Result<std::string> channel_summary(const Source& source);

// --- what they share ---

// A part that the runtime cannot vouch for, and why.
schema::Json absent(schema::Honesty status, std::string reason);
template <class T>
schema::Json part(const T& value) {
  return {schema::to_json(value)};
}

// The members that every model ends with.
struct AsOf {
  GenerationId generation;
  Sequence as_of_sequence = 0;
};
BOOST_DESCRIBE_STRUCT(AsOf, (), (generation, as_of_sequence))
// The model with these members added.
template <class Model>
std::string finished(const Model& model, const Source& source) {
  std::string out = schema::to_json(model);
  const std::string as_of = schema::to_json(AsOf{source.store.generation(), source.view.sequence});
  out.back() = ',';
  return out + as_of.substr(1);
}

// Whether the model includes what belongs to this thread.
inline bool includes(const Source& source, const ThreadId& thread) {
  return !source.thread || *source.thread == thread;
}

}  // namespace agentrt::kernel::models
