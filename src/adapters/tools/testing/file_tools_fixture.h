// adapters/tools/testing/file_tools_fixture.h: file tools over a temporary folder, on a loop
// in virtual time.
#pragma once

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "adapters/tools/file_tools.h"
#include "ports/testing/fake_loop.h"

namespace agentrt::adapters::tools {

namespace fs = std::filesystem;

inline std::string json_of(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

// Records what the listener receives.
struct RecordedCall final : ports::ToolListener {
  void on_change(schema::FileChange what, schema::KeptOutput kept,
                 std::optional<schema::KeptOutput> old) override {
    CHECK_FALSE(end);
    change = std::move(what);
    diff = std::move(kept);
    previous = std::move(old);
  }
  void on_progress(std::string) override {}
  void on_warning(std::string, std::string) override {}
  void on_question(ports::ToolQuestion) override {}
  void on_ended(ports::ToolEnd how) override {
    CHECK_FALSE(end);
    end = std::move(how);
  }

  // The result, or "CATEGORY: message" if the call failed.
  std::string said() const {
    if (!end) return "nothing";
    if (!end->failure) return end->text;
    return fmt::format("{}: {}", schema::name_of(end->failure->category), end->failure->message);
  }

  std::optional<schema::FileChange> change;
  std::optional<schema::KeptOutput> diff;
  std::optional<schema::KeptOutput> previous;
  std::optional<ports::ToolEnd> end;
};

// Keeps outputs in memory; only the kit's session may open them.
class KeptBytes final : public ports::OutputKeeper, public ports::Outputs {
 public:
  Result<schema::KeptOutput> keep_file(const std::string&, const ports::OutputMeta&) override {
    return fail(Code::unavailable, "not here");
  }
  Result<schema::KeptOutput> keep_bytes(std::string_view bytes,
                                        const ports::OutputMeta& meta) override {
    if (full) return fail(Code::storage_full, "no room");
    schema::KeptOutput out;
    out.ref = OutputRef{fmt::format("out_{}", all.size() + 1)};
    out.size = bytes.size();
    out.media_type = meta.media_type;
    all[out.ref.text()] = std::string(bytes);
    return out;
  }
  void open(std::string ref, std::optional<SessionId> only, OpenTo open_to) override {
    const auto found = all.find(ref);
    if (found == all.end() || only != SessionId{"sess_kit"})
      return open_to(fail(Code::not_found, "There is no such output in this session."));
    open_to(std::make_shared<Open>(found->second));
  }
  Result<std::shared_ptr<ports::OutputUpload>> upload(SessionId, std::string,
                                                      std::optional<std::uint64_t>) override {
    return fail(Code::unavailable, "not here");
  }

  std::map<std::string, std::string> all;
  bool full = false;

 private:
  struct Open final : ports::OpenOutput {
    explicit Open(std::string text) : bytes(std::move(text)) { about.size = bytes.size(); }
    const schema::OutputRecord& record() const override { return about; }
    void read(std::uint64_t offset, std::size_t bytes_max, DataTo data_to) override {
      data_to(bytes.substr(std::min<std::size_t>(offset, bytes.size()), bytes_max));
    }
    std::string bytes;
    schema::OutputRecord about;
  };
};

class FileKit {
 public:
  FileKit() {
    // Prefers a memory file system, because some tests create very many files.
    const bool memory = ::access("/dev/shm", W_OK) == 0;
    const fs::path place = memory ? fs::path("/dev/shm") : fs::temp_directory_path();
    std::string pattern = (place / "agentrt_files_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    base = fs::canonical(pattern);
    fs::permissions(base, fs::perms(0755));
    fs::create_directories(ws());
    request.session = SessionId{"sess_kit"};
    request.workspace = ws();
  }
  ~FileKit() {
    std::error_code ignored;
    fs::remove_all(base, ignored);
  }
  FileKit(const FileKit&) = delete;
  FileKit& operator=(const FileKit&) = delete;

  std::string ws() const { return base / "ws"; }
  // Paths are relative to the parent folder of the workspace.
  void put(const std::string& path, std::string_view bytes) const {
    fs::create_directories((base / path).parent_path());
    std::ofstream(base / path, std::ios::binary) << bytes;
  }
  std::string get(const std::string& path) const {
    std::ifstream in(base / path, std::ios::binary);
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  void link(const std::string& target, const std::string& path) const {
    fs::create_symlink(target, base / path);
  }
  std::size_t entries(const std::string& path) const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(base / path), {}));
  }

  // Runs a call until it ends or waits for release().
  std::shared_ptr<RecordedCall> start(const std::string& tool, const std::string& args) {
    auto heard = std::make_shared<RecordedCall>();
    request.call = ToolCallId{fmt::format("call_{}", ++calls)};
    request.tool = tool;
    request.args = {args};
    tools.start(request, heard);
    CHECK_FALSE(heard->end);
    CHECK_FALSE(heard->change);
    loop.run();
    return heard;
  }
  // Runs a call to its end, including the change.
  std::shared_ptr<RecordedCall> call(const std::string& tool, const std::string& args) {
    auto heard = start(tool, args);
    if (heard->change && !heard->end) {
      tools.release(request.call);
      loop.run();
    }
    return heard;
  }
  std::string said(const std::string& tool, const std::string& args) {
    return call(tool, args)->said();
  }
  std::string read(const std::string& path) {
    return said("read_file", fmt::format(R"({{"path":{}}})", json_of(path)));
  }
  std::string write(const std::string& path, const std::string& content) {
    return said("write_file",
                fmt::format(R"({{"path":{},"content":{}}})", json_of(path), json_of(content)));
  }
  std::string edit(const std::string& path, const std::string& old_text,
                   const std::string& new_text) {
    return said("edit_file", fmt::format(R"({{"path":{},"oldText":{},"newText":{}}})",
                                         json_of(path), json_of(old_text), json_of(new_text)));
  }

  fs::path base;
  ports::FakeLoop loop;
  KeptBytes kept;
  policy::Redactor redactor;
  schema::SandboxProfile profile;
  ports::ToolRequest request;
  std::string excludes;  // the user's global git excludes
  int calls = 0;
  FileTools tools{{.loop = loop,
                   .worker = loop.worker(),
                   .keeper = kept,
                   .outputs = kept,
                   .redactor = &redactor,
                   .profile =
                       [this](const ports::ToolRequest& asked) {
                         profile.mode = asked.sandbox;
                         return Result<schema::SandboxProfile>(profile);
                       },
                   .git_excludes = [this] { return excludes; }}};
};

// Runs the rest of the scope as an unprivileged user, if the test runs as root.
class AsOrdinaryUser {
 public:
  static constexpr uid_t kUser = 65'534;
  AsOrdinaryUser() {
    if (::geteuid() != 0) return;
    REQUIRE(::setegid(kUser) == 0);
    REQUIRE(::seteuid(kUser) == 0);
  }
  ~AsOrdinaryUser() {
    if (::getuid() != 0) return;
    (void)!::seteuid(0);
    (void)!::setegid(0);
    ::prctl(PR_SET_DUMPABLE, 1);  // changing users cleared it
  }
  AsOrdinaryUser(const AsOrdinaryUser&) = delete;
  AsOrdinaryUser& operator=(const AsOrdinaryUser&) = delete;
};

}  // namespace agentrt::adapters::tools
