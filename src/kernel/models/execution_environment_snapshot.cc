// kernel/models/execution_environment_snapshot.cc: the reply of get_execution_environment.
#include "kernel/models/models.h"
#include "state/read_models.h"

namespace agentrt::kernel::models {

Result<std::string> execution_environment_snapshot(const Source& source) {
  schema::EnvironmentSnapshot read =
      state::environment_snapshot(source.view, source.thread, source.boot);
  read.generation = source.store.generation();
  return schema::to_json(read);
}

}  // namespace agentrt::kernel::models
