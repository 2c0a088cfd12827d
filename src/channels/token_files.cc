#include "channels/token_files.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace agentrt::channels {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{4} << 20;
constexpr std::uint64_t kFormatVersion = 1;

struct TokensDocument {
  std::uint64_t version = kFormatVersion;
  std::vector<TokenRecord> tokens;
};
BOOST_DESCRIBE_STRUCT(TokensDocument, (), (version, tokens))

std::unexpected<Error> failed(std::string_view what, const std::string& path) {
  return fail(Code::unavailable, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

std::unexpected<Error> damaged(const std::string& path, std::string_view what) {
  return fail(
      Code::unavailable,
      fmt::format("{} is damaged ({}); restore it, or remove it to start without its tokens", path,
                  what));
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// nullopt if the file does not exist.
Result<std::optional<std::string>> read_file(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) {
    if (errno == ENOENT) return std::nullopt;
    return failed("open", path);
  }
  std::string out;
  char piece[4096];
  while (true) {
    const ssize_t got = ::read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path);
    if (got == 0) break;
    out.append(piece, static_cast<std::size_t>(got));
    if (out.size() > kFileBytesMax) return damaged(path, "it is too large");
  }
  struct stat info{};
  if (::fstat(file.get(), &info) == 0 && (info.st_mode & 077) != 0 &&
      ::fchmod(file.get(), 0600) != 0)
    return failed("set the mode of", path);
  return out;
}

Result<void> write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(descriptor) != 0) return failed("sync", path);
  return {};
}

// Writes and syncs a file of mode 0600 next to `path`, to be moved into place.
Result<std::string> write_temporary(const std::string& path, std::string_view bytes) {
  std::string temporary = path + ".new";
  if (::unlink(temporary.c_str()) != 0 && errno != ENOENT) return failed("remove", temporary);
  const File file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return failed("make", temporary);
  TRY(write_all(file.get(), bytes, temporary));
  return temporary;
}

Result<void> sync_folder(const std::string& folder) {
  const File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) return failed("open", folder);
  if (::fsync(file.get()) != 0) return failed("sync", folder);
  return {};
}

std::string_view without_line_end(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

Result<std::string> random_token() {
  char bytes[kTokenBytes];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    return fail(Code::unavailable, "the system gives no random numbers");
  return hex({bytes, sizeof bytes});
}

Result<std::string> read_or_make_first_token(const std::string& data) {
  const std::string path = data + "/token";
  TRY_ASSIGN(const auto kept, read_file(path));
  if (kept) {
    const std::string_view token = without_line_end(*kept);
    if (token.size() < kTokenTextMin || token.find_first_of(" \t\r\n") != token.npos)
      return damaged(path,
                     fmt::format("expected one line of at least {} characters", kTokenTextMin));
    return std::string(token);
  }
  TRY_ASSIGN(std::string token, random_token());
  TRY_ASSIGN(const std::string temporary, write_temporary(path, token + "\n"));
  // link() never replaces an existing file, so a token in use is never overwritten.
  const int linked = ::link(temporary.c_str(), path.c_str());
  if (linked != 0) return failed("make", path);
  ::unlink(temporary.c_str());
  TRY(sync_folder(data));
  return token;
}

Result<std::vector<TokenRecord>> read_token_records(const std::string& data) {
  const std::string path = data + "/tokens.json";
  TRY_ASSIGN(const auto text, read_file(path));
  if (!text) return std::vector<TokenRecord>{};
  TokensDocument document;
  if (const auto valid = schema::check_json(*text); !valid)
    return damaged(path, valid.error().message);
  const auto read = schema::from_json(*text, document, schema::Unknown::refuse);
  if (!read) return damaged(path, read.error().message);
  if (document.version != kFormatVersion)
    return fail(Code::unavailable,
                fmt::format("{} was written by another version of agentrt (format {})", path,
                            document.version));
  return std::move(document.tokens);
}

Result<void> write_token_records(const std::string& data, const std::vector<TokenRecord>& records) {
  const std::string path = data + "/tokens.json";
  const std::string text = schema::to_json(TokensDocument{kFormatVersion, records}) + "\n";
  TRY_ASSIGN(const std::string temporary, write_temporary(path, text));
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("replace", path);
  return sync_folder(data);
}

}  // namespace agentrt::channels
