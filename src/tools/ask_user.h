// tools/ask_user.h: the tool `ask_user`: asks the user a question and waits for the answer.
#pragma once

#include "tools/tool.h"

namespace agentrt::tools {

struct AskUserArgs {
  static constexpr bool kFromModel = true;

  std::string question;
  std::optional<std::vector<std::string>> choices;  // default: any text is accepted

  bool operator==(const AskUserArgs&) const = default;
};
BOOST_DESCRIBE_STRUCT(AskUserArgs, (), (question, choices))

inline constexpr schema::Argument kAskUserArguments[] = {
    {"question", R"("minLength":1,"maxLength":4096)",
     "The question, with what the person must know to answer it."},
    {"choices", R"("items":{"type":"string"},"minItems":1,"maxItems":20)",
     "The possible answers. Default: any text."},
};

inline constexpr ToolSpec kAskUser = {
    .name = "ask_user",
    .description =
        "Asks the person a question and returns the answer. Use it when a decision is the person's "
        "to make and the answer cannot be found in the workspace; decide small matters yourself. "
        "Fails if the run is not interactive.",
    .arguments = kAskUserArguments,
    .runs = Runner::person,
    .access = Access::read,
    .verb = "ask",
    .claude = {{"AskUserQuestion"}},
};

inline std::string object(const AskUserArgs& args) { return args.question; }
inline Question question(const AskUserArgs& args) { return {args.question, args.choices}; }

}  // namespace agentrt::tools
