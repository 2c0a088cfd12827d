#include "policy/permission.h"

#include <doctest/doctest.h>

namespace agentrt::policy {
namespace {

using schema::Decision;
using schema::DecisionSource;
using schema::PermissionMode;
using schema::RuleEffect;
using schema::RuleOrigin;
using schema::SandboxMode;

using RuleSet = std::shared_ptr<const Rules>;

RuleSet rules_of(std::vector<schema::PolicyRule> sources) {
  auto rules = compile(sources);
  REQUIRE(rules);
  return std::make_shared<const Rules>(*std::move(rules));
}

Asked shell_call(std::string text) {
  return {.tool = "shell", .text = std::move(text), .cwd = "/ws", .workspace = "/ws"};
}

Asked file_call(std::string tool, std::string path) {
  const bool reads = tool == "read_file" || tool == "list_files" || tool == "search_files";
  return {.tool = std::move(tool),
          .text = std::move(path),
          .cwd = "/ws",
          .workspace = "/ws",
          .access = reads ? Access::read_only : Access::changes};
}

Decision under(PermissionMode mode, const Asked& asked, const RuleSet& rules = no_rules()) {
  return judge(asked, {.rules = rules, .mode = mode}).decision;
}

}  // namespace

TEST_CASE("each mode decides where no rule speaks") {
  const Asked command = shell_call("ls");
  const Asked reading = file_call("read_file", "src/a.c");
  const Asked outside = file_call("read_file", "/etc/hosts");
  const Asked writing = file_call("write_file", "src/a.c");
  const Asked other{.tool = "mcp__x__y", .text = "{}", .cwd = "/ws", .workspace = "/ws"};
  struct Row {
    PermissionMode mode;
    Decision command, reading, outside, writing, other;
  };
  using enum Decision;
  for (const Row& row : {
           Row{PermissionMode::default_, ask, allow, deny, ask, ask},
           Row{PermissionMode::untrusted, ask, ask, deny, ask, ask},
           Row{PermissionMode::on_request, sandboxed, allow, deny, allow, ask},
           Row{PermissionMode::on_failure, sandboxed, allow, deny, allow, ask},
           Row{PermissionMode::never, unavailable, allow, deny, unavailable, unavailable},
           Row{PermissionMode::plan, deny, allow, deny, deny, deny},
           Row{PermissionMode::auto_, allow, allow, deny, allow, ask},
           Row{PermissionMode::bypass, allow, allow, deny, allow, allow},
       }) {
    CAPTURE(schema::name_of(row.mode));
    CHECK(under(row.mode, command) == row.command);
    CHECK(under(row.mode, reading) == row.reading);
    CHECK(under(row.mode, outside) == row.outside);
    CHECK(under(row.mode, writing) == row.writing);
    CHECK(under(row.mode, other) == row.other);
  }
}

TEST_CASE("deny is stronger than ask, ask than allow, from every source") {
  const RuleSet rules = rules_of({{RuleEffect::allow, "shell(ls:*)", RuleOrigin::user},
                                  {RuleEffect::ask, "shell(git push:*)", RuleOrigin::workspace},
                                  {RuleEffect::deny, "shell(rm:*)", RuleOrigin::managed}});
  for (const Decision said : {Decision::allow, Decision::ask, Decision::deny}) {
    const auto with = [&](std::string text) {
      return judge(shell_call(std::move(text)), {.rules = rules},
                   {.said = {{DecisionSource::hook, said, {}, "so it says"}}});
    };
    CHECK(with("rm x").decision == Decision::deny);
    CHECK(with("rm x").source == DecisionSource::host_policy);
    CHECK(with("git push").decision == (said == Decision::deny ? Decision::deny : Decision::ask));
    CHECK(with("ls").decision == said);
    CHECK(with("make").decision == said);  // no rule applies, so the mode's ask gives way
  }
}

TEST_CASE("every mode obeys explicit rules") {
  const RuleSet rules = rules_of({{RuleEffect::ask, "shell(git push:*)", RuleOrigin::user},
                                  {RuleEffect::deny, "shell(rm:*)", RuleOrigin::user},
                                  {RuleEffect::deny, "read_file(./.env)", RuleOrigin::user}});
  for (const PermissionMode mode :
       {PermissionMode::default_, PermissionMode::untrusted, PermissionMode::on_request,
        PermissionMode::on_failure, PermissionMode::auto_, PermissionMode::bypass}) {
    CAPTURE(schema::name_of(mode));
    CHECK(under(mode, shell_call("ls; rm x"), rules) == Decision::deny);
    CHECK(under(mode, shell_call("git push"), rules) == Decision::ask);
    CHECK(under(mode, shell_call("eval \"$X\""), rules) == Decision::ask);
    CHECK(under(mode, file_call("read_file", ".env"), rules) == Decision::deny);
    CHECK(under(mode, file_call("read_file", "src/../.env"), rules) == Decision::deny);
    CHECK(under(mode, file_call("search_files", "/ws/.env"), rules) == Decision::deny);
  }
  CHECK(under(PermissionMode::plan, shell_call("ls"),
              rules_of({{RuleEffect::allow, "shell", RuleOrigin::user}})) == Decision::deny);
}

TEST_CASE("where nobody can be asked, an ask is unavailable and says so") {
  const Judgement judgement = judge(shell_call("make"), {.interactive = Interactive::no});
  CHECK(judgement.decision == Decision::unavailable);
  CHECK(judgement.source == DecisionSource::mode);
  CHECK(judgement.reason.contains("this run is not interactive"));
  CHECK(judge(shell_call("make"), {.mode = PermissionMode::never})
            .reason.contains("the mode never does not ask"));
}

TEST_CASE("no rule grants leaving the sandbox unless it says so") {
  const RuleSet rules = rules_of({{RuleEffect::allow, "shell(ls:*)", RuleOrigin::user}});
  Asked asked = shell_call("ls");
  asked.escalation = Escalation::outside_sandbox;
  for (const PermissionMode mode :
       {PermissionMode::default_, PermissionMode::on_request, PermissionMode::on_failure,
        PermissionMode::auto_, PermissionMode::untrusted})
    CHECK(under(mode, asked, rules) == Decision::ask);
  CHECK(under(PermissionMode::bypass, asked, rules) == Decision::allow);
  CHECK(judge(asked, {.rules = rules, .sandbox = SandboxMode::full_access}).decision ==
        Decision::allow);

  const RuleSet outside = rules_of({{RuleEffect::allow, "shell(ls:*, outside)", RuleOrigin::user},
                                    {RuleEffect::allow, "shell(cat:*)", RuleOrigin::user}});
  CHECK(under(PermissionMode::default_, asked, outside) == Decision::allow);
  CHECK(under(PermissionMode::default_, shell_call("ls"), outside) == Decision::allow);
  CHECK(under(PermissionMode::plan, asked, outside) == Decision::deny);
  asked.text = "ls && cat x";
  CHECK(under(PermissionMode::default_, asked, outside) == Decision::ask);
  CHECK(under(PermissionMode::default_, shell_call("ls && cat x"), outside) == Decision::allow);
  const RuleSet kept = rules_of({{RuleEffect::allow, "shell(*, outside)", RuleOrigin::user},
                                 {RuleEffect::deny, "shell(curl:*, outside)", RuleOrigin::user}});
  asked.text = "curl x";
  CHECK(under(PermissionMode::default_, asked, kept) == Decision::deny);
  CHECK(under(PermissionMode::default_, shell_call("curl x"), kept) == Decision::allow);
}

TEST_CASE("a hook lets nothing out of the sandbox, and can keep it in") {
  Asked asked = shell_call("ls");
  const auto heard = [&](Decision decision, PermissionMode mode = PermissionMode::default_) {
    return judge(asked, {.mode = mode}, {.said = {{DecisionSource::hook, decision, {}, {}}}});
  };
  CHECK(heard(Decision::allow).decision == Decision::allow);
  asked.escalation = Escalation::outside_sandbox;
  for (const PermissionMode mode : {PermissionMode::default_, PermissionMode::on_request,
                                    PermissionMode::on_failure, PermissionMode::auto_}) {
    const Judgement judgement = heard(Decision::allow, mode);
    CHECK(judgement.decision == Decision::ask);
    CHECK(judgement.source == DecisionSource::mode);
    CHECK(judgement.chain.size() == 2);
  }
  CHECK(heard(Decision::allow, PermissionMode::never).decision == Decision::unavailable);
  CHECK(heard(Decision::deny, PermissionMode::bypass).decision == Decision::deny);
  CHECK(heard(Decision::ask, PermissionMode::bypass).decision == Decision::ask);
}

TEST_CASE("a call with a folder is judged as the text with a cd to it in front") {
  const RuleSet some = rules_of({{RuleEffect::allow, "shell(make test)", RuleOrigin::user},
                                 {RuleEffect::allow, "shell(./run.sh)", RuleOrigin::user},
                                 {RuleEffect::deny, "shell(cd secret:*)", RuleOrigin::user}});
  const RuleSet with_cd =
      rules_of({{RuleEffect::allow, "shell(make test)", RuleOrigin::user},
                {RuleEffect::allow, "shell(cd vendor/evil)", RuleOrigin::user}});
  const RuleSet text =
      rules_of({{RuleEffect::allow, "shell(\"make test\")", RuleOrigin::user},
                {RuleEffect::allow, "shell(\"cd vendor/evil && ls\")", RuleOrigin::user}});
  for (const RuleSet& rules : {some, with_cd, text, no_rules()})
    for (const PermissionMode mode :
         {PermissionMode::default_, PermissionMode::auto_, PermissionMode::on_request})
      for (const char* folder :
           {"vendor/evil", "secret", ".git", "/etc", "../other", "a b", "it's"})
        for (const char* command : {"make test", "./run.sh", "ls; rm -rf x", "touch hooks/x",
                                    "cat <<E\nx\nE", "", "fi"}) {
          Asked asked = shell_call(command);
          asked.folder = folder;
          asked.cwd = folder[0] == '/' ? folder : std::string("/ws/") + folder;
          std::string quoted = std::string("'") + folder + "'";
          if (folder == std::string_view("it's")) quoted = R"('it'\''s')";
          const Judgement given = judge(asked, {.rules = rules, .mode = mode});
          const Judgement written =
              judge(shell_call("cd " + quoted + " && " + command), {.rules = rules, .mode = mode});
          CAPTURE(quoted);
          CAPTURE(command);
          CHECK(given.decision == written.decision);
          CHECK(given.subcommands == written.subcommands);
        }
  Asked asked = shell_call("make test");
  asked.folder = "vendor/evil";
  asked.cwd = "/ws/vendor/evil";
  CHECK(under(PermissionMode::default_, asked, some) == Decision::ask);
  CHECK(under(PermissionMode::default_, asked, with_cd) == Decision::allow);
  CHECK(under(PermissionMode::default_, asked, text) == Decision::ask);
  for (const char* here : {".", "./", "/ws", "/ws/."}) {
    asked.folder = here;
    asked.cwd = here[0] == '/' ? here : std::string("/ws/") + here;
    CHECK_MESSAGE(under(PermissionMode::default_, asked, some) == Decision::allow, here);
  }
  asked.folder = "link/..";  // depends on what `link` points to
  asked.cwd = "/ws/link/..";
  CHECK(under(PermissionMode::default_, asked, some) == Decision::ask);
  asked = shell_call("./run.sh");
  asked.folder = "sub";
  asked.cwd = "/ws/sub";
  const Judgement judgement = judge(asked, {});
  CHECK(judgement.executes == std::vector<std::string>{"/ws/sub/run.sh"});
  CHECK_FALSE(judgement.executes_unknown);
}

TEST_CASE("a grant holds for its folder and its files, and what changed is said") {
  const schema::PolicyRule grant{
      RuleEffect::allow, "shell(\"./run.sh\")", RuleOrigin::session, "/ws/safe",
      std::vector<schema::ExecutedFile>{{"/ws/safe/run.sh", "sha256:aa"}}};
  const RuleSet rules = rules_of({grant});
  Asked asked = shell_call("./run.sh");
  asked.folder = "safe";
  asked.cwd = "/ws/safe";
  const auto now = [&](std::string cwd, std::optional<std::string> digest,
                       Interactive interactive = Interactive::yes) {
    schema::Binding binding;
    binding.cwd = cwd;
    binding.files = {{"/ws/safe/run.sh", std::move(digest)}};
    return judge(asked, {.rules = rules, .interactive = interactive}, {.now = &binding});
  };
  const Judgement unseen = judge(asked, {.rules = rules, .interactive = Interactive::no});
  CHECK(unseen.decision == Decision::ask);  // and not unavailable: nobody has looked yet
  CHECK(unseen.pending);
  const Judgement same = now("/ws/safe", "sha256:aa", Interactive::no);
  CHECK(same.decision == Decision::allow);
  CHECK(same.granted);
  CHECK_FALSE(same.pending);
  CHECK(now("/ws/evil", "sha256:aa")
            .reason.contains("it was approved in /ws/safe, but would run in /ws/evil"));
  const Judgement edited = now("/ws/safe", "sha256:bb");
  CHECK(edited.decision == Decision::ask);
  CHECK_FALSE(edited.granted);
  CHECK(edited.reason.contains(
      "/ws/safe/run.sh has changed since it was approved: sha256:aa then, sha256:bb now"));
  CHECK(now("/ws/safe", std::nullopt).reason.contains("cannot be compared"));
  CHECK(now("/ws/safe", "sha256:bb", Interactive::no).decision == Decision::unavailable);
  // What else allows it needs no grant, and a deny is stronger than one.
  CHECK_FALSE(judge(asked, {.rules = rules, .mode = PermissionMode::bypass}).pending);
  const RuleSet denied = rules_of({grant, {RuleEffect::deny, "shell(./run.sh)", RuleOrigin::user}});
  CHECK(judge(asked, {.rules = denied}).decision == Decision::deny);
  asked.text = "./run.sh ";
  CHECK_FALSE(judge(asked, {.rules = rules}).pending);
}

TEST_CASE("a grant from before grants had a folder is asked about again") {
  schema::PolicyRule old{RuleEffect::allow, "shell(\"make\")", RuleOrigin::always};
  schema::bind_old_grant(old);
  const RuleSet rules = rules_of({old});
  schema::Binding binding;
  binding.cwd = "/ws";
  const Judgement judgement = judge(shell_call("make"), {.rules = rules}, {.now = &binding});
  CHECK(judgement.decision == Decision::ask);
  CHECK(judgement.reason.contains("does not record a folder"));
  schema::PolicyRule words{RuleEffect::allow, "shell(make)", RuleOrigin::session};
  schema::bind_old_grant(words);
  CHECK_FALSE(words.cwd);
}

TEST_CASE("without a sandbox that confines, on_request asks and auto only lets reading pass") {
  const auto free = [](PermissionMode mode, std::string text) {
    return judge(shell_call(std::move(text)), {.mode = mode, .sandbox = SandboxMode::full_access})
        .decision;
  };
  CHECK(free(PermissionMode::on_request, "ls") == Decision::ask);
  CHECK(free(PermissionMode::auto_, "ls -la | head") == Decision::allow);
  CHECK(free(PermissionMode::auto_, "cargo test") == Decision::ask);
}

TEST_CASE("without a sandbox that confines, auto lets nothing pass that is not known in full") {
  const auto automatic = [](std::string_view text, SandboxMode sandbox) {
    return judge(shell_call(std::string(text)), {.mode = PermissionMode::auto_, .sandbox = sandbox})
        .decision;
  };
  for (const std::string_view text :
       {"ls -la src", "grep -rn 'a b' src | sort -u | head -5", "(cd src && ls) 2>&1",
        "cat a.txt; wc -l {a,b}.txt", "LC_ALL=C sort x", "find . -name '*.c'", "timeout 5 ls"}) {
    CAPTURE(text);
    CHECK(automatic(text, SandboxMode::full_access) == Decision::allow);
  }
  for (const std::string_view text :
       {"ls *.c", "echo \"$HOME\"", "cat $x", "for f in a b; do cat \"$f\"; done", "ls ~",
        "[[ -f a ]] && ls", "x=1; ls", "ls | xargs cat", "ls $((1))", "echo $(ls)",
        "if true; then ls; fi", "git status", "git log -1", "sed -n 1,5p x",
        "awk '{print $1}' x"}) {
    CAPTURE(text);
    CHECK(automatic(text, SandboxMode::full_access) == Decision::ask);
    CHECK(automatic(text, SandboxMode::workspace_write) == Decision::allow);
  }
  CHECK(automatic("bash -c 'ls'", SandboxMode::full_access) == Decision::ask);
}

TEST_CASE("the classifier lets pass what reads or builds, and nothing that it does not know") {
  const auto automatic = [](std::string text) {
    return under(PermissionMode::auto_, shell_call(std::move(text)));
  };
  for (const char* text :
       {"git status && git diff", "rg foo | head", "cargo test 2>&1 | tail", "npm run build",
        "mkdir -p a", "git commit -m x", "python3 -m pytest -q tests", "python3.11 -m unittest",
        "git checkout -b feature", "sed -i s/a/b/ f.txt", "sed -i.bak -e s/a/b/ src/*.c",
        "npx tsc --noEmit"})
    CHECK_MESSAGE(automatic(text) == Decision::allow, text);
  for (const char* text : {"rm x",
                           "curl http://x",
                           "git push",
                           "git reset --hard",
                           "./x.sh",
                           "bash -c ls x",
                           "eval $X",
                           "echo x > f",
                           "PATH=. ls",
                           "python3 x.py",
                           "unknown-tool",
                           "python3 -m http.server",
                           "python3 -m pip install x",
                           "python3 -m pytest -p x",
                           "python3 -c 1",
                           "git checkout main",
                           "git checkout -f -b x",
                           "git checkout -- .",
                           "sed -i 's/a/b/e' f",
                           "sed -i s/a/b/ \"$F\"",
                           "sed -n w.txt f",
                           "find . -delete",
                           "sudo ls",
                           "sort -o a b",
                           "",
                           "x=1"})
    CHECK_MESSAGE(automatic(text) == Decision::ask, text);
}

TEST_CASE("the classifier lets no command write what other programs obey") {
  const auto automatic = [](std::string text, std::string cwd = "/ws") {
    Asked asked = shell_call(std::move(text));
    asked.cwd = std::move(cwd);
    return under(PermissionMode::auto_, asked);
  };
  for (const char* text : {"echo x > .envrc",
                           "echo x >> AGENTS.md",
                           "make | tee .envrc",
                           "tee -a .git/config < x",
                           "cp x .github/workflows/ci.yml",
                           "cp -t .github/workflows x",
                           "cp --target-directory=.vscode x",
                           "cp -t.vscode x",
                           "mv x .mcp.json",
                           "touch AGENTS.md",
                           "ln -s /tmp/x .claude",
                           "install x .git/hooks/pre-commit",
                           "sed -i s/a/b/ .envrc",
                           "dd if=x of=.envrc",
                           "rm .envrc",
                           "git mv x .envrc",
                           "mkdir -p .github/workflows",
                           "mkdir a && touch a/../.envrc",
                           "touch ./.envrc",
                           "touch \"$PWD/.envrc\"",
                           "cd .github && touch x",
                           "cd .git; cd hooks; touch pre-commit",
                           "cd \"$D\" && touch x",
                           "F=.envrc; touch $F",
                           "touch .e*",
                           "touch .{envrc,x}",
                           "ls | xargs touch",
                           "env -C .git touch hooks/x",
                           "env --chdir=.git touch hooks/x",
                           "cp -r templates/. .",
                           "gcc -o .git/hooks/pre-commit x.c",
                           "timeout 5 touch .envrc",
                           "patch -p1 < x.patch",
                           "prettier --write .github/workflows/ci.yml",
                           "sh -c 'touch .envrc'"})
    CHECK_MESSAGE(automatic(text) == Decision::ask, std::string(text));
  for (const char* text :
       {"touch a.txt", "cp a.c b.c", "mv a b/", "tee out.log", "ln -s a b", "mkdir -p \"$D\"",
        "cp *.c out/", "mv ./*.o ../ws/out", "git add .github/workflows/ci.yml",
        "git commit -m 'AGENTS.md: more'", "cat .envrc", "ls .github", "cd src && touch x",
        "cd \"$D\" && make", "touch .gitignore .github.md", "cp -r a b"})
    CHECK_MESSAGE(automatic(text) == Decision::allow, std::string(text));
  CHECK(automatic("touch x", "/ws/.git/hooks") == Decision::ask);
  CHECK(automatic("touch ../a", "/ws/.git") == Decision::allow);
}

TEST_CASE("what leads to the workspace steers nothing in it") {
  CHECK(is_steering_path("/a/.claude/ws/.envrc", "/a/.claude/ws"));
  CHECK_FALSE(is_steering_path("/a/.claude/ws/b.txt", "/a/.claude/ws"));
  CHECK(is_steering_path("/b/.github", "/a"));
  CHECK(is_steering_path("/.git", "/"));
  CHECK_FALSE(is_steering_path("/a/x.git/AGENTS.md.bak", "/a"));
}

TEST_CASE("several destructive commands of one text are all named, each kind once") {
  const auto all = judge(shell_call("rm -rf a; rm -rf b; git push --force"), {}).destructive;
  const auto one = judge(shell_call("rm -rf a"), {}).destructive;
  const auto other = judge(shell_call("git push --force"), {}).destructive;
  REQUIRE((all && one && other));
  CHECK(all->impact == one->impact + " " + other->impact);
}

TEST_CASE("destructive actions carry their impact and what can be undone, in every mode") {
  for (const char* text :
       {"rm -rf x", "git reset --hard", "git push --force", "git push -f origin main",
        "git clean -fd", "dd if=a of=/dev/sda", "mkfs.ext4 /dev/sda", "chmod -R 777 .", "echo > f",
        "psql -c 'DROP TABLE t'", "truncate -s 0 f", "find . -delete", "true; sudo rm x",
        "bash -c 'rm x'", "git branch -D x", "kubectl delete pod x"})
    for (const PermissionMode mode : {PermissionMode::default_, PermissionMode::bypass}) {
      const Judgement judgement = judge(shell_call(text), {.mode = mode});
      REQUIRE_MESSAGE(judgement.destructive, text);
      CHECK(!judgement.destructive->impact.empty());
      CHECK(!judgement.destructive->undo.empty());
    }
  for (const char* text :
       {"ls", "echo x >> f", "git push", "git reset", "echo rm", "cat f > /dev/null",
        "psql -c 'select 1'", "chmod +x f", "git checkout -b x"})
    CHECK_MESSAGE(!judge(shell_call(text), {}).destructive, text);
}

TEST_CASE("the rule of an answer fits that very call and no other") {
  const std::vector<std::string> texts = {
      "ls",        "ls ",         " ls",         "ls\n",         "ls\t",    "ls:*",
      "ls (a)",    "ls )",        "echo \"x\"",  "echo 'x'",     "echo \\", "a\nb",
      "echo \x01", "x && y",      "echo \"\\\"", "ls; touch \"", "*",       "\"",
      "\"ls\"",    "echo \u00e9", "cat <<E\nE",  "git log:*",    "x\")",    "\\u0041"};
  for (const std::string& text : texts) {
    const RuleSet rules = rules_of(
        {{RuleEffect::allow, exact_rule(shell_call(text), "/users/ada"), RuleOrigin::always}});
    for (const std::string& other : texts) {
      CAPTURE(text);
      CAPTURE(other);
      const Decision expected = other == text ? Decision::allow : Decision::ask;
      CHECK(judge(shell_call(other), {.rules = rules}).decision == expected);
      Asked elsewhere = shell_call(other);
      elsewhere.tool = "mcp__a__b";
      CHECK(judge(elsewhere, {.rules = rules}).decision == Decision::ask);
    }
  }
}

TEST_CASE("the rule of an answer about a file names the path it leads to") {
  Asked asked = file_call("write_file", "src/./a.c");
  CHECK(exact_rule(asked, "/users/ada") == "write_file(\"/ws/src/a.c\")");
  const RuleSet rules =
      rules_of({{RuleEffect::allow, exact_rule(asked, "/users/ada"), RuleOrigin::session}});
  CHECK(under(PermissionMode::default_, file_call("write_file", "/ws/src/a.c"), rules) ==
        Decision::allow);
  CHECK(under(PermissionMode::default_, file_call("write_file", "src/b.c"), rules) ==
        Decision::ask);
  CHECK(under(PermissionMode::default_, file_call("edit_file", "src/a.c"), rules) == Decision::ask);
}

TEST_CASE("a path counts as what it really leads to") {
  const RuleSet rules = rules_of({{RuleEffect::deny, "read_file(secrets/)", RuleOrigin::user},
                                  {RuleEffect::allow, "write_file(src/**)", RuleOrigin::user}});
  Asked link = file_call("read_file", "link");
  CHECK(under(PermissionMode::default_, link, rules) == Decision::allow);
  link.real_path = "/ws/secrets/key";
  CHECK(under(PermissionMode::default_, link, rules) == Decision::deny);
  link.real_path = "/etc/passwd";
  CHECK(under(PermissionMode::default_, link, rules) == Decision::ask);
  Asked writing = file_call("write_file", "src/a");
  CHECK(under(PermissionMode::default_, writing, rules) == Decision::allow);
  writing.real_path = "/ws/other/a";
  CHECK(under(PermissionMode::default_, writing, rules) == Decision::ask);
  CHECK(under(PermissionMode::default_, file_call("write_file", "src/x/../a"), rules) ==
        Decision::ask);
}

TEST_CASE("files that other programs obey are not changed without a person") {
  for (const char* path : {".git/hooks/pre-commit", ".agentrt/config.toml", ".mcp.json", ".envrc",
                           "AGENTS.md", "src/AGENTS.md", ".github/workflows/ci.yml"})
    CHECK_MESSAGE(under(PermissionMode::auto_, file_call("write_file", path)) == Decision::ask,
                  path);
  CHECK(judge(file_call("write_file", ".envrc"), {.mode = PermissionMode::auto_}).reason ==
        ".envrc is a file that controls other programs.");
}

TEST_CASE("path denies are masks") {
  const RuleSet rules = rules_of({{RuleEffect::deny, "read_file(./.env)", RuleOrigin::user},
                                  {RuleEffect::deny, "read_file(secrets/**)", RuleOrigin::user},
                                  {RuleEffect::deny, "read_file(~/.ssh/)", RuleOrigin::user},
                                  {RuleEffect::deny, "read_file(**/*.pem)", RuleOrigin::user},
                                  {RuleEffect::deny, "write_file(go.mod)", RuleOrigin::user},
                                  {RuleEffect::ask, "read_file(asked)", RuleOrigin::user},
                                  {RuleEffect::deny, "shell(rm:*)", RuleOrigin::user}});
  CHECK(denied_paths(*rules, {"/ws", "/users/ada"}) ==
        std::vector<std::string>{"/ws/.env", "/ws/secrets", "/users/ada/.ssh"});
}

TEST_CASE("rules about reading hold for listing and searching a folder") {
  const RuleSet rules = rules_of({{RuleEffect::deny, "read_file(./secrets/**)", RuleOrigin::user},
                                  {RuleEffect::ask, "read_file(private/)", RuleOrigin::user},
                                  {RuleEffect::deny, "search_files(big/)", RuleOrigin::user},
                                  {RuleEffect::allow, "list_files(/data/**)", RuleOrigin::user}});
  for (const char* tool : {"read_file", "list_files", "search_files"}) {
    CAPTURE(tool);
    CHECK(under(PermissionMode::bypass, file_call(tool, "secrets"), rules) == Decision::deny);
    CHECK(under(PermissionMode::bypass, file_call(tool, "secrets/a/b"), rules) == Decision::deny);
    CHECK(under(PermissionMode::bypass, file_call(tool, "private"), rules) == Decision::ask);
    CHECK(under(PermissionMode::default_, file_call(tool, ""), rules) == Decision::allow);
    CHECK(under(PermissionMode::default_, file_call(tool, "."), rules) == Decision::allow);
  }
  CHECK(under(PermissionMode::bypass, file_call("search_files", "big"), rules) == Decision::deny);
  CHECK(under(PermissionMode::default_, file_call("list_files", "big"), rules) == Decision::allow);
  Asked elsewhere = file_call("list_files", "/data/x");
  elsewhere.roots = {"/data"};
  CHECK(under(PermissionMode::untrusted, elsewhere, rules) == Decision::allow);
  elsewhere.tool = "search_files";
  CHECK(under(PermissionMode::untrusted, elsewhere, rules) == Decision::ask);
}

TEST_CASE("a rule keeps a tool from what a path leads to, unless a person was asked about it") {
  const RuleSet rules = rules_of({{RuleEffect::deny, "read_file(./secrets/**)", RuleOrigin::user},
                                  {RuleEffect::deny, "read_file(\"/ws/exact\")", RuleOrigin::user},
                                  {RuleEffect::ask, "read_file(private/)", RuleOrigin::user},
                                  {RuleEffect::deny, "write_file(go.mod)", RuleOrigin::user},
                                  {RuleEffect::deny, "search_files(big/)", RuleOrigin::user},
                                  {RuleEffect::allow, "read_file(secrets/open)", RuleOrigin::user},
                                  {RuleEffect::deny, "shell(rm:*)", RuleOrigin::user}});
  const auto refused = [&](const char* tool, const char* called, const char* real_path) {
    return path_refusal(*rules, {"/ws", "/users/ada"}, tool, called, real_path).has_value();
  };
  for (const char* tool : {"read_file", "list_files", "search_files", "edit_file", "write_file"}) {
    CAPTURE(tool);
    CHECK(refused(tool, "link", "/ws/secrets/key"));
    CHECK(refused(tool, ".", "/ws/secrets"));
    CHECK(refused(tool, ".", "/ws/secrets/open"));
    CHECK_FALSE(refused(tool, ".", "/ws/secrets-not/key"));
    CHECK_FALSE(refused(tool, "a", "/ws/a"));
  }
  for (const char* tool : {"read_file", "list_files", "search_files", "edit_file"}) {
    CHECK(refused(tool, ".", "/ws/private/a"));
    CHECK_FALSE(refused(tool, "private", "/ws/private/a"));
    CHECK_FALSE(refused(tool, "./private/a", "/ws/private/a"));
  }
  CHECK(refused("read_file", "link", "/ws/exact"));
  CHECK(refused("edit_file", "link", "/ws/go.mod"));
  CHECK_FALSE(refused("read_file", "link", "/ws/go.mod"));
  CHECK(refused("search_files", ".", "/ws/big/x"));
  CHECK_FALSE(refused("list_files", ".", "/ws/big/x"));
  CHECK(path_refusal(*rules, {"/ws", "/users/ada"}, "read_file", "link", "/ws/secrets/key") ==
        "The deny rule read_file(./secrets/**) does not let read_file access /ws/secrets/key.");
}

TEST_CASE("the files that a command runs are named, or why they cannot be") {
  const auto runs = [](std::string text) {
    const Asked asked = shell_call(std::move(text));
    const std::vector<std::string> files = judge(asked, {}).executes;
    CHECK(executed_files(asked, "/nonexistent") == files);
    return files;
  };
  const auto unknown = [](std::string text) {
    return judge(shell_call(std::move(text)), {}).executes_unknown.has_value();
  };
  using Files = std::vector<std::string>;
  CHECK(runs("./check.sh -v") == Files{"/ws/check.sh"});
  CHECK(runs("bash tools/x.sh") == Files{"/ws/tools/x.sh"});
  CHECK(runs("python3 tool.py a") == Files{"/ws/tool.py"});
  CHECK(runs("source venv/activate && ls") == Files{"/ws/venv/activate"});
  CHECK(runs("timeout 5 ./a.out") == Files{"/ws/a.out"});
  CHECK(runs("/usr/bin/ls").empty());
  CHECK_FALSE(unknown("./check.sh"));
  CHECK_FALSE(unknown("ls -la"));
  for (const char* text : {"make", "npm run x", "cargo test", "eval $X", "cd a && ./x", "bash -s",
                           "PATH=. x", "PATH=.; x", "export PATH=.; x", "BASH_ENV=x bash -c ls",
                           "BASH_ENV=x ./check.sh", "jobs -x ./x", "jobs -x x"})
    CHECK_MESSAGE(unknown(text), text);
}

TEST_CASE("the chain names every source and the decision its rules") {
  const RuleSet rules = rules_of({{RuleEffect::allow, "shell(ls:*)", RuleOrigin::user},
                                  {RuleEffect::allow, "shell(head:*)", RuleOrigin::user}});
  const Judgement judgement = judge(shell_call("ls | head -3"), {.rules = rules});
  CHECK(judgement.decision == Decision::allow);
  CHECK(judgement.source == DecisionSource::rule);
  CHECK(judgement.rule_refs == std::vector<std::string>{"shell(ls:*)", "shell(head:*)"});
  CHECK(judgement.subcommands == std::vector<std::string>{"ls", "head -3"});
  REQUIRE(judgement.chain.size() == 3);
  CHECK(judgement.chain[0].source == DecisionSource::mode);
  CHECK(judgement.chain[0].verdict == Decision::ask);
}

}  // namespace agentrt::policy
