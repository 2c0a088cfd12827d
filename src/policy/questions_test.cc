// policy/questions_test.cc: what needs no question: paths that no answer opens, commands that the
// sandbox confines, files that do not exist yet.
#include <doctest/doctest.h>

#include "policy/permission.h"
#include "policy/rules.h"

using namespace agentrt::policy;
using agentrt::schema::Decision;
using agentrt::schema::PermissionMode;
using agentrt::schema::RuleEffect;
using agentrt::schema::RuleOrigin;
using agentrt::schema::SandboxMode;

namespace {

using RuleSet = std::shared_ptr<const Rules>;

RuleSet rules_of(const std::vector<agentrt::schema::PolicyRule>& rules) {
  auto compiled = compile(rules);
  REQUIRE(compiled);
  return std::make_shared<const Rules>(*std::move(compiled));
}

Asked shell_call(std::string text) {
  return {.tool = "shell", .text = std::move(text), .cwd = "/ws", .workspace = "/ws"};
}

Asked file_call(std::string tool, std::string path) {
  return {.tool = std::move(tool),
          .text = std::move(path),
          .cwd = "/ws",
          .workspace = "/ws",
          .access = Access::read_only};
}

}  // namespace

TEST_CASE("a path in none of the session's folders is refused, and --add-dir is named") {
  const RuleSet rules = rules_of({{RuleEffect::allow, "read_file", RuleOrigin::user}});
  for (const auto& [path, folder] :
       {std::pair{"../x", "--add-dir /."}, std::pair{"../a/b.txt", "--add-dir /a."},
        std::pair{"/etc/hosts", "--add-dir /etc."},
        std::pair{"~/n.txt", "--add-dir /users/ada."}}) {
    CAPTURE(path);
    const Judgement judgement =
        judge(file_call("read_file", path), {.rules = rules, .home = "/users/ada"});
    CHECK(judgement.decision == Decision::deny);
    CHECK(judgement.reason.contains(folder));
  }
  CHECK(judge(file_call("list_files", "/etc"), {}).reason.contains("--add-dir /etc."));
  Asked added = file_call("read_file", "/other/x");
  added.roots = {"/other"};
  CHECK(judge(added, {.rules = rules}).decision == Decision::allow);
  CHECK(judge(file_call("read_file", "a/../b"), {.rules = rules}).decision != Decision::deny);
}

TEST_CASE("further folders of a session count like its workspace") {
  const auto in_data = [](const char* tool, const char* path) {
    Asked asked = file_call(tool, path);
    asked.roots = {"/data"};
    return asked;
  };
  const auto under = [](PermissionMode mode, const Asked& asked) {
    return judge(asked, {.rules = rules_of({}), .mode = mode}).decision;
  };
  const Asked read = in_data("read_file", "/data/x");
  CHECK(under(PermissionMode::default_, read) == Decision::allow);
  CHECK(under(PermissionMode::plan, read) == Decision::allow);
  CHECK(under(PermissionMode::untrusted, read) == Decision::ask);
  Asked linked = read;
  linked.real_path = "/ws/y";
  CHECK(under(PermissionMode::default_, linked) == Decision::allow);
  linked.real_path = "/etc/passwd";
  CHECK(under(PermissionMode::default_, linked) == Decision::ask);
  CHECK(under(PermissionMode::default_, in_data("read_file", "/data2/x")) == Decision::deny);
  Asked write = in_data("write_file", "/data/x");
  write.access = Access::changes;
  CHECK(under(PermissionMode::default_, write) == Decision::ask);
  CHECK(under(PermissionMode::on_request, write) == Decision::allow);
  write.text = "/data/.git/hooks/pre-commit";
  CHECK(under(PermissionMode::on_request, write) == Decision::ask);
  write.text = "/data/AGENTS.md";
  CHECK(under(PermissionMode::on_request, write) == Decision::ask);
}

TEST_CASE("without a sandbox the classifier lets none of that pass") {
  for (const char* text : {"python3 -m pytest", "git checkout -b x", "sed -i s/a/b/ f"})
    CHECK_MESSAGE(judge(shell_call(text),
                        {.mode = PermissionMode::auto_, .sandbox = SandboxMode::full_access})
                          .decision == Decision::ask,
                  text);
}

TEST_CASE("the files that redirections overwrite are known, unless more is destroyed") {
  using Files = std::vector<std::string>;
  CHECK(overwritten_files("echo x > a; ls &> b/../c", "/ws") == Files{"/ws/a", "/ws/c"});
  CHECK(overwritten_files("echo x > /tmp/a", "/ws/sub") == Files{"/tmp/a"});
  for (const char* text : {"echo x", "echo x >> a", "echo x > $F", "echo x > ~/a", "rm a; ls > b",
                           "cd sub; ls > a", "ls > /dev/null"})
    CHECK_MESSAGE(overwritten_files(text, "/ws").empty(), text);
}
