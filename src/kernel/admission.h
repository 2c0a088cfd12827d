// kernel/admission.h: the path of a command from its arrival to its lane.
//
// A read command is answered (kernel/read_commands.h). A mutating command names things: an
// idempotency key, ids, an object, folders. Its row in schema/admission.h says which. The names
// are claimed, then looked up on a worker, and the command is put on the lane of its session
// together with what was found. A command that names nothing to look up goes to its lane directly.
// A command whose answer the look-up already gives (a repetition, an object that does not exist)
// never reaches a lane. If the queue of the readers is full, the command gets `overloaded`. The
// claims are released after the reply. Core only, except the look-ups.
#pragma once

#include <memory>
#include <optional>

#include "kernel/channels/channels.h"
#include "kernel/claims.h"
#include "kernel/lanes.h"
#include "kernel/read_commands.h"
#include "ports/folders.h"
#include "ports/job_inputs.h"
#include "schema/admission.h"

namespace agentrt::kernel {

class Admission {
 public:
  struct Parts {
    store::Store& store;
    ports::Loop& loop;
    ports::Worker& readers;
    ports::Metrics& metrics;
    Claims& claims;
    Lanes& lanes;
    ReadCommands& reads;
    Channels& channels;
    const policy::Redactor* redactor;  // may be null
    ports::Folders* folders;           // null: folders are accepted as named
    ports::JobInputs* job_inputs;      // null: jobs are refused
  };

  explicit Admission(Parts parts) : parts_(parts) {}

  // Call before the first command.
  void set_job_inputs(ports::JobInputs& inputs) { parts_.job_inputs = &inputs; }

  // `reply_to` is called exactly once, on the core or on a worker.
  void admit(schema::Command command, ports::Caller caller, ports::ReplyTo reply_to);

 private:
  struct Pending;

  // Admits a read of files in `folder` if the caller may read there.
  void admit_in_folder(std::string folder, schema::Command command, ports::Caller caller,
                       ports::ReplyTo reply_to);
  void admit_mutation(schema::AdmissionPlan plan, schema::Command command, ports::Caller caller,
                      ports::ReplyTo reply_to);
  void start_look_up(std::unique_ptr<Pending> pending);
  void finish(std::unique_ptr<Pending> pending);
  // Reads what a fork into a new session continues, on the lane of its source, and puts the command
  // on the lane of the new one.
  void read_source(std::unique_ptr<Pending> pending);
  void put(std::unique_ptr<Pending> pending);

  // On a worker. The answer, if the store already has it; otherwise fills in what was found.
  std::optional<ports::Reply> look_up(Pending& pending) const;
  // The answer to a command whose idempotency key was used before.
  std::optional<ports::Reply> repeated(const Pending& pending) const;
  Result<void> find_ids(Pending& pending) const;
  Result<void> find_object(Pending& pending) const;
  Result<void> find_named_channel(Pending& pending) const;
  Result<void> check_items(Pending& pending) const;

  Parts parts_;
};

}  // namespace agentrt::kernel
