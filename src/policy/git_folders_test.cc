// policy/git_folders_test.cc: tests which settings of a git configuration run programs.
#include "policy/git_folders.h"

#include <doctest/doctest.h>

#include <algorithm>

namespace agentrt::policy {

TEST_CASE("settings are read as git reads them") {
  const auto settings = git_settings(
      "\xef\xbb\xbf# comment\n[core]\n\tbare = false ; no\n  FsMonitor=\"./a b\" # x\n"
      "[Remote \"o\\\"x\"] url = a\\\nb\n[branch.Old]\n\tmerge\n[alias] x = !sh -c \\\"y\\\"\n");
  CHECK(settings == std::vector<GitSetting>{{"core.bare", "false"},
                                            {"core.fsmonitor", "./a b"},
                                            {"remote.o\"x.url", "ab"},
                                            {"branch.old.merge", ""},
                                            {"alias.x", "!sh -c \"y\""}});
}

TEST_CASE("every setting that makes git run a program is found") {
  for (const char* text : {"[core]\nfsmonitor=./x",
                           "[core]hooksPath=x",
                           "[filter \"a\"]\nclean=x",
                           "[filter \"a.b\"]\nsmudge=x",
                           "[filter \"a\"]\nprocess=x",
                           "[core]\npager=x",
                           "[pager]\nlog=x",
                           "[alias]\nl=!x",
                           "[include]\npath=x",
                           "[includeIf \"gitdir:/\"]\npath=x",
                           "[core]\nsshCommand=x",
                           "[core]\neditor=x",
                           "[diff \"a\"]\ncommand=x",
                           "[diff]\nexternal=x",
                           "[diff \"a\"]\ntextconv=x",
                           "[merge \"a\"]\ndriver=x",
                           "[credential]\nhelper=x",
                           "[credential \"https://h\"]\nhelper=x",
                           "[gpg]\nprogram=x",
                           "[gpg \"ssh\"]\nprogram=x",
                           "[core]\ngitProxy=x",
                           "[core]\naskPass=x",
                           "[sequence]\neditor=x",
                           "[remote \"o\"]\nuploadpack=x",
                           "[remote \"o\"]\nreceivepack=x",
                           "[remote \"o\"]\nvcs=x",
                           "[remote \"o\"]\nurl=ext::sh -c x",
                           "[submodule \"s\"]\nupdate=!x",
                           "[uploadpack]\npackObjectsHook=x",
                           "[hook \"h\"]\ncommand=x"})
    CHECK_MESSAGE(programs_named(text).size() == 1, text);
}

TEST_CASE("what git writes by itself names no program") {
  for (const char* text :
       {"[core]\nrepositoryformatversion=0\nfilemode=true\nbare=false\nlogallrefupdates=true",
        "[remote \"origin\"]\nurl=https://h/x\nfetch=+refs/heads/*:refs/remotes/origin/*",
        "[branch \"main\"]\nremote=origin\nmerge=refs/heads/main", "[core]\nfsmonitor=false",
        "[core]\nfsmonitor=true", "[pager]\nlog=false", "[alias]\nco=checkout",
        "[submodule \"s\"]\nupdate=rebase", "[user]\nname=x", "[core]\n#pager=x"})
    CHECK_MESSAGE(programs_named(text).empty(), text);
}

TEST_CASE("a rebase with commands in its plan is found") {
  CHECK(plans_a_command("pick 1 a\n  exec make\n"));
  CHECK(plans_a_command("x make"));
  CHECK_FALSE(plans_a_command("pick 1 exec\n# exec x\n"));
}

TEST_CASE("nothing that git obeys is among what commands write in its folder") {
  for (const char* name : {"config", "config.worktree", "commondir", "gitdir", "hooks/", "info/",
                           "info/attributes", "modules/", "worktrees/", "branches/", "remotes/"})
    CHECK_MESSAGE(
        std::ranges::find(written_in_git_folders(), name) == written_in_git_folders().end(), name);
}

}  // namespace agentrt::policy
