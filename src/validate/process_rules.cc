#include "validate/process_rules.h"

namespace agentrt::validate {

using namespace schema;

void ProcessRules::operator()(const ProcessStarted&) {
  const std::string& id = hearing_.head().process_id;
  const Key key = hearing_.key(id);
  if (processes_.find(key))
    return hearing_.fail("process.order", fmt::format("process {} starts a second time", id));
  processes_.at(key);
}

ProcessRules::Process* ProcessRules::open_process() {
  const std::string& id = hearing_.head().process_id;
  Process* process = processes_.find(hearing_.key(id));
  if (process && process->open) return process;
  if (!process && hearing_.excuses(processes_)) return nullptr;
  hearing_.fail("process.order",
                fmt::format("process {} {}", id, process ? "has ended" : "has not started"));
  return nullptr;
}

void ProcessRules::close() {
  Process* process = open_process();
  if (!process) return;
  process->open = false;
  processes_.end(hearing_.key(hearing_.head().process_id));
}

void ProcessRules::operator()(const ProcessOutput& p) {
  Process* process = open_process();
  if (p.text && p.text->size() > kProcessTextMax)
    hearing_.fail("process.chunk", fmt::format("{} bytes of text in one event; the limit is {}",
                                               p.text->size(), kProcessTextMax));
  not_expired(p.output_ref);
  if (!process || !p.offset) return;
  std::uint64_t& earliest = process->offsets[p.stream];
  if (*p.offset < earliest)
    hearing_.fail("process.chunk",
                  fmt::format("offset {} after output up to {}", *p.offset, earliest));
  // The text may be longer than the bytes it represents: invalid UTF-8 and secrets are replaced.
  earliest = *p.offset + (p.text && !p.text->empty() ? 1 : 0);
}

void ProcessRules::operator()(const ProcessInput&) { open_process(); }

void ProcessRules::operator()(const ProcessCompleted& p) {
  if (!p.exit_code && !p.signal)
    hearing_.fail("process.exit", "process.completed has neither exitCode nor signal");
  close();
}

// A process that could not be started ends without process.started.
void ProcessRules::operator()(const ProcessFailed&) {
  const Key key = hearing_.key(hearing_.head().process_id);
  if (!processes_.find(key)) processes_.at(key);
  close();
}

void ProcessRules::operator()(const ProcessTerminated&) { close(); }

void ProcessRules::operator()(const OutputSpilled& p) {
  outputs_.at(hearing_.key(p.output_ref)) = OutputState::kept;
}

bool ProcessRules::output_known(const std::string& ref, std::string_view what) {
  const OutputState* state = outputs_.find(hearing_.key(ref));
  if (state && *state == OutputState::kept) return true;
  if (state || (!hearing_.excuses(outputs_)))
    hearing_.fail("output.order", fmt::format("{} is {} and {}", ref, what,
                                              state ? "has expired" : "was never stored"));
  return false;
}

void ProcessRules::operator()(const OutputTruncated& p) { output_known(p.output_ref, "truncated"); }
void ProcessRules::operator()(const OutputRedacted& p) { output_known(p.output_ref, "redacted"); }
void ProcessRules::operator()(const OutputExpired& p) {
  if (!output_known(p.output_ref, "expired")) return;
  const Key key = hearing_.key(p.output_ref);
  outputs_.at(key) = OutputState::expired;
  outputs_.end(key);
}

void ProcessRules::not_expired(const std::optional<std::string>& ref) {
  const OutputState* state = ref ? outputs_.find(hearing_.key(*ref)) : nullptr;
  if (state && *state == OutputState::expired)
    hearing_.fail("output.order", fmt::format("{} is referenced but has expired", *ref));
}

void ProcessRules::operator()(const ToolResult& p) { not_expired(p.output_ref); }

}  // namespace agentrt::validate
