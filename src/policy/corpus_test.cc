// Tests the shell texts of tests/policy against the expected decisions. Each section of a file
// begins with "==" and has rules ("+" allow, "?" ask, "-" deny) and texts: "no" must not be
// allowed, "deny" must be denied, "yes" must be allowed. ␤ is a newline, ␉ a tab, ␍ a carriage
// return.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "policy/permission.h"
#include "policy/shell/analysis.h"
#include "policy/shell/limits.h"

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::RuleEffect;

struct Case {
  std::string expected;
  std::string text;
  Rules rules;
};

std::string unmarked(std::string text) {
  for (const auto& [mark, value] : {std::pair{"␤", "\n"}, {"␉", "\t"}, {"␍", "\r"}})
    for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at))
      text.replace(at, std::string_view(mark).size(), value);
  return text;
}

std::vector<Case> cases_of(const std::string& name) {
  std::ifstream file(std::filesystem::path(AGENTRT_SOURCE_DIR) / "tests/policy" / name);
  REQUIRE(file.good());
  std::vector<Case> out;
  std::vector<schema::PolicyRule> sources;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("==")) {
      sources.clear();
      continue;
    }
    if (const auto sign = std::string_view("+?-").find(line[0]); sign != std::string_view::npos) {
      constexpr RuleEffect kEffects[] = {RuleEffect::allow, RuleEffect::ask, RuleEffect::deny};
      sources.push_back({kEffects[sign], line.substr(2), schema::RuleOrigin::user});
      continue;
    }
    const auto rules = compile(sources);
    REQUIRE(rules);
    const std::size_t space = line.find(' ');
    out.push_back({line.substr(0, space), unmarked(line.substr(space + 1)), *rules});
  }
  return out;
}

Decision decided(const Rules& rules, const std::string& text) {
  const Asked asked{.tool = "shell", .text = text, .cwd = "/ws", .workspace = "/ws"};
  const std::shared_ptr<const Rules> borrowed(std::shared_ptr<void>(), &rules);
  return judge(asked, {.rules = borrowed}).decision;
}

// Of the file's texts, which are at least `count`, fewer than one in fifty is not simply allowed.
void check_few_asked(const std::string& file, std::size_t count) {
  CAPTURE(file);
  const auto cases = cases_of(file);
  CHECK(cases.size() >= count);
  std::size_t asked = 0;
  for (const Case& one : cases)
    if (decided(one.rules, one.text) != Decision::allow) {
      ++asked;
      MESSAGE("asked about: " << one.text);
    }
  CHECK(asked * 50 < cases.size());
}

// Used by this process so far; unlike the time of day, it does not depend on other processes.
std::chrono::microseconds processor_time() {
  return std::chrono::microseconds(std::clock() * (1'000'000 / CLOCKS_PER_SEC));
}

}  // namespace

