#include "tools/registry.h"

#include <algorithm>

#include "schema/arguments.h"
#include "tools/ask_user.h"
#include "tools/edit_file.h"
#include "tools/list_files.h"
#include "tools/read_file.h"
#include "tools/restore_file.h"
#include "tools/search_files.h"
#include "tools/send_subagent_input.h"
#include "tools/shell.h"
#include "tools/spawn_subagent.h"
#include "tools/update_plan.h"
#include "tools/wait_subagents.h"
#include "tools/web_fetch.h"
#include "tools/write_file.h"

namespace agentrt::tools {

using schema::Unknown;

namespace {

template <class Args>
std::optional<Args> decoded(std::string_view text) {
  Args args;
  if (!schema::from_json(text, args, Unknown::ignore)) return std::nullopt;
  return args;
}

// Adds the functions that follow from the argument struct to the spec.
template <class Args, const ToolSpec& kSpec>
constexpr Tool tool() {
  static_assert(Args::kFromModel, "models write whole numbers as 1.0: see schema/json_read.h");
  Tool out{kSpec};
  out.input_schema = []() -> std::string_view {
    static const std::string kSchema = schema::argument_schema<Args>(kSpec.arguments);
    return kSchema;
  };
  out.decode = [](std::string_view text) -> Result<void> {
    Args args;
    TRY(schema::from_json(text, args, Unknown::refuse));
    if constexpr (requires { wrong(args); })
      if (auto why = wrong(args)) return fail(Code::invalid_params, *std::move(why));
    return {};
  };
  if constexpr (requires(const Args& args) { object(args); })
    out.object = [](std::string_view text) {
      return decoded<Args>(text).transform([](const Args& args) { return object(args); });
    };
  if constexpr (requires(const Args& args) { subject(args); })
    out.subject = [](std::string_view text) {
      return decoded<Args>(text).transform([](const Args& args) { return subject(args); });
    };
  if constexpr (kSpec.runs == Runner::process)
    out.command = [](std::string_view text, Unknown unknown) -> Result<Command> {
      Args args;
      TRY(schema::from_json(text, args, unknown));
      return command(args);
    };
  if constexpr (kSpec.runs == Runner::session)
    out.run = [](const SessionCall& call) -> Result<SessionResult> {
      Args args;
      TRY(schema::from_json(call.args, args, Unknown::refuse));
      return run(args, call);
    };
  if constexpr (kSpec.runs == Runner::person)
    out.question = [](std::string_view text) {
      return decoded<Args>(text).transform([](const Args& args) { return question(args); });
    };
  if constexpr (kSpec.rules == RuleForm::host)
    out.address = [](std::string_view text) {
      return decoded<Args>(text).transform([](const Args& args) { return address(args); });
    };
  if constexpr (kSpec.runs == Runner::agent)
    out.agent_call = [](std::string_view text) {
      return decoded<Args>(text).transform([](const Args& args) { return agent_call(args); });
    };
  return out;
}

// clang-format off: one line per tool
constexpr std::array kTools = {
    tool<ShellArgs, kShell>(),
    tool<ReadFileArgs, kReadFile>(),
    tool<WriteFileArgs, kWriteFile>(),
    tool<EditFileArgs, kEditFile>(),
    tool<ListFilesArgs, kListFiles>(),
    tool<SearchFilesArgs, kSearchFiles>(),
    tool<WebFetchArgs, kWebFetch>(),
    tool<UpdatePlanArgs, kUpdatePlan>(),
    tool<AskUserArgs, kAskUser>(),
    tool<SpawnSubagentArgs, kSpawnSubagent>(),
    tool<WaitSubagentsArgs, kWaitSubagents>(),
    tool<SendSubagentInputArgs, kSendSubagentInput>(),
};
// clang-format on

// That only the runtime calls.
constexpr std::array kOwnTools = {tool<RestoreFileArgs, kRestoreFile>()};

constexpr ReservedName kReserved[] = {
    {.name = "web_search"},
};

}  // namespace

std::span<const Tool> all() { return kTools; }
std::span<const Tool> own() { return kOwnTools; }

const Tool* find(std::string_view name) {
  for (const std::span<const Tool> tools : {std::span<const Tool>(kTools), own()})
    for (const Tool& each : tools)
      if (each.name == name) return &each;
  return nullptr;
}

std::span<const ReservedName> reserved_names() { return kReserved; }

const ReservedName* find_reserved(std::string_view name) {
  const auto* at = std::ranges::find(kReserved, name, &ReservedName::name);
  return at == std::end(kReserved) ? nullptr : at;
}

std::string_view judged_as(std::string_view name) {
  const Tool* tool = find(name);
  return tool && !tool->judged_as.empty() ? tool->judged_as : name;
}

Runner runner_of(std::string_view name) {
  const Tool* tool = find(name);
  return tool ? tool->runs : Runner::server;
}

Access access_of(std::string_view name) {
  const Tool* tool = find(name);
  return tool ? tool->access : Access::execute;
}

RuleForm rule_form_of(std::string_view name) {
  const Tool* tool = find(name);
  return tool ? tool->rules : RuleForm::arguments;
}

std::string_view path_argument_of(std::string_view name) {
  const Tool* tool = find(name);
  return tool ? tool->path.name : "path";
}

std::optional<std::string> path_in(std::string_view name, std::string_view args) {
  struct Found {
    std::string_view name;
    std::optional<std::string> path = {};
  } found{path_argument_of(name)};
  if (found.name.empty()) return std::nullopt;
  (void)schema::codec::each_document_member(
      args, &found,
      [](void* context, std::string_view member, schema::codec::Value value) -> Result<void> {
        auto& into = *static_cast<Found*>(context);
        std::string_view text;
        if (member == into.name && value.get(text)) into.path = text;
        return {};
      });
  return std::move(found.path);
}

std::optional<Command> command_in(std::string_view name, std::string_view args) {
  const Tool* tool = find(name);
  if (!tool || !tool->command) return std::nullopt;
  auto command = tool->command(args, Unknown::refuse);
  if (!command) return std::nullopt;
  return *std::move(command);
}

std::optional<std::string> address_in(std::string_view name, std::string_view args) {
  const Tool* tool = find(name);
  return tool && tool->address ? tool->address(args) : std::nullopt;
}

std::optional<Question> question_in(std::string_view name, std::string_view args) {
  const Tool* tool = find(name);
  return tool && tool->question ? tool->question(args) : std::nullopt;
}

std::optional<AgentCall> agent_call_in(std::string_view name, std::string_view args) {
  const Tool* tool = find(name);
  return tool && tool->agent_call ? tool->agent_call(args) : std::nullopt;
}

// The schema's error comes first, because the model knows the schema. The tool's own decoder
// decides.
std::optional<schema::Failure> wrong_arguments(const Tool& tool, const schema::Json& args) {
  auto wrong = schema::wrong_arguments({std::string(tool.input_schema())}, args);
  if (!wrong)
    if (const auto decoded = tool.decode(args.text); !decoded) wrong = decoded.error().message;
  if (!wrong) return std::nullopt;
  return schema::Failure{schema::Category::invalid_input, *std::move(wrong), false};
}

}  // namespace agentrt::tools
