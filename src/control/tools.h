// control/tools.h: what is known about each tool without asking the world, and the facts that end
// its calls.
#pragma once

#include "control/turn_facts.h"
#include "policy/permission.h"
#include "tools/tool.h"

namespace agentrt::control {

schema::ItemKind item_of(const std::string& tool);
policy::Access access_of(std::string_view tool);

// Whether it may run beside others of which the same is true: it only reads.
bool runs_side_by_side(const Session& view, const state::ToolCall& call);
// Whether a call that an earlier boot started, and nobody knows how far, may be made again.
bool may_run_again(const Session& view, const state::ToolCall& call);

// Why the call cannot be made at all, if so: in words that the model can act on.
std::optional<schema::Failure> wrong_call(const Session& view, const state::ToolCall& call);
// What a rule about the tool is held against: a command's text, a file's path.
std::string text_of(const state::ToolCall& call);
// The folder that a command names to run in, as it is written; none: it runs in the workspace.
std::optional<std::string> folder_of(const state::ToolCall& call);
// Where the call would run: absolute, as it is written.
std::string cwd_of(const Session& view, const state::ToolCall& call);
// The JSON Schema of an answer to the question.
schema::Json answer_schema(const tools::Question& question);

// The tools as a turn under this policy sees them: the runtime's own, then those of servers.
schema::ToolCatalogResolved tool_catalog(const Session& view, const policy::Effective& policy,
                                         std::vector<schema::CatalogTool> of_servers,
                                         std::vector<schema::MissingServer> missing);

// A call that has started and not ended, and the thread whose turn made it.
struct OpenCall {
  const Thread* thread = nullptr;
  const state::ToolCall* call = nullptr;

  explicit operator bool() const { return call != nullptr; }
};
OpenCall find_open_call(const Session& view, const TurnId& turn, const ToolCallId& call);

// A person approved the call, and by now it would be something else: the digest of that, empty
// where nobody could tell.
std::optional<std::string> changed_since_approval(const Session& view, const OpenCall& open,
                                                  const std::optional<schema::Binding>& now);
// `now` is what was looked at, where anybody could.
void refuse_changed(Facts& facts, const Session& view, const OpenCall& open,
                    const std::string& digest_now, const std::optional<schema::Binding>& now);
// The call is over: the turn goes on with its others, unless somebody has to resume it first.
void go_on_after_call(Facts& facts, const Session& view, const Thread& thread, Inputs& inputs);

void end_call(Facts& facts, const schema::ToolScope& scope, const state::ToolCall& call,
              schema::Failure error);
// Ends what has begun: the turn is over before its calls are.
void close_tools(Facts& facts, const Turn& turn, const schema::Failure& error, const BootId& boot);

}  // namespace agentrt::control
