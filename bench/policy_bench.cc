// How long a permission decision takes: on texts that agents write, under the rules of a project,
// and on texts made to take long.
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "policy/permission.h"
#include "policy/shell/limits.h"

namespace {

using namespace agentrt;
using namespace agentrt::policy;

const std::vector<std::string> kTexts = {
    "git status",
    "git log --oneline -10 | head -5",
    "cargo test 2>&1 | tail -20",
    "cd build && cmake .. && make -j4",
    "grep -rn \"a b\" src | sort | uniq -c | sort -rn | head",
    "for f in src/*.c; do wc -l \"$f\"; done",
    "if [ -f Cargo.toml ]; then cargo test; else echo none; fi",
    "git commit -m \"$(cat <<'EOF'\nAdd the parser\n\nIt reads.\nEOF\n)\"",
    "find . -name '*.py' -not -path './venv/*' | xargs wc -l",
    "git status && rm -rf build",
};

std::shared_ptr<const Rules> project_rules() {
  std::vector<schema::PolicyRule> sources;
  for (const char* words :
       {"git status", "git log", "git diff", "git show",   "git add",     "git commit", "ls",
        "cat",        "head",    "tail",     "grep",       "rg",          "find",       "wc",
        "sort",       "uniq",    "echo",     "cd",         "cut",         "tr",         "jq",
        "xargs",      "sed",     "awk",      "cargo test", "cargo build", "npm test",   "npm run",
        "go test",    "cmake",   "make",     "ctest",      "test",        "[",          "date",
        "stat",       "du",      "which",    "basename",   "dirname"})
    sources.push_back({schema::RuleEffect::allow, "shell(" + std::string(words) + ":*)",
                       schema::RuleOrigin::user});
  sources.push_back({schema::RuleEffect::ask, "shell(git push:*)", schema::RuleOrigin::user});
  sources.push_back({schema::RuleEffect::deny, "shell(rm:*)", schema::RuleOrigin::user});
  sources.push_back({schema::RuleEffect::deny, "shell(curl:*)", schema::RuleOrigin::user});
  return std::make_shared<const Rules>(*compile(sources));
}

void decide(benchmark::State& state, const std::vector<std::string>& texts) {
  const Effective policy{.rules = project_rules()};
  std::size_t next = 0;
  for (auto _ : state) {
    const Asked asked{
        .tool = "shell", .text = texts[next++ % texts.size()], .cwd = "/ws", .workspace = "/ws"};
    benchmark::DoNotOptimize(judge(asked, policy));
  }
  state.SetItemsProcessed(state.iterations());
}

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string out;
  while (out.size() + piece.size() <= bytes) out += piece;
  return out;
}

void typical_text(benchmark::State& state) { decide(state, kTexts); }
BENCHMARK(typical_text);

// A megabyte of commands, which is refused because of its length.
void hostile_megabyte(benchmark::State& state) { decide(state, {repeated("true; ", 1 << 20)}); }
BENCHMARK(hostile_megabyte);

// The longest permitted text, made of constructs that are expensive to parse.
void hostile_within_limits(benchmark::State& state) {
  std::vector<std::string> texts;
  for (const char* piece :
       {"a {a,b}{a,b} ", "$((1+", "\\\n", "a[x ", "'\"\"'", "<<E\n", "${x:-", "\n)"})
    texts.push_back("echo " + repeated(piece, shell::kTextBytesMax - 8));
  decide(state, texts);
}
BENCHMARK(hostile_within_limits);

}  // namespace

BENCHMARK_MAIN();
