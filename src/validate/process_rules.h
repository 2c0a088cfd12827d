// validate/process_rules.h: rules for processes, from start to their single end, and for their
// stored outputs.
#pragma once

#include "schema/provisional.h"
#include "validate/rule_context.h"

namespace agentrt::validate {

inline constexpr std::size_t kProcessTextMax = 4'096;  // bytes in one process.output

class ProcessRules {
 public:
  explicit ProcessRules(RuleContext& hearing) : hearing_(hearing) {}

  void operator()(const schema::ProcessStarted& p);
  void operator()(const schema::ProcessOutput& p);
  void operator()(const schema::ProcessInput& p);
  void operator()(const schema::ProcessCompleted& p);
  void operator()(const schema::ProcessFailed& p);
  void operator()(const schema::ProcessTerminated& p);
  void operator()(const schema::OutputSpilled& p);
  void operator()(const schema::OutputTruncated& p);
  void operator()(const schema::OutputRedacted& p);
  void operator()(const schema::OutputExpired& p);
  void operator()(const schema::ToolResult& p);

 private:
  struct Process {
    bool open = true;
    // The lowest offset at which the next chunk may begin. Each stream has its own spool.
    std::map<schema::OutputStream, std::uint64_t> offsets;
  };
  enum class OutputState { kept, expired };

  Process* open_process();
  void close();
  bool output_known(const std::string& ref, std::string_view what);
  void not_expired(const std::optional<std::string>& ref);

  RuleContext& hearing_;
  Table<Process> processes_;
  Table<OutputState> outputs_;
};

}  // namespace agentrt::validate