TEST_CASE("no text gets more than its rules grant") {
  auto cases = cases_of("bypass.txt");
  CHECK(cases.size() > 900);
  for (Case& one : cases_of("evaluations.txt")) cases.push_back(std::move(one));
  for (Case& one : cases_of("options.txt")) cases.push_back(std::move(one));
  CHECK(cases.size() > 1'900);
  for (const Case& one : cases) {
    CAPTURE(one.text);
    const Decision decision = decided(one.rules, one.text);
    if (one.expected == "yes")
      CHECK(decision == Decision::allow);
    else if (one.expected == "deny")
      CHECK(decision == Decision::deny);
    else
      CHECK((decision == Decision::ask || decision == Decision::deny));
  }
}

TEST_CASE("fewer than one in fifty harmless texts is asked about") {
  check_few_asked("benign.txt", 150);
  check_few_asked("ordinary.txt", 500);
}

TEST_CASE("a canonical form is judged like its text, and most texts that are allowed have one") {
  std::size_t allowed = 0, literal = 0;
  for (const char* file : {"benign.txt", "bypass.txt"})
    for (const Case& one : cases_of(file)) {
      CAPTURE(one.text);
      const bool runs = decided(one.rules, one.text) == Decision::allow;
      const auto form = shell::analyse(one.text).canonical;
      if (runs && std::string_view(file) == "benign.txt") {
        ++allowed;
        if (form) ++literal;
      }
      if (!form) continue;
      CHECK(shell::analyse(*form).canonical == form);
      const bool by_text = std::ranges::any_of(one.rules.all, [&](const Rule& rule) {
        return rule.kind == Rule::Kind::text && rule.pattern == one.text;
      });
      if (!by_text) CHECK(decided(one.rules, *form) == decided(one.rules, one.text));
    }
  CHECK(literal * 5 > allowed * 4);
  MESSAGE(literal << " of " << allowed << " benign texts that are allowed run in canonical form");
}

TEST_CASE("a denied command is denied among any number of others") {
  const auto rules = compile({{RuleEffect::allow, "shell", schema::RuleOrigin::user},
                              {RuleEffect::deny, "shell(rm:*)", schema::RuleOrigin::user}});
  for (const int count : {0, 1, 49, 98, 99, 100, 101, 1'000, 10'000}) {
    CAPTURE(count);
    std::string text;
    for (int i = 0; i < count; ++i) text += "true; ";
    CHECK(decided(*rules, text + "rm -rf keep") == Decision::deny);
  }
}

TEST_CASE("what exceeds the limits is denied, never asked") {
  const auto rules = compile({{RuleEffect::allow, "shell", schema::RuleOrigin::user}});
  std::string deep = "true";
  for (std::size_t i = 0; i <= shell::kDepthMax; ++i) deep = "$(" + deep + ")";
  CHECK(decided(*rules, "echo " + deep) == Decision::deny);
  std::string many;
  for (std::size_t i = 0; i <= shell::kCommandsMax; ++i) many += "true\n";
  CHECK(decided(*rules, many) == Decision::deny);
  CHECK(decided(*rules, "echo " + std::string(shell::kTextBytesMax, 'x')) == Decision::deny);
  CHECK(decided(*rules, std::string("ls\0rm", 5)) == Decision::deny);
  std::string words = "echo";
  for (std::size_t i = 0; i <= shell::kWordsMax; ++i) words += " a";
  CHECK(decided(*rules, words) == Decision::deny);
}

TEST_CASE("hostile texts are judged in no time") {
  const auto rules = compile({{RuleEffect::allow, "shell(a:*)", schema::RuleOrigin::user},
                              {RuleEffect::deny, "shell(rm:*)", schema::RuleOrigin::user}});
  const auto many = [](std::string_view piece, std::size_t bytes) {
    std::string out;
    while (out.size() + piece.size() < bytes) out += piece;
    return out;
  };
  for (const std::string_view piece :
       {"a;",  "$(",    "((",     "`",    "\\`", "{a,b}",  "{",    "${x:-",
        "'\"", "<<E\n", "a[",     "\n)",  ")",   "$((1+",  "x=(",  "case a in ",
        "if ", "|",     "{1..9}", "\\\n", "[[ ", "eval '", "# \n", "a$x*"}) {
    CAPTURE(piece);
    for (const std::size_t bytes : {shell::kTextBytesMax, std::size_t{1} << 20}) {
      const auto begin = processor_time();
      CHECK(decided(*rules, many(piece, bytes)) != Decision::allow);
      CHECK(processor_time() - begin < std::chrono::milliseconds(500));
    }
  }
  for (const std::string_view piece : {"-exec a ", "$x ", "{,} ", "\"$@\" ", "a=1 ", "a[b] "})
    for (const std::string_view program :
         {"find . ", "awk ", "read ", "declare ", "xargs ", "[ "}) {
      CAPTURE(piece);
      CAPTURE(program);
      const std::size_t words = 4'000;
      const std::string text = std::string(program) + many(piece, piece.size() * words) + "\\;";
      const auto begin = processor_time();
      CHECK(decided(*rules, text) != Decision::allow);
      CHECK(processor_time() - begin < std::chrono::milliseconds(500));
    }
  const auto begin = processor_time();
  CHECK(decided(*rules, "a $((a" + std::string(60'000, ' ') + "))") == Decision::allow);
  CHECK(processor_time() - begin < std::chrono::milliseconds(500));
}

TEST_CASE("hostile arguments of programs with tables are judged in no time") {
  std::vector<schema::PolicyRule> sources;
  for (const char* rule : {"shell(git log:*)", "shell(curl:*)", "shell(sed:*)", "shell(awk:*)",
                           "shell(tar:*)", "shell(gcc:*)", "shell(go:*)", "shell(pytest:*)"})
    sources.push_back({RuleEffect::allow, rule, schema::RuleOrigin::user});
  for (const char* rule : {"shell(rm -rf:*)", "shell(git push --force:*)", "shell(curl -o:*)"})
    sources.push_back({RuleEffect::deny, rule, schema::RuleOrigin::user});
  const auto rules = compile(sources);
  for (const std::string_view program :
       {"git log", "curl", "sed", "awk", "tar", "gcc", "go", "pytest", "rm", "git push"})
    for (const std::string_view word : {" --abc", " --no-x", " -abcde", " -Wl,-x,-y", " $x"}) {
      CAPTURE(program);
      CAPTURE(word);
      std::string text(program);
      for (std::size_t i = 0; i < 8'000 && text.size() < 60'000; ++i) text += word;
      const auto begin = processor_time();
      decided(*rules, text);
      CHECK(processor_time() - begin < std::chrono::milliseconds(500));
    }
  for (const std::string_view body : {"s/a/[", "{", "b a;", "print 1,\n", "(", "/a/", "if ("}) {
    std::string script;
    while (script.size() < 60'000) script += body;
    for (const std::string_view program : {"sed '", "awk '"}) {
      const auto begin = processor_time();
      decided(*rules, std::string(program) + script + "'");
      CHECK(processor_time() - begin < std::chrono::milliseconds(500));
    }
  }
}

}  // namespace agentrt::policy
