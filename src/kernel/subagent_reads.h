// kernel/subagent_reads.h: reads about subagents: the list, and waiting for them.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "kernel/limits.h"
#include "ports/control_plane.h"
#include "ports/loop.h"
#include "schema/commands.h"
#include "store/store.h"

namespace agentrt::kernel {

// The subagents of a session, closed ones too, newest first. Blocks; on a worker. Errors: those of
// kernel/reads.h.
Result<std::string> list_subagents(store::Store& store, const schema::ListSubagents& query,
                                   const Limits& limits);

// Clients that wait for subagents. A wait holds neither a lane nor a thread: it is registered here,
// and its subagents' index rows are read again when a commit has changed one of them. Core only,
// except the reads.
class SubagentWaits {
 public:
  struct Parts {
    store::Store& store;
    ports::Loop& loop;
    ports::Worker& readers;
    const Limits& limits;
  };

  explicit SubagentWaits(Parts parts) : parts_(parts) {}

  // Replies when enough of the subagents are idle, or after the time limit, which is no error.
  // Errors: invalid_params; not_found: no such subagent, or of another session than the one named;
  // limit_exceeded: too many clients are waiting.
  void wait(schema::WaitSubagents query, ports::ReplyTo reply_to);
  // Called with the facts of each commit.
  void published(const ports::FeedBatch& batch);

 private:
  struct Waiting;

  void look(const std::shared_ptr<Waiting>& waiting);
  void looked(const std::shared_ptr<Waiting>& waiting, Result<schema::WaitSubagentsReply> found);
  void finish(const std::shared_ptr<Waiting>& waiting, ports::Reply reply);
  Result<schema::WaitSubagentsReply> read(const schema::WaitSubagents& query) const;

  Parts parts_;
  std::list<std::shared_ptr<Waiting>> waiting_;
};

}  // namespace agentrt::kernel
