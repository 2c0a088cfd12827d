#include "channels/token_files.h"

#include <fmt/format.h>

#include "base/private_file.h"
#include "base/random_bytes.h"

namespace agentrt::channels {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{4} << 20;
constexpr std::uint64_t kFormatVersion = 1;

struct TokensDocument {
  std::uint64_t version = kFormatVersion;
  std::vector<TokenRecord> tokens;
};
BOOST_DESCRIBE_STRUCT(TokensDocument, (), (version, tokens))

std::unexpected<Error> damaged(const std::string& path, std::string_view what) {
  return fail(
      Code::unavailable,
      fmt::format("{} is damaged ({}); restore it, or remove it to start without its tokens", path,
                  what));
}

std::string_view without_line_end(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string random_token() { return hex(random_bytes(kTokenBytes)); }

Result<std::string> read_or_make_first_token(const std::string& data) {
  const std::string path = data + "/token";
  TRY_ASSIGN(const auto kept, read_private_file(path, kFileBytesMax, WiderMode::narrow));
  if (kept) {
    const std::string_view token = without_line_end(*kept);
    if (token.size() < kTokenTextMin || token.find_first_of(" \t\r\n") != token.npos)
      return damaged(path,
                     fmt::format("expected one line of at least {} characters", kTokenTextMin));
    return std::string(token);
  }
  std::string token = random_token();
  TRY(make_private_file(path, token + "\n"));  // never overwrites a token in use
  return token;
}

Result<std::vector<TokenRecord>> read_token_records(const std::string& data) {
  const std::string path = data + "/tokens.json";
  TRY_ASSIGN(const auto text, read_private_file(path, kFileBytesMax, WiderMode::narrow));
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
  return write_private_file(path, text);
}

}  // namespace agentrt::channels
