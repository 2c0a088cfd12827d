// kernel/models/thread_read_model.cc: the reply of get_thread_read.
#include "kernel/models/models.h"
#include "kernel/session_reads.h"

namespace agentrt::kernel::models {

Result<std::string> thread_read_model(const Source& source) {
  TRY_ASSIGN(const schema::ThreadRead read,
             read_thread(source.store, source.view, *source.thread, source.limits));
  return schema::to_json(read);
}

}  // namespace agentrt::kernel::models
