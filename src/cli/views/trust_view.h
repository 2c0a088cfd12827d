// cli/views/trust_view.h: shows what workspace files do once they are trusted. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/views/call_view.h"
#include "schema/policy.h"

namespace agentrt::cli {

// Each file with its state and what it does, one line per effect. Of a file that changed since it
// was trusted, "+" marks what is new and "-" what is gone.
std::string trust_files_text(const std::vector<schema::PolicyFile>& files, Paper paper);

}  // namespace agentrt::cli
