#include "adapters/process/run_folder.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "launcher/spool.h"

namespace agentrt::adapters {
namespace {

constexpr std::uint64_t kSpool = 16'384;

// A run folder with one stream, written with the launcher's spool code.
struct Written {
  explicit Written(const std::string& text) : folder(make_path(), kSpool) {
    REQUIRE(folder.make_way().has_value());
    REQUIRE(std::filesystem::create_directory(folder.path()));
    launcher::Spool spool;
    REQUIRE(spool.open(folder.path(), "stdout", kSpool));
    for (std::size_t at = 0; at < text.size(); at += 1'000) spool.add(text.substr(at, 1'000));
  }
  ~Written() { std::filesystem::remove_all(std::filesystem::path(folder.path()).parent_path()); }

  static std::string make_path() {
    std::string pattern = (std::filesystem::temp_directory_path() / "agentrt_run_XXXXXX").string();
    return std::string(::mkdtemp(pattern.data())) + "/run/proc_1";
  }
  std::string all(std::uint64_t size) const {
    const auto path = folder.whole("stdout", size);
    REQUIRE(path.has_value());
    std::stringstream read;
    read << std::ifstream(*path).rdbuf();
    return read.str();
  }

  RunFolder folder;
};

const Redact kAsItIs = [](std::string text) { return text; };

std::string numbers(std::size_t bytes) {
  std::string out;
  for (std::size_t n = 0; out.size() < bytes; ++n) out += std::to_string(n) + "\n";
  out.resize(bytes);
  return out;
}

}  // namespace

TEST_CASE("short output is shown whole, long output by its beginning and its end") {
  const std::string little = numbers(500), much = numbers(9'000);
  CHECK(Written(little).folder.preview("stdout", little.size(), kAsItIs) == little);
  const std::string preview = Written(much).folder.preview("stdout", much.size(), kAsItIs);
  CHECK(preview.starts_with(much.substr(0, kPreviewHalf)));
  CHECK(preview.ends_with(much.substr(much.size() - kPreviewHalf)));
  CHECK(preview.contains("4904 bytes omitted"));
}

TEST_CASE("a secret that lies across a cut is not shown by half") {
  const std::string secret = "hunter2hunter2";
  std::string text(9'000, '.');
  text.replace(kPreviewHalf - 5, secret.size(), secret);
  text.replace(text.size() - kPreviewHalf - 5, secret.size(), secret);
  const Redact redact = [&](std::string out) {
    for (std::size_t at = out.find(secret); at != out.npos; at = out.find(secret))
      out.replace(at, secret.size(), "[redacted]");
    return out;
  };
  const std::string preview = Written(text).folder.preview("stdout", text.size(), redact);
  CHECK_FALSE(preview.contains("hunt"));
  CHECK_FALSE(preview.contains("ter2"));
}

TEST_CASE("what fits into the spool comes back as it was, whatever part of it went round") {
  for (const std::size_t size : {1'000u, 8'192u, 8'193u, 12'000u, 16'384u}) {
    CAPTURE(size);
    const std::string text = numbers(size);
    CHECK(Written(text).all(size) == text);
  }
}

TEST_CASE("of more than the spool holds, beginning and end are kept and the rest is counted") {
  const std::string text = numbers(50'000);
  const Written written(text);
  const std::string kept = written.all(text.size());
  CHECK(kept.starts_with(text.substr(0, kSpool / 2)));
  CHECK(kept.ends_with(text.substr(text.size() - kSpool / 2)));
  CHECK(kept.contains("33616 bytes were not stored"));
  CHECK(written.folder.preview("stdout", text.size(), kAsItIs)
            .ends_with(text.substr(text.size() - kPreviewHalf)));
}

TEST_CASE("the record of an end is read, and its absence is no end") {
  const Written written("x");
  CHECK_FALSE(written.folder.exit_record().has_value());
  std::ofstream(written.folder.path() + "/exit.json")
      << R"({"event":"exited","code":3,"signal":null,"stdout":7,"stderr":0,"abandoned":false})";
  const auto record = written.folder.exit_record();
  REQUIRE(record.has_value());
  CHECK(record->code == 3);
  CHECK_FALSE(record->signal.has_value());
  CHECK((record->out == Spooled{.size = 7, .kept = 7}));
  CHECK(record->out.whole());
  const auto cut = read_exit_record(R"({"event":"exited","code":0,"stdout":9,"stdoutKept":4})");
  REQUIRE(cut.has_value());
  CHECK((cut->out == Spooled{.size = 9, .kept = 4}));
  CHECK_FALSE(cut->out.whole());
  CHECK_FALSE(read_exit_record("{").has_value());
  const auto refused = read_exit_record(R"({"event":"refused","stage":"cgroup","errno":5})");
  REQUIRE(refused.has_value());
  CHECK_FALSE(refused->started);
  CHECK(refused->abandoned);
  CHECK_FALSE(refused->code.has_value());
}

TEST_CASE("without a record, what the spool holds for sure is known by its files") {
  CHECK((Written("abc").folder.left_of("stdout") == Spooled{.size = 3, .kept = 3}));
  CHECK((Written("abc").folder.left_of("stderr") == Spooled{}));
  const Written much(numbers(3 * kSpool));  // the start of its ring buffer is unknown
  CHECK((much.folder.left_of("stdout") ==
         Spooled{.size = kSpool, .kept = kSpool / 2, .exact = false}));
}

TEST_CASE("what an earlier run left makes way") {
  const Written written("old");
  REQUIRE(written.folder.make_way().has_value());
  CHECK_FALSE(std::filesystem::exists(written.folder.path()));
  REQUIRE(written.folder.make_way().has_value());
  written.folder.remove();
  CHECK_FALSE(std::filesystem::exists(written.folder.path()));
}

}  // namespace agentrt::adapters
