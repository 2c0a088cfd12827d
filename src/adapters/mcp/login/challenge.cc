#include "adapters/mcp/login/challenge.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace agentrt::adapters {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  });
  return out;
}

// Splits the text into schemes and their parameters, tolerantly: what is not understood is skipped.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  // The next parameter of a Bearer challenge. False: there is none.
  bool next(std::string& name, std::string& value) {
    while (true) {
      skip(" \t,");
      if (rest_.empty()) return false;
      const std::string word = token();
      if (word.empty()) {
        rest_.remove_prefix(1);
        continue;
      }
      skip(" \t");
      if (!rest_.starts_with('=')) {
        bearer_ = lower(word) == "bearer";
        continue;
      }
      skip("=");
      skip(" \t");
      name = lower(word);
      value = rest_.starts_with('"') ? quoted() : token();
      if (bearer_) return true;
    }
  }

 private:
  void skip(std::string_view any_of) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(any_of), rest_.size()));
  }
  std::string token() {
    const std::string_view out = rest_.substr(0, rest_.find_first_of(" \t,=\""));
    rest_.remove_prefix(out.size());
    return std::string(out);
  }
  std::string quoted() {
    std::string out;
    rest_.remove_prefix(1);
    while (!rest_.empty() && !rest_.starts_with('"')) {
      if (rest_.starts_with('\\') && rest_.size() > 1) rest_.remove_prefix(1);
      out += rest_.front();
      rest_.remove_prefix(1);
    }
    if (!rest_.empty()) rest_.remove_prefix(1);
    return out;
  }

  std::string_view rest_;
  bool bearer_ = false;
};

}  // namespace

Result<std::vector<std::string>> read_scopes(std::string_view text) {
  std::vector<std::string> out;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return out;
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (out.size() == kScopesMax)
      return fail(Code::limit_exceeded, fmt::format("names more than {} scopes", kScopesMax));
    if (std::ranges::find(out, word) == out.end()) out.emplace_back(word);
  }
}

std::string joined_scopes(const std::vector<std::string>& scopes) {
  return fmt::format("{}", fmt::join(scopes, " "));
}

void add_scopes(std::vector<std::string>& scopes, const std::vector<std::string>& more) {
  for (const std::string& scope : more)
    if (std::ranges::find(scopes, scope) == scopes.end()) scopes.push_back(scope);
}

Result<Challenge> read_challenge(std::string_view text) {
  if (text.size() > kChallengeBytesMax)
    return fail(Code::too_large,
                fmt::format("sent a challenge of more than {} bytes", kChallengeBytesMax));
  Challenge out;
  Reader reader(text);
  std::string name, value;
  while (reader.next(name, value)) {
    if (name == "resource_metadata" && !out.resource_metadata) out.resource_metadata = value;
    if (name == "error" && out.error.empty()) out.error = value;
    if (name == "scope" && !out.scopes) {
      TRY_ASSIGN(out.scopes, read_scopes(value));
    }
  }
  return out;
}

}  // namespace agentrt::adapters
