// adapters/tools/search_files_test.cc: tests what list_files and search_files find, omit, and where
// they stop.
#include "adapters/tools/search_files.h"

#include "adapters/tools/folder.h"
#include "adapters/tools/glob.h"
#include "adapters/tools/list_files.h"
#include "adapters/tools/testing/file_tools_fixture.h"
#include "adapters/tools/walk.h"

namespace agentrt::adapters::tools {
namespace {

struct Tree : FileKit {
  Tree() {
    put("ws/README.md", "# Title\n");
    put("ws/src/a.cc", "int a;\nint b;\n");
    put("ws/src/a.h", "#pragma once\nint a;\n");
    put("ws/src/deep/er/b.cc", "int deep;\n");
    put("ws/.git/config", "int git;\n");
    put("ws/secrets/key.txt", "int key;\n");
    link("src/a.cc", "ws/link.cc");
    link("../..", "ws/src/up");
  }
  std::string list(const std::string& args) { return said("list_files", args); }
  std::string search(const std::string& args) { return said("search_files", args); }
  void keep_secrets() {
    request.refused = [this](const std::string& path) -> std::optional<schema::Failure> {
      if (!path.starts_with(ws() + "/secrets")) return std::nullopt;
      return schema::Failure{schema::Category::denied, "a rule", false};
    };
  }
};

bool fits(std::string_view pattern, std::string_view path) {
  return Glob::read(pattern).value().fits(path);
}

}  // namespace

TEST_CASE("a folder is listed by name, folders with a slash, links with where they lead") {
  Tree tree;
  CHECK(tree.list("{}") == "README.md\nlink.cc -> src/a.cc\nsecrets/\nsrc/\n");
  CHECK(tree.list(R"({"path":"src"})") == "src/a.cc\nsrc/a.h\nsrc/deep/\nsrc/up -> ../..\n");
  CHECK(tree.list(R"({"path":"src","depth":2})") ==
        "src/a.cc\nsrc/a.h\nsrc/deep/\nsrc/deep/er/\nsrc/up -> ../..\n");
  CHECK(tree.list(R"({"path":"src/a.cc"})") == "invalid_input: src/a.cc is not a folder.");
  CHECK(tree.list(R"({"path":"nope"})").starts_with("not_found:"));
  CHECK(tree.list(R"({"path":"src/up"})").starts_with("denied:"));
  fs::create_directories(tree.base / "ws/empty");
  CHECK(tree.list(R"({"path":"empty"})") == "[empty is empty.]\n");
}

TEST_CASE("a name that would break its line is quoted") {
  FileKit kit;
  kit.put("ws/a\nb:1:x", "needle\n");
  CHECK(kit.said("list_files", "{}") == "\"a\\nb:1:x\"\n");
  CHECK(kit.said("search_files", R"({"pattern":"needle"})") == "\"a\\nb:1:x\":1:needle\n");
  CHECK(kit.write("c\nd", "x") == "Created \"c\\nd\" (+1).");
}

TEST_CASE("a pattern goes as deep as there are folders") {
  Tree tree;
  CHECK(tree.list(R"({"pattern":"**/*.cc"})") ==
        "link.cc -> src/a.cc\nsrc/a.cc\nsrc/deep/er/b.cc\n");
  CHECK(tree.list(R"({"pattern":"*.{h,md}"})") == "README.md\nsrc/a.h\n");
  CHECK(tree.list(R"({"path":"src","pattern":"deep/**/*.cc"})") == "src/deep/er/b.cc\n");
  CHECK(tree.list(R"({"pattern":"*.{h,md"})").contains("A brace of the pattern is not closed."));
  CHECK(tree.list(R"({"pattern":"*.py"})") == "[Nothing in . matches *.py.]\n");
}

TEST_CASE("in a repository the user's global excludes apply after every .gitignore") {
  Tree tree;
  tree.excludes = "*.h\n/src/deep/\n";
  const std::string args = R"({"path":"src","depth":9})";
  CHECK(tree.list(args) ==
        "src/a.cc\nsrc/up -> ../..\n[Omitted because of .gitignore: 2; set ignored to true to "
        "include them.]\n");
  tree.put("ws/.gitignore", "!*.h\n");
  CHECK(tree.list(args).contains("src/a.h\n"));
  // A repository below has its own top, and what is in no repository has none.
  tree.put("ws/src/sub/.git/config", "");
  tree.put("ws/src/sub/src/deep/x", "");
  CHECK_FALSE(tree.list(args).contains("src/sub/src/deep"));
  CHECK(tree.list(R"({"path":"src","depth":9,"ignored":true})").contains("src/sub/src/deep/x"));
  fs::remove_all(tree.base / "ws/.git");
  fs::remove(tree.base / "ws/.gitignore");
  CHECK(tree.list(args).contains("src/a.h\n"));
  CHECK_FALSE(tree.list(args).contains("src/sub/src/deep"));
}

TEST_CASE("what .gitignore files leave out is passed over, said, and there for the asking") {
  Tree tree;
  tree.put("ws/.gitignore", "node_modules/\n*.o\n");
  tree.put("ws/node_modules/x/index.cc", "int module;\n");
  tree.put("ws/src/a.o", "int object;\n");
  tree.put("ws/src/deep/.gitignore", "!kept.o\n/er/\n");
  tree.put("ws/src/deep/kept.o", "int kept;\n");
  tree.put("ws/er/b.cc", "int elsewhere;\n");
  CHECK(tree.list(R"({"pattern":"*.{cc,o}"})") ==
        "er/b.cc\nlink.cc -> src/a.cc\nsrc/a.cc\nsrc/deep/kept.o\n[Omitted because of .gitignore: "
        "3; set ignored to true to include them.]\n");
  CHECK(tree.search(R"({"pattern":"int (module|object|kept|deep);"})") ==
        "src/deep/kept.o:1:int kept;\n[Omitted because of .gitignore: 3; set ignored to true to "
        "include them.]\n");
  CHECK(tree.search(R"({"pattern":"int (module|object|deep);","ignored":true})") ==
        "node_modules/x/index.cc:1:int module;\nsrc/a.o:1:int object;\n"
        "src/deep/er/b.cc:1:int deep;\n");
  CHECK(tree.list(R"({"path":"src/deep","ignored":true})") ==
        "src/deep/.gitignore\nsrc/deep/er/\nsrc/deep/kept.o\n");
  // .gitignore files of parent folders apply. A folder named explicitly is searched even if
  // ignored.
  CHECK(tree.list(R"({"path":"src","pattern":"*.o"})") ==
        "src/deep/kept.o\n[Omitted because of .gitignore: 2; set ignored to true to include "
        "them.]\n");
  CHECK(tree.search(R"({"pattern":"int","path":"node_modules"})") ==
        "node_modules/x/index.cc:1:int module;\n");
  CHECK(tree.search(R"({"pattern":"int","path":"src/a.o"})") == "src/a.o:1:int object;\n");
}

TEST_CASE("an ignore file that may not be read, is a link or a folder leaves nothing out") {
  Tree tree;
  tree.put("ws/src/one.txt", "int one;\n");
  tree.put("rules", "one.txt\n");
  tree.link("../rules", "ws/.gitignore");
  fs::create_directories(tree.base / "ws/src/.gitignore");
  CHECK(tree.search(R"({"pattern":"int one"})") == "src/one.txt:1:int one;\n");
  fs::remove(tree.base / "ws/.gitignore");
  tree.put("ws/secrets/.gitignore", "*\n");
  tree.keep_secrets();
  CHECK(tree.search(R"({"pattern":"int one"})").starts_with("src/one.txt:1:int one;\n"));
}

TEST_CASE("patterns mean names, or paths where they have a slash") {
  CHECK(fits("*.cc", "src/a.cc"));
  CHECK_FALSE(fits("src/*.cc", "src/deep/a.cc"));
  CHECK(fits("src/**/*.cc", "src/a.cc"));
  CHECK(fits("./src/**", "src/a/b"));
  CHECK(fits("{a,b}/{c,d}.?", "b/c.x"));
  CHECK_FALSE(fits("{a,b}/{c,d}.?", "b/e.x"));
  CHECK(fits("a{b,c{d,e}}", "ace"));
  CHECK(fits("[id].ts", "app/[id].ts"));
  CHECK(fits("{x}", "{x}"));
  CHECK_FALSE(Glob::read("/etc/*"));
  CHECK_FALSE(Glob::read(""));
  CHECK_FALSE(Glob::read(std::string(2'000, 'a')));
  CHECK_FALSE(Glob::read("{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"));
}

TEST_CASE("matching lines are shown with path and number") {
  Tree tree;
  CHECK(tree.search(R"({"pattern":"int [ab]"})") ==
        "src/a.cc:1:int a;\nsrc/a.cc:2:int b;\nsrc/a.h:2:int a;\n");
  CHECK(tree.search(R"({"pattern":"INT B","ignoreCase":true})") == "src/a.cc:2:int b;\n");
  CHECK(tree.search(R"({"pattern":"int","files":"*.h"})") == "src/a.h:2:int a;\n");
  CHECK(tree.search(R"({"pattern":"deep","path":"src/deep"})") == "src/deep/er/b.cc:1:int deep;\n");
  CHECK(tree.search(R"({"pattern":"^int b","path":"src/a.cc"})") == "src/a.cc:2:int b;\n");
  CHECK(tree.search(R"({"pattern":"nothing"})") == "[No line matches in 5 files.]\n");
  CHECK(tree.search(R"({"pattern":"(a"})") ==
        "invalid_input: The expression cannot be parsed: missing ): (a.");
}

TEST_CASE("lines around a match are shown once, and gaps are marked") {
  FileKit kit;
  kit.put("ws/a", "1\n2\nx\n4\nx\n6\n7\n8\n9\nx\n");
  CHECK(kit.said("search_files", R"({"pattern":"x","context":1})") ==
        "a-2-2\na:3:x\na-4-4\na:5:x\na-6-6\n--\na-9-9\na:10:x\n");
}

TEST_CASE("what rules keep from being read is left out, and counted") {
  Tree tree;
  tree.keep_secrets();
  CHECK(tree.search(R"({"pattern":"int key"})") ==
        "[No line matches in 4 files.]\n[Omitted because rules or the sandbox hide them: 1.]\n");
  CHECK(tree.list("{}") ==
        "README.md\nlink.cc -> src/a.cc\nsrc/\n[Omitted because rules or the sandbox hide them: "
        "1.]\n");
  CHECK(tree.search(R"({"pattern":"int","path":"secrets"})") == "denied: a rule");
  CHECK(tree.list(R"({"path":"secrets"})") == "denied: a rule");
  CHECK(tree.search(R"({"pattern":"int","path":"secrets/key.txt"})") == "denied: a rule");
}

TEST_CASE("secrets are found by nobody, in contents and in names") {
  FileKit kit;
  kit.redactor = policy::Redactor({{"KEY", "hunter2hunter2"}});
  kit.put("ws/a.txt", "key hunter2hunter2 end\n");
  kit.put("ws/hunter2hunter2", "");
  CHECK(kit.said("search_files", R"({"pattern":"hunter2"})") == "[No line matches in 2 files.]\n");
  CHECK(kit.said("search_files", R"({"pattern":"key"})") == "a.txt:1:key [redacted:KEY] end\n");
  CHECK(kit.said("list_files", "{}") == "a.txt\n[redacted:KEY]\n");
  CHECK(kit.read("hunter2hunter3").contains("Similar names: [redacted:KEY]."));
}

TEST_CASE("binary files, pipes and links are not searched") {
  FileKit kit;
  kit.put("ws/bin", std::string("needle\0", 7));
  kit.put("outside", "needle");
  kit.link("../outside", "ws/link");
  REQUIRE(::mkfifo((kit.base / "ws/fifo").c_str(), 0666) == 0);
  CHECK(kit.said("search_files", R"({"pattern":"needle"})") == "[No line matches in 0 files.]\n");
}

TEST_CASE("long lines and many matches are bounded") {
  FileKit kit;
  kit.put("ws/long", std::string(20'000, 'a') + "needle" + std::string(20'000, 'b') + "\n");
  const std::string found = kit.said("search_files", R"({"pattern":"needle"})");
  CHECK(found.size() < 500);
  CHECK(found.contains("aneedleb"));
  std::string many;
  for (int i = 0; i < 5'000; ++i) many += "needle\n";
  kit.put("ws/many", many);
  const std::string some = kit.said("search_files", R"({"pattern":"needle","files":"many"})");
  CHECK(some.contains(fmt::format("many:{}:needle\n[There are more results: ", kSearchMatchesMax)));
  kit.put("ws/wide", std::string(100'000, 'x'));
  CHECK(kit.said("search_files", R"({"pattern":"x+","files":"wide","context":2})").size() < 500);
  CHECK(kit.said("search_files", fmt::format(R"({{"pattern":"{}"}})", std::string(5'000, 'a')))
            .starts_with("invalid_input: The expression is longer than"));
}

TEST_CASE("what was not looked at of a line is said, and the place of its cut is not its end") {
  FileKit kit;
  const std::string wide(kSearchLineBytesMax, 'a');
  const auto search = [&](std::string_view pattern) {
    return kit.said("search_files", fmt::format(R"({{"pattern":{}}})", json_of(pattern)));
  };
  kit.put("ws/wide", wide + "\n");
  CHECK(search("needle") == "[No line matches in 1 files.]\n");
  CHECK(search("a$").starts_with("wide:1:"));
  kit.put("ws/wide", wide + "needle\n");
  const std::string one = "[1 long line: only the first 64 KiB were searched.]\n";
  CHECK(search("needle") == "[No line matches in 1 files.]\n" + one);
  CHECK(search("a$") == "[No line matches in 1 files.]\n" + one);
  CHECK(search("a\\b") == "[No line matches in 1 files.]\n" + one);
  CHECK(search("^a").ends_with(one));
  kit.put("ws/wider", wide + wide + wide + "\n" + wide + "x\nneedle\n");
  CHECK(search("needle") ==
        "wider:3:needle\n[3 long lines: only the first 64 KiB were searched.]\n");
}

TEST_CASE("an expression over the end of a line is refused, since lines are searched one by one") {
  FileKit kit;
  kit.put("ws/a", "b\nc\n");
  const auto search = [&](std::string_view pattern) {
    return kit.said("search_files", fmt::format(R"({{"pattern":{}}})", json_of(pattern)));
  };
  for (const char* const over : {"b\\nc", "b\nc", "b$\\n", "(x|b)\\r?\\n+", "b[\\n]c", "b\\x0ac"}) {
    CAPTURE(over);
    CHECK(
        search(over).starts_with("invalid_input: The expression can match no line: each line is"));
  }
  for (const char* const within : {"b\\n?", "b|x\\ny", "b\\s*", "(?s)b.*", "[^c]$", "b(\\n|$)"}) {
    CAPTURE(within);
    CHECK(search(within) == "a:1:b\n");
  }
  CHECK(search("") == "a:1:b\na:2:c\n");
}

TEST_CASE("an expression that makes others take forever does not") {
  FileKit kit;
  kit.put("ws/a", std::string(60'000, 'a') + "\n");
  const auto start = std::chrono::steady_clock::now();
  CHECK(kit.said("search_files", R"({"pattern":"(a*)*(a|aa)+b$"})").starts_with("[No line"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(2));
}

TEST_CASE("a folder of more than a hundred thousand entries is listed in part") {
  FileKit kit;
  fs::create_directories(kit.base / "ws/many");
  bool made = true;
  for (std::size_t i = 0; i < kFolderEntriesMax + 500; ++i) {
    const Descriptor file{::open((kit.base / fmt::format("ws/many/{:06}", i)).c_str(),
                                 O_CREAT | O_WRONLY | O_CLOEXEC, 0644)};
    made = made && file;
  }
  REQUIRE(made);
  const auto start = std::chrono::steady_clock::now();
  const std::string listed = kit.said("list_files", R"({"path":"many"})");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  MESSAGE("listed in ", took.count(), " s");
  CHECK(took.count() < 5);
  CHECK(std::ranges::count(listed, '\n') == kListEntriesMax + 1);
  CHECK(
      listed.ends_with("[There are more results: list a subfolder, or use a narrower pattern.]\n"));
  CHECK(kit.said("list_files", R"({"path":"many","pattern":"nope"})")
            .starts_with("[There are too many files to search all of them"));
  CHECK(kit.said("read_file", R"({"path":"many/nope"})").starts_with("not_found"));
}

TEST_CASE("a walk stops at each of its limits") {
  Tree tree;
  const auto grounds = Grounds::open(tree.request, tree.profile);
  const auto start = grounds->open_any(".");
  const auto walk = [&](const WalkLimits& limits, const Until& until) {
    std::size_t seen = 0;
    const auto report = walk_folder(*grounds, *start, limits, until, [&](const Walked&) {
      ++seen;
      return Next::go_on;
    });
    return std::pair{report.end, seen};
  };
  std::atomic<bool> cancelled = false;
  const Until until(cancelled);
  CHECK(walk({}, until) == std::pair{WalkEnd::all_seen, std::size_t{11}});
  CHECK(walk({.depth = 1}, until) == std::pair{WalkEnd::all_seen, std::size_t{4}});
  CHECK(walk({.entries = 5}, until) == std::pair{WalkEnd::entries, std::size_t{5}});
  CHECK(walk({.folders = 1}, until).first == WalkEnd::entries);
  CHECK(walk({}, Until(cancelled, std::chrono::milliseconds(0))).first == WalkEnd::time);
  cancelled = true;
  CHECK(walk({}, until) == std::pair{WalkEnd::time, std::size_t{0}});
}

}  // namespace agentrt::adapters::tools
