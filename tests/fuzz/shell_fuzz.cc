// A libFuzzer target for the shell parser. For any input: parsing terminates within its limits, an
// allow-all rule never beats a matching deny rule, and a part whose words are all known parses as
// the same part when it is printed and parsed again.
//
//   cmake --build build/release --target shell_fuzz
//   build/release/tests/shell_fuzz -max_len=4096 -max_total_time=600
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/check.h"
#include "policy/permission.h"
#include "policy/shell/limits.h"

using namespace agentrt;
using namespace agentrt::policy;

namespace {

const Effective& policy_to_fuzz() {
  static const Effective kPolicy{
      .rules = std::make_shared<const Rules>(*compile({
          {schema::RuleEffect::allow, "shell", schema::RuleOrigin::user},
          {schema::RuleEffect::deny, "shell(rm:*)", schema::RuleOrigin::user},
      }))};
  return kPolicy;
}

bool all_known(const shell::Part& part) {
  for (const shell::Arg& arg : part.args)
    if (!arg.known) return false;
  return true;
}

void check_typed_again(const shell::Part& part) {
  const shell::Analysis again = shell::analyse(part.text());
  if (again.over_limit) return;  // the added quotes exceed the limit
  check(!again.parts.empty(), "a part can be typed again");
  const auto& args = again.parts.front().args;
  check(args.size() == part.args.size(), "a part typed again has as many words");
  for (std::size_t i = 0; i < args.size(); ++i)
    check(args[i].known && args[i].text == part.args[i].text,
          "a part typed again has the same words");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const shell::Analysis analysis = shell::analyse(text);
  check(analysis.parts.size() <= shell::kCommandsMax, "the parts keep their limit");
  bool removes = false;
  for (const shell::Part& part : analysis.parts) {
    check(!part.args.empty(), "a part has a program");
    removes = removes || (part.program().known && part.program().text == "rm");
    if (all_known(part)) check_typed_again(part);
  }
  const Asked asked{.tool = "shell", .text = text, .cwd = "/ws", .workspace = "/ws"};
  const Judgement judgement = judge(asked, policy_to_fuzz());
  if (removes || analysis.over_limit)
    check(judgement.decision == schema::Decision::deny, "what is denied stays denied");
  if (!analysis.doubts.empty())
    check(judgement.decision != schema::Decision::allow, "a doubt is never allowed");
  return 0;
}
