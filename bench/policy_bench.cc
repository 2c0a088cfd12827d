// How long a permission decision takes: on texts that agents write, under the rules of a project,
// and on texts made to take long.
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "policy/permission.h"
#include "policy/shell/limits.h"
#include "project_rules.h"

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

void decide(benchmark::State& state, const std::vector<std::string>& texts) {
  const auto rules = compile(project_rules(schema::RuleEffect::deny));
  const Effective policy{.rules = std::make_shared<const Rules>(*rules)};
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
