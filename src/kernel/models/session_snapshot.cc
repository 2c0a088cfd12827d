// kernel/models/session_snapshot.cc: the reply of get_session.
#include "kernel/models/models.h"
#include "kernel/session_reads.h"

namespace agentrt::kernel::models {

using namespace schema;

// Narrowed to a thread, it lists that thread and the history of that thread alone.
Result<std::string> session_snapshot(const Source& source) {
  GetSession query;
  query.session_id = source.view.id;
  query.thread_id = source.thread;
  TRY_ASSIGN(SessionSnapshot read, read_session(source.store, source.view, query, source.limits));
  if (source.thread) {
    std::erase_if(read.threads,
                  [&](const ThreadSnapshot& each) { return each.thread_id != *source.thread; });
    read.threads_cursor.reset();
  }
  return to_json(read);
}

}  // namespace agentrt::kernel::models
