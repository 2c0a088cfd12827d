#include "policy/wider_rules.h"

#include <algorithm>

#include "policy/paths.h"
#include "policy/shell/analysis.h"
#include "policy/shell/findings.h"
#include "schema/tools.h"
#include "tools/registry.h"

namespace agentrt::policy {
namespace {

using shell::one_of;

// What they do is said by their second word.
constexpr std::string_view kWithSubcommands =
    "git npm pnpm yarn bun npx cargo go docker podman kubectl gh glab pip pip3 poetry uv bundle "
    "rails rake dotnet mvn gradle helm terraform systemctl apt apt-get dnf brew make just task "
    "rustup conda mix swift aws gcloud az";
// Subcommands that run what their next word names.
constexpr std::string_view kRunners = "run exec dlx x";
// A prefix of these would grant whatever another user may do.
constexpr std::string_view kNeverOffered = "sudo doas su pkexec run0 runuser setpriv";

// Needs no quotes in a rule, and has no comma, which could begin `, outside`.
bool is_plain(const shell::Arg& word) {
  return word.known && !word.text.empty() && std::ranges::all_of(word.text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  one_of(std::string_view(&c, 1), "- _ . / + @ =");
         });
}

std::size_t words_at_least(const std::vector<shell::Arg>& args) {
  if (!one_of(args[0].text, kWithSubcommands)) return 1;
  if (args.size() < 2) return 1;
  if (args[1].text.starts_with('-')) return kPrefixWordsMax + 1;  // the subcommand comes later
  return args.size() > 2 && one_of(args[1].text, kRunners) ? 3 : 2;
}

void add_prefixes(const std::string& tool, const shell::Part& part, std::vector<std::string>& out) {
  const auto& args = part.args;
  if (!is_plain(args[0]) || args[0].text.contains('/') || one_of(args[0].text, kNeverOffered))
    return;
  const std::size_t most = std::min(args.size(), kPrefixWordsMax);
  std::string words;
  for (std::size_t i = 0; i < most && is_plain(args[i]); ++i) {
    words += (words.empty() ? "" : " ") + args[i].text;
    if (i + 1 >= words_at_least(args)) out.push_back(tool + "(" + words + ":*)");
  }
}

// A rule cannot name an IPv6 address.
std::vector<std::string> host_rules(const Asked& asked) {
  const std::string host = host_of(asked.text);
  if (host.empty() || host.starts_with('[')) return {};
  return {asked.tool + "(" + host + ")"};
}

}  // namespace

std::vector<std::string> wider_rules(const Asked& asked) {
  if (asked.tool.starts_with(schema::kServerToolPrefix)) return {asked.tool};
  if (tools::rule_form_of(asked.tool) == tools::RuleForm::host) return host_rules(asked);
  if (tools::rule_form_of(asked.tool) != tools::RuleForm::command ||
      asked.escalation != Escalation::none)
    return {};
  const shell::Analysis analysis = shell::analyse(asked.text);
  std::vector<std::string> out;
  if (!analysis.proven() || analysis.parts.size() > kPrefixPartsMax) return out;
  for (const shell::Part& part : analysis.parts)
    if (!part.within) add_prefixes(asked.tool, part, out);
  return out;
}

}  // namespace agentrt::policy
