// cli/views/checkup.h: the findings of `agentrt doctor`, and how they are rendered. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/views/call_view.h"

namespace agentrt::cli {

enum class Health { good, bad };

struct Check {
  std::string name;
  Health health = Health::good;
  std::string finding;
  std::string remedy;  // what to do; empty if the check passed
};

bool all_good(const std::vector<Check>& checks);
std::string checks_text(const std::vector<Check>& checks, Paper paper);
// {"ok": …, "checks": [{"name", "ok", "finding", "remedy"?}]}
std::string checks_json(const std::vector<Check>& checks);

}  // namespace agentrt::cli
