#include "cli/page/demo_story.h"

#include <array>

#include <fmt/format.h>

// Carries a file of examples/demo inside the binary.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage)
#define AGENTRT_DEMO_FILE(symbol, name)                                                     \
  asm(".section .rodata\n"                                                                  \
      "agentrt_demo_" #symbol                                                               \
      ":\n"                                                                                 \
      ".incbin \"" AGENTRT_DEMO_FOLDER "/" name                                             \
      "\"\n"                                                                                \
      "agentrt_demo_" #symbol                                                               \
      "_end:\n"                                                                             \
      ".byte 0\n"                                                                           \
      ".previous\n");                                                                       \
  extern "C" const char agentrt_demo_##symbol[];                                            \
  extern "C" const char agentrt_demo_##symbol##_end[];                                      \
  static std::string_view symbol##_text() {                                                 \
    return {agentrt_demo_##symbol,                                                          \
            static_cast<std::size_t>(agentrt_demo_##symbol##_end - agentrt_demo_##symbol)}; \
  }

AGENTRT_DEMO_FILE(sum, "sum.sh")
AGENTRT_DEMO_FILE(test, "test.sh")
AGENTRT_DEMO_FILE(build, "build.sh")
AGENTRT_DEMO_FILE(server, "server.sh")
AGENTRT_DEMO_FILE(engineer, "engineer.jsonl")
AGENTRT_DEMO_FILE(reviewer, "reviewer.jsonl")
AGENTRT_DEMO_FILE(tester, "tester.jsonl")

namespace agentrt::cli {

std::vector<DemoFile> demo_files() {
  return {{"workspace/sum.sh", sum_text()},     {"workspace/test.sh", test_text()},
          {"workspace/build.sh", build_text()}, {"workspace/server.sh", server_text()},
          {"workspace/build/sum", "echo 0\n"},  {"engineer.jsonl", engineer_text()},
          {"reviewer.jsonl", reviewer_text()},  {"tester.jsonl", tester_text()}};
}

std::string demo_config(const std::string& folder) {
  std::string out =
      "[routing]\ndefault = \"engineer\"\n\n[permissions]\nmode = \"default\"\n"
      "allow = [\"read_file\", \"edit_file\", \"spawn_subagent\", \"wait_subagents\", "
      "\"shell(sh test.sh)\", \"shell(sh server.sh)\"]\n";
  for (const std::string_view name : {"engineer", "reviewer", "tester"})
    out += fmt::format("\n[models.{0}]\nprovider = \"script\"\nscript = \"{1}/{0}.jsonl\"\n", name,
                       folder);
  return out;
}

}  // namespace agentrt::cli
