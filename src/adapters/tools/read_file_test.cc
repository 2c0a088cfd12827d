// adapters/tools/read_file_test.cc: tests read_file on files of every kind and size.
#include "adapters/tools/read_file.h"

#include "adapters/tools/lines.h"
#include "adapters/tools/testing/file_tools_fixture.h"
#include "adapters/tools/text.h"
#include "base/near_names.h"

namespace agentrt::adapters::tools {
namespace {

std::string read_part(FileKit& kit, const std::string& path, int offset, int limit) {
  return kit.said("read_file", fmt::format(R"({{"path":{},"offset":{},"limit":{}}})", json_of(path),
                                           offset, limit));
}

struct Pieces final : ByteSource {
  explicit Pieces(std::vector<std::string> all) : pieces(std::move(all)) {}
  Outcome<bool> read(std::string& out) override {
    if (at == pieces.size()) return false;
    out += pieces[at++];
    return true;
  }
  std::vector<std::string> pieces;
  std::size_t at = 0;
};

std::vector<std::string> lines_of(std::vector<std::string> pieces, std::size_t most,
                                  const policy::Redactor* redactor = nullptr) {
  Pieces source(std::move(pieces));
  const std::atomic<bool> cancelled = false;
  const Until until(cancelled);
  LineReader reader(source, redactor, most, until);
  std::vector<std::string> out;
  Line line;
  while (*reader.next(line))
    out.push_back(std::string(line.text) +
                  (line.left_out > 0 ? fmt::format("+{}", line.left_out) : ""));
  return out;
}

}  // namespace

TEST_CASE("lines are numbered, from an offset and as many as asked for") {
  FileKit kit;
  kit.put("ws/a.txt", "one\ntwo\r\n\nfour");
  CHECK(kit.read("a.txt") == "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n");
  CHECK(read_part(kit, "a.txt", 2, 1) ==
        "     2\ttwo\n[The file continues: read on with offset 3.]\n");
  CHECK(read_part(kit, "a.txt", 3, 2) == "     3\t\n     4\tfour\n");
  CHECK(read_part(kit, "a.txt", 4, 9) == "     4\tfour\n");
  CHECK(read_part(kit, "a.txt", 5, 9) == "invalid_input: a.txt has 4 lines; there is no line 5.");
}

TEST_CASE("a large file is shown a part at a time, and every line once") {
  FileKit kit;
  std::string text;
  for (int i = 1; i <= 9'000; ++i) text += fmt::format("this is line {}\n", i);
  kit.put("ws/big", text);
  std::string all;
  std::uint64_t offset = 1;
  for (int parts = 0; parts < 100; ++parts) {
    const std::string part =
        kit.said("read_file", fmt::format(R"({{"path":"big","offset":{}}})", offset));
    CHECK(part.size() <= schema::kToolTextBytesMax);
    constexpr std::string_view kNote = "[The file continues: read on with offset ";
    const std::size_t note = part.find(kNote);
    all += part.substr(0, note);
    if (note == std::string::npos) break;
    offset = std::stoull(part.substr(note + kNote.size()));
  }
  std::string expected;
  for (int i = 1; i <= 9'000; ++i) expected += fmt::format("{:>6}\tthis is line {}\n", i, i);
  CHECK(all == expected);
}

TEST_CASE("a file of a gigabyte with one endless line is read in bounded memory") {
  FileKit kit;
  kit.put("ws/sparse", "begin");
  std::ofstream(kit.base / "ws/text") << std::string(50 << 20, 'x') << "\nnext\n";
  CHECK(read_part(kit, "text", 2, 1) == "     2\tnext\n");
  const std::string shown = read_part(kit, "text", 1, 1);
  CHECK(shown.contains(fmt::format("[… {} more bytes in this line]", (50 << 20) - 2'000)));
  CHECK(shown.size() < 3'000);
  fs::resize_file(kit.base / "ws/sparse", 1ULL << 30);
  CHECK(kit.read("sparse") ==
        "[sparse is a binary file of 1073741824 bytes; it is not shown as text.]\n");
}

TEST_CASE("what is no text is said, not shown") {
  FileKit kit;
  kit.put("ws/p.png", "\x89PNG\r\n\x1a\nxx");
  kit.put("ws/u16", std::string("\xff\xfe"
                                "a\0",
                                4));
  kit.put("ws/latin", "caf\xe9 \xff\n");
  kit.put("ws/empty", "");
  CHECK(kit.read("p.png") ==
        "[p.png is an image (image/png) of 10 bytes; it is not shown as text.]\n");
  CHECK(kit.read("u16") == "[u16 is UTF-16 text of 4 bytes; it is not shown as text.]\n");
  CHECK(kit.read("latin") ==
        "     1\tcaf\xEF\xBF\xBD \xEF\xBF\xBD\n[Bytes that are not UTF-8 are shown as U+FFFD; "
        "edit_file cannot match them.]\n");
  kit.put("ws/some", "caf\xe9\nthe\xEF\xBF\xBD\n");
  CHECK(read_part(kit, "some", 2, 1) == "     2\tthe\xEF\xBF\xBD\n");
  CHECK(read_part(kit, "some", 1, 1)
            .starts_with("     1\tcaf\xEF\xBF\xBD\n[The file continues: read on with offset "
                         "2.]\n[Bytes that are no"));
  CHECK(kit.read("empty") == "[empty is empty.]\n");
}

TEST_CASE("an image is stored and named, by its bytes") {
  FileKit kit;
  const std::string gif("GIF89a\2\1\3\0 pixels;", 18);
  kit.put("ws/a.txt", gif);
  const auto call = kit.call("read_file", R"({"path":"a.txt"})");
  CHECK(call->said() ==
        "[a.txt is an image (image/gif) of 18 bytes.]\n[It is stored as output:out_1.]\n");
  REQUIRE(call->end->outputs.size() == 1);
  CHECK(call->end->outputs[0].media_type == "image/gif");
  CHECK(kit.kept.all["out_1"] == gif);
  CHECK(kit.read("output:out_1").contains("[It is stored as output:out_2.]"));
  kit.put("ws/large.gif", gif + std::string(kReadImageBytesMax, ';'));
  CHECK(kit.read("large.gif").contains("it is not shown as text"));
  kit.kept.full = true;
  CHECK(kit.read("a.txt") == "unavailable: The image cannot be stored: no room");
}

TEST_CASE("a missing file is reported with similar names, except for hidden ones") {
  FileKit kit;
  kit.put("ws/src/main.cc", "");
  kit.put("ws/src/secret.cc", "");
  kit.profile.hidden_paths = {kit.ws() + "/src/secret.cc"};
  CHECK(kit.read("src/Main.cc") ==
        "not_found: src/Main.cc does not exist. Similar names: src/main.cc.");
  CHECK(kit.read("src/mian.cc") ==
        "not_found: src/mian.cc does not exist. Similar names: src/main.cc.");
  CHECK(kit.read("src/secrets.cc") == "not_found: src/secrets.cc does not exist.");
  CHECK(kit.read("scr/x") ==
        "not_found: scr/x does not exist. The folder scr/ does not exist either.");
}

TEST_CASE("kept outputs of the session are read like files") {
  FileKit kit;
  kit.kept.all["out_a"] = "x\ny\n";
  CHECK(kit.read("output:out_a") == "     1\tx\n     2\ty\n");
  CHECK(kit.read("output:out_b") == "not_found: There is no such output in this session.");
  kit.request.session = SessionId{"sess_other"};
  CHECK(kit.read("output:out_a") == "not_found: There is no such output in this session.");
}

TEST_CASE("wrong arguments are refused with the place") {
  FileKit kit;
  CHECK(kit.said("read_file", R"({"path":1})").starts_with("invalid_input: path"));
  CHECK(kit.said("read_file", R"({"file":"x"})").starts_with("invalid_input:"));
}

TEST_CASE("lines come out the same however the bytes come in") {
  const std::vector<std::string> expected = {"ab", "", "cdefg+3", "h"};
  CHECK(lines_of({"ab\n\ncdefghij\nh"}, 5) == expected);
  for (std::size_t size = 1; size < 8; ++size) {
    const std::string text = "ab\n\ncdefghij\nh";
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size(); at += size) pieces.push_back(text.substr(at, size));
    CAPTURE(size);
    CHECK(lines_of(pieces, 5) == expected);
  }
  CHECK(lines_of({}, 5).empty());
  CHECK(lines_of({"abcdefg"}, 5) == std::vector<std::string>{"abcde+2"});
  CHECK(lines_of({"\n"}, 5) == std::vector<std::string>{""});
}

TEST_CASE("a secret of several lines is found before it is cut into lines") {
  const policy::Redactor redactor({{"PEM", "-----BEGIN\nabcdefgh\n-----END"}});
  CHECK(lines_of({"x\n-----BEG", "IN\nabcde", "fgh\n-----END\ny\n"}, 100, &redactor) ==
        std::vector<std::string>{"x", "[redacted:PEM]", "y"});
}

TEST_CASE("a line without an end is given up when the call is over") {
  struct Endless final : ByteSource {
    Outcome<bool> read(std::string& out) override {
      out.append(1'000, 'x');
      if (++reads == 50) *cancelled = true;
      return true;
    }
    int reads = 0;
    std::atomic<bool>* cancelled = nullptr;
  };
  std::atomic<bool> cancelled = false;
  Endless source;
  source.cancelled = &cancelled;
  const Until until(cancelled);
  LineReader reader(source, nullptr, 100, until);
  Line line;
  const auto there = reader.next(line);
  REQUIRE_FALSE(there);
  CHECK(there.error().category == schema::Category::timeout);
  CHECK(source.reads == 50);
}

TEST_CASE("a result keeps within its bounds, notes included") {
  BoundedText text(kNoteBytesMax + 10);
  CHECK(text.add("123456789"));
  CHECK_FALSE(text.add("12"));
  CHECK(text.add("1"));
  for (int i = 0; i < 100; ++i) text.note(std::string(100, 'n'));
  CHECK(text.take().size() == kNoteBytesMax + 10);
}

TEST_CASE("bytes that are no characters are replaced one by one") {
  CHECK(valid_utf8("ü€😀") == "ü€😀");
  CHECK(valid_utf8("\xc0\xaf") == "\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(valid_utf8(std::string_view("a\0b", 3)) ==
        "a\xEF\xBF\xBD"
        "b");
  CHECK(valid_utf8("a\xe2\x82") == "a\xEF\xBF\xBD\xEF\xBF\xBD");
  CHECK(valid_utf8("\xed\xa0\x80") == "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("near names are few and nearest first") {
  const std::vector<std::string> names = {"main.cc", "main.h", "mainly.cc", "Main.cc", "other"};
  CHECK(near_names("mane.cc", names) ==
        std::vector<std::string>{"Main.cc", "main.cc", "mainly.cc"});
  CHECK(near_names("zzz", names).empty());
}

}  // namespace agentrt::adapters::tools
