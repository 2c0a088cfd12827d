// adapters/tools/restore_test.cc: tests that a file gets an earlier content back, exactly or not at
// all.
#include "adapters/tools/restore.h"

#include "adapters/tools/testing/file_tools_fixture.h"

namespace agentrt::adapters::tools {
namespace {

using agentrt::tools::RestoreFileArgs;

// Files with the changes that calls made to them.
struct History {
  // Changes a file by a call, and remembers what is needed to undo that.
  void write(const std::string& name, const std::string& content) {
    const auto heard = kit.start("write_file", fmt::format(R"({{"path":{},"content":{}}})",
                                                           json_of(name), json_of(content)));
    REQUIRE(heard->change);
    changes.push_back(*heard->change);
    kit.tools.release(kit.request.call);
    kit.loop.run();
    REQUIRE(heard->end);
  }
  // Undoes all changes, which are of one file.
  RestoreFileArgs undo() const {
    RestoreFileArgs args{.path = changes.front().path,
                         .from = changes.back().after,
                         .to = changes.front().before,
                         .diffs = std::vector<std::string>{}};
    for (auto change = changes.rbegin(); change != changes.rend(); ++change)
      args.diffs->push_back(*change->diff_ref);
    return args;
  }
  std::string restore(const RestoreFileArgs& args) {
    const auto heard = begin(args);
    if (!heard->change) return heard->said();
    CHECK(heard->change->kind == schema::FileChangeKind::restore);
    kit.tools.release(kit.request.call);
    kit.loop.run();
    return heard->said();
  }
  std::shared_ptr<RecordedCall> begin(const RestoreFileArgs& args) {
    return kit.start("restore_file", schema::to_json(args));
  }

