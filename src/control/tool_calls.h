// control/tool_calls.h: properties of each tool that are known without I/O, and the facts that end
// calls.
#pragma once

#include "control/turn_facts.h"
#include "policy/permission.h"
#include "tools/tool.h"

namespace agentrt::control {

schema::ItemKind item_of(const std::string& tool);
policy::Access access_of(std::string_view tool);

// Whether the call may run in parallel with other such calls: it only reads.
bool runs_side_by_side(const Session& view, const state::ToolCall& call);
// Whether a call that an earlier boot started, and whose progress is unknown, may be repeated.
bool may_run_again(const Session& view, const state::ToolCall& call);

// Why the call is invalid, as a message for the model; nullopt: it is valid.
std::optional<schema::Failure> wrong_call(const Session& view, const state::ToolCall& call);
// The text that rules are matched against: a command's text, a file's path, a URL.
std::string text_of(const state::ToolCall& call);
// The folder argument of a command, as written; nullopt: the workspace.
std::optional<std::string> folder_of(const state::ToolCall& call);
// The absolute working directory of the call, as written.
std::string cwd_of(const Session& view, const state::ToolCall& call);
// The JSON Schema of an answer to the question.
schema::Json answer_schema(const tools::Question& question);

// The tools as a turn under this policy sees them: the runtime's own, then those of servers.
schema::ToolCatalogResolved tool_catalog(const Session& view, const policy::Effective& policy,
                                         std::vector<schema::CatalogTool> of_servers,
                                         std::vector<schema::MissingServer> missing);

// A running call, and the thread of its turn.
struct OpenCall {
  const Thread* thread = nullptr;
  const state::ToolCall* call = nullptr;

  explicit operator bool() const { return call != nullptr; }
};
OpenCall find_open_call(const Session& view, const TurnId& turn, const ToolCallId& call);

// If an approved call would now run something else: its new digest, or "" if that is unknown.
std::optional<std::string> changed_since_approval(const Session& view, const OpenCall& open,
                                                  const std::optional<schema::Binding>& now);
// Ends the call because its approval does not match. `now`: the inspected state, if known.
void refuse_changed(Facts& facts, const Session& view, const OpenCall& open,
                    const std::string& digest_now, const std::optional<schema::Binding>& now);
// After a call has ended, continues the turn, unless it is blocked and must be resumed first.
void go_on_after_call(Facts& facts, const Session& view, const Thread& thread, Inputs& inputs);

void end_call(Facts& facts, const schema::ToolScope& scope, const state::ToolCall& call,
              schema::Failure error);
// Ends all open calls of a turn that ends.
void close_tools(Facts& facts, const Turn& turn, const schema::Failure& error, const BootId& boot);

}  // namespace agentrt::control
