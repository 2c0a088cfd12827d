#include "runtime/environment_use.h"

#include "schema/codec.h"
#include "schema/jobs.h"
#include "schema/subagent_snapshot.h"
#include "schema/tasks.h"
#include "state/subagents.h"
#include "state/tasks.h"

namespace agentrt::runtime {
namespace {

bool has_not_ended(const store::IndexRow& row) {
  if (row.kind == state::kTaskKind) {
    const auto status = schema::enum_of<schema::TaskStatus>(row.status);
    return status && !schema::ended(*status);
  }
  if (row.kind == schema::kJobKind)
    return row.status == schema::name_of(schema::JobStatus::running) ||
           row.status == schema::name_of(schema::JobStatus::queued);
  if (row.kind == state::kSubagentKind)
    return row.status != schema::name_of(schema::ChildStatus::closed);
  return row.open;
}

}  // namespace

bool has_not_ended(store::Store& store, const std::string& id) {
  for (const std::string_view kind :
       {std::string_view("turn"), state::kTaskKind, schema::kJobKind, state::kSubagentKind}) {
    const auto found = store.find(std::string(kind), id);
    if (!found || (*found && has_not_ended((*found)->row))) return true;
  }
  return false;
}

ports::HeldEnvironments read_held(const std::string& text) {
  ports::HeldEnvironments held;
  if (text.empty() || !schema::check_json(text) ||
      !schema::from_json(text, held, schema::Unknown::ignore))
    return {};
  return held;
}

}  // namespace agentrt::runtime
