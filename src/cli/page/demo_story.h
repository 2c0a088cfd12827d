// cli/page/demo_story.h: what `agentrt demo` shows: a small workspace, script models that play an
// engineer and two colleagues, and rules that ask a person once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentrt::cli {

// A file of the demo, by its path below the folder of the demo.
struct DemoFile {
  std::string_view path;
  std::string_view text;
};

// The workspace and the scripts.
std::vector<DemoFile> demo_files();
// The configuration; `folder` is the folder of the demo.
std::string demo_config(const std::string& folder);

inline constexpr std::string_view kDemoPrompt =
    "The test of sum.sh fails. Fix it, rebuild, start the server, and have the change reviewed.";
// The parameters of create_job: one of its items fails at the first attempt.
inline constexpr std::string_view kDemoJob =
    R"({"sessionId":"demo","jobId":"demo_checks","runner":{"kind":"command","command":)"
    R"("name=$(cat); case $name in *linux-arm64*) test -e build/.arm64 || { touch build/.arm64; )"
    R"(echo the emulator did not start; exit 1; };; esac; sh test.sh"},)"
    R"("items":[{"jobItemId":"linux-x64","input":"linux-x64"},)"
    R"({"jobItemId":"linux-arm64","input":"linux-arm64"},{"jobItemId":"macos","input":"macos"}],)"
    R"("retryPolicy":{"maxAttempts":2,"backoffMs":500},"options":{"mode":"bypass"}})";

}  // namespace agentrt::cli
