// kernel/models/tool_inventory_snapshot.cc: the reply of get_tool_inventory. A session has one
// catalogue, so it is not narrowed to a thread.
#include "kernel/models/models.h"
#include "kernel/tool_reads.h"

namespace agentrt::kernel::models {

namespace {

struct Model {
  SessionId session_id;
  schema::Json tools;
};
BOOST_DESCRIBE_STRUCT(Model, (), (session_id, tools))

}  // namespace

// Of the past, its permissions follow the policy that the log names, because the files of that time
// are gone.
Result<std::string> tool_inventory_snapshot(const Source& source) {
  if (source.policies == nullptr && !source.view.has_policy)
    return finished(
        Model{source.view.id, absent(schema::Honesty::unknown, "no turn had been prepared")},
        source);
  return tool_inventory(source.store, source.policies, source.view, source.settings);
}

}  // namespace agentrt::kernel::models
