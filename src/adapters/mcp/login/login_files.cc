#include "adapters/mcp/login/login_files.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/private_file.h"

namespace agentrt::adapters {
namespace {

constexpr std::uint64_t kFormatVersion = 1;

struct Document {
  std::uint64_t version = kFormatVersion;
  StoredLogin login;
};
BOOST_DESCRIBE_STRUCT(Document, (), (version, login))

Result<StoredLogin> read_login(const std::string& path) {
  TRY_ASSIGN(const auto text, read_private_file(path, kLoginFileBytesMax, WiderMode::refuse));
  if (!text) return fail(Code::not_found, path + " is missing");
  Document document;
  auto valid = schema::check_json(*text);
  if (valid) valid = schema::from_json(*text, document, schema::Unknown::ignore);
  if (!valid || document.version != kFormatVersion)
    return fail(
        Code::unavailable,
        fmt::format("{} is damaged or of another version; remove it and log in again", path));
  return std::move(document.login);
}

}  // namespace

std::string LoginFiles::path_of(const StoredLogin& login) const {
  const Digest digest = sha256(login.server, "\n", login.issuer);
  return fmt::format("{}/{}.json", folder_, hex(bytes_of(digest)).substr(0, 32));
}

LoginFiles::Read LoginFiles::read() const {
  Read out;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error)) {
    if (entry.path().extension() != ".json") continue;
    if (out.logins.size() + out.problems.size() >= kLoginFilesMax) break;
    if (auto login = read_login(entry.path().string()))
      out.logins.push_back(*std::move(login));
    else
      out.problems.push_back(login.error().message);
  }
  return out;
}

Result<void> LoginFiles::write(const StoredLogin& login) const {
  TRY(make_private_folder(folder_));
  const std::string path = path_of(login);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
      files += entry.path().extension() == ".json" ? 1 : 0;
    if (files >= kLoginFilesMax)
      return fail(Code::limit_exceeded,
                  fmt::format("{} logins are stored already; remove some with agentrt mcp logout",
                              kLoginFilesMax));
  }
  return write_private_file(path, schema::to_json(Document{kFormatVersion, login}) + "\n");
}

Result<void> LoginFiles::remove(const StoredLogin& login) const {
  return remove_private_file(path_of(login));
}

}  // namespace agentrt::adapters