  FileKit kit;
  std::vector<schema::FileChange> changes;
};

}  // namespace

TEST_CASE("a file gets back its content through several diffs") {
  History history;
  history.kit.put("ws/a.txt", "one\ntwo");
  history.write("a.txt", "one\n2\n");
  history.write("a.txt", "");
  history.write("a.txt", "new\n");
  CHECK(history.restore(history.undo()) == "Restored a.txt (+2 -1).");
  CHECK(history.kit.get("ws/a.txt") == "one\ntwo");
  CHECK(history.kit.entries("ws") == 1);
}

TEST_CASE("a file that did not exist is removed") {
  History history;
  history.write("a.txt", "new\n");
  CHECK(history.restore(history.undo()) == "Removed a.txt, which did not exist then.");
  CHECK(history.kit.entries("ws") == 0);
}

TEST_CASE("a file that was removed is made again") {
  History history;
  history.kit.put("ws/a.txt", "one\n");
  history.write("a.txt", "two\n");
  RestoreFileArgs args = history.undo();
  fs::remove(history.kit.base / "ws/a.txt");
  args.from.reset();
  args.diffs.reset();
  args.bytes = history.kit.kept.keep_bytes("one\n", {})->ref.text();
  CHECK(history.restore(args) == "Restored a.txt (+1 -0).");
  CHECK(history.kit.get("ws/a.txt") == "one\n");
}

TEST_CASE("old content that a diff does not give is kept, and given back") {
  History history;
  const std::string old_bytes("a\0b", 3);
  history.kit.put("ws/a.bin", old_bytes);
  history.write("a.bin", "text\n");
  REQUIRE(history.changes.front().previous_ref);
  RestoreFileArgs args = history.undo();
  CHECK(
      history.restore(args).starts_with("unavailable: The earlier content of a.bin is not known"));
  args.diffs.reset();
  args.bytes = history.changes.front().previous_ref;
  CHECK(history.restore(args).starts_with("Restored a.bin"));
  CHECK(history.kit.get("ws/a.bin") == old_bytes);
  history.kit.put("ws/plain", "a\n");
  history.changes.clear();
  history.write("plain", "b\n");
  CHECK_FALSE(history.changes.front().previous_ref);
}

TEST_CASE("a file that something else changed stays as it is") {
  History history;
  history.kit.put("ws/a.txt", "one\n");
  history.write("a.txt", "two\n");
  const std::string refused =
      "invalid_input: a.txt was changed by something else since; it stays as it is.";
  SUBCASE("before") {
    history.kit.put("ws/a.txt", "mine\n");
    CHECK(history.restore(history.undo()) == refused);
  }
  SUBCASE("removed before") {
    fs::remove(history.kit.base / "ws/a.txt");
    CHECK(history.restore(history.undo()) == refused);
    return;
  }
  SUBCASE("while the call waits") {
    const auto heard = history.begin(history.undo());
    REQUIRE(heard->change);
    history.kit.put("ws/a.txt", "mine\n");
    history.kit.tools.release(history.kit.request.call);
    history.kit.loop.run();
    CHECK(heard->said().starts_with("invalid_input: a.txt changed while the call was waiting"));
  }
  SUBCASE("the path points to another file now") {
    history.kit.put("ws/b.txt", "two\n");
    fs::remove(history.kit.base / "ws/a.txt");
    history.kit.link("b.txt", "ws/a.txt");
    CHECK(history.restore(history.undo()) == refused);
    CHECK(history.kit.get("ws/b.txt") == "two\n");
    return;
  }
  CHECK(history.kit.get("ws/a.txt") == "mine\n");
}

TEST_CASE("a content with another digest is not written") {
  History history;
  history.kit.put("ws/a.txt", "one\n");
  history.write("a.txt", "two\n");
  RestoreFileArgs args = history.undo();
  args.to = digest_of("another\n");
  CHECK(history.restore(args).starts_with("unavailable:"));
  args.to = history.changes.front().before;
  args.diffs = {"out_none"};
  CHECK(history.restore(args).starts_with("not_found:"));
  CHECK(history.kit.get("ws/a.txt") == "two\n");
}

TEST_CASE("a restore that a crash interrupted is completed once") {
  History history;
  history.kit.put("ws/a.txt", "one\n");
  history.write("a.txt", "two\n");
  const auto heard = history.begin(history.undo());
  REQUIRE(heard->change);
  history.kit.request.announced = heard->change;
  SUBCASE("it was not made") {}
  SUBCASE("it was made") { history.kit.put("ws/a.txt", "one\n"); }
  history.kit.tools.cancel(history.kit.request.call);
  CHECK(history.restore(history.undo()) == "Restored a.txt (+1 -1).");
  CHECK(history.kit.get("ws/a.txt") == "one\n");
}

TEST_CASE("a removal that a crash interrupted is completed once") {
  History history;
  history.write("a.txt", "new\n");
  const auto heard = history.begin(history.undo());
  REQUIRE(heard->change);
  history.kit.request.announced = heard->change;
  SUBCASE("it was not made") {}
  SUBCASE("it was made") { fs::remove(history.kit.base / "ws/a.txt"); }
  history.kit.tools.cancel(history.kit.request.call);
  CHECK(history.restore(history.undo()) == "Removed a.txt, which did not exist then.");
  CHECK(history.kit.entries("ws") == 0);
}

TEST_CASE("digests tell what is at a path") {
  History history;
  history.kit.put("ws/a.txt", "one\n");
  history.kit.put("secret", "x");
  history.kit.link("a.txt", "ws/link");
  const std::string ws = history.kit.ws();
  const auto found = history.kit.tools.digests(
      {.session = history.kit.request.session,
       .workspace = ws,
       .additional_roots = {},
       .paths = {ws + "/a.txt", ws + "/none", ws + "/link", ws + "/../secret"}});
  REQUIRE(found.size() == 4);
  CHECK(found[0].known);
  CHECK(found[0].digest == digest_of("one\n"));
  CHECK(found[1].known);
  CHECK_FALSE(found[1].digest);
  CHECK_FALSE(found[2].known);
  CHECK_FALSE(found[3].known);
}

}  // namespace agentrt::adapters::tools
