#include "state/processes.h"

#include <algorithm>

namespace agentrt::state {

using namespace schema;

Process* process_of(Session& session, const Fact& fact) {
  const auto at = session.processes.find(fact.ids.process_id);
  return at == session.processes.end() ? nullptr : &at->second;
}

void add_process(Session& session, const Fact& fact, const ProcessStarted& started) {
  const Ids& ids = fact.ids;
  Process process;
  process.id = ids.process_id;
  process.turn = {ids.thread_id, ids.turn_id,    ids.task_id,
                  ids.run_id,    ids.attempt_id, ids.trace_id};
  process.step = ids.step_id;
  process.call = ids.tool_call_id;
  process.command = std::string(utf8_prefix(started.command, kInputPreviewBytes));
  process.cwd = started.cwd;
  process.tty = started.tty.value_or(false);
  process.boot = started.boot_id.value_or(BootId{});
  process.first = fact.sequence;
  process.started_at = fact.at;
  process.timeout_ms = started.timeout_ms;
  session.processes[process.id] = std::move(process);
}

void show_output(Process& process, const ProcessOutput& output) {
  const std::uint64_t size = output.text ? output.text->size() : 0;
  const std::uint64_t next = output.next_offset.value_or(output.offset.value_or(0) + size);
  std::uint64_t& shown =
      output.stream == OutputStream::stderr_ ? process.err_shown : process.out_shown;
  shown = std::max(shown, next);
}

void take_input(Process& process, const ProcessInput& input) {
  if (input.closed.value_or(false)) process.input_closed = true;
  if (!input.signal) return;
  process.ending = input.reason.value_or("");
  process.status = ProcessStatus::ending;
}

void end_process(Session& session, const Fact& fact, ProcessStatus status,
                 std::optional<std::int64_t> exit_code) {
  auto ended = session.processes.extract(fact.ids.process_id);
  if (!ended) return;
  ended.mapped().status = status;
  ended.mapped().exit_code = exit_code;
  ended.mapped().ended_at = fact.at;
  session.ended_process = std::move(ended.mapped());
}

}  // namespace agentrt::state
