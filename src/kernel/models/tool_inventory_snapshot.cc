// kernel/models/tool_inventory_snapshot.cc: the reply of get_tool_inventory. A session has one
// catalogue, so it is not narrowed to a thread.
#include "kernel/models/models.h"
#include "kernel/tool_reads.h"

namespace agentrt::kernel::models {

Result<std::string> tool_inventory_snapshot(const Source& source) {
  return tool_inventory(source.store, source.policies, source.view, source.settings);
}

}  // namespace agentrt::kernel::models
