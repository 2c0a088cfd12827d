#include "channels/login_codes.h"

#include <algorithm>

#include <fmt/format.h>

#include "channels/token_files.h"

namespace agentrt::channels {
namespace {

constexpr std::string_view kName = "page";

std::string hash_of(std::string_view code) { return std::string(bytes_of(sha256(code))); }

Result<std::vector<TokenScope>> scopes_for(const Identity& asker,
                                           const std::optional<std::vector<TokenScope>>& wanted) {
  std::vector<TokenScope> out;
  if (!wanted) {
    for (const TokenScope scope : {TokenScope::read, TokenScope::submit, TokenScope::approve})
      if (asker.allows(scope)) out.push_back(scope);
    return out;
  }
  if (wanted->empty())
    return fail(Code::invalid_params, "scopes: name at least one of read, submit, approve");
  for (const TokenScope scope : *wanted) {
    if (scope == TokenScope::admin)
      return fail(Code::forbidden,
                  "a login token never has scope admin; use read, submit or approve");
    if (!asker.allows(scope))
      return fail(Code::forbidden, fmt::format("the token that asks for the code has no scope {}",
                                               schema::name_of(scope)));
    if (std::ranges::find(out, scope) == out.end()) out.push_back(scope);
  }
  return out;
}

}  // namespace

Result<LoginCodes::Issued> LoginCodes::issue(const Identity& asker,
                                             const std::optional<std::vector<TokenScope>>& wanted,
                                             Instant now) {
  TRY_ASSIGN(std::vector<TokenScope> scopes, scopes_for(asker, wanted));
  std::erase_if(open_, [&](const Open& each) { return each.until <= now; });
  if (open_.size() >= kLoginCodesMax)
    return fail(Code::limit_exceeded,
                fmt::format("{} login codes are open; use one, or wait {} seconds", kLoginCodesMax,
                            kLoginCodeTime.count() / 1'000));
  std::string code = random_token();
  open_.push_back({hash_of(code), asker.id, scopes, now + kLoginCodeTime});
  return Issued{std::move(code), std::move(scopes), tokens_.now() + kLoginCodeTime.count()};
}

Result<Tokens::Created> LoginCodes::redeem(std::string_view code, Instant now) {
  const std::string hash = hash_of(code);
  std::optional<Open> found;
  for (const Open& each : open_)
    if (equal_in_constant_time(each.hash, hash)) found = each;
  std::erase_if(open_, [&](const Open& each) { return each.hash == hash || each.until <= now; });
  const auto asker = found && now < found->until ? tokens_.find_id(found->asker) : std::nullopt;
  if (!asker)
    return fail(Code::unauthenticated,
                "this code is wrong, used or expired; run agentrt open again");
  Timestamp expires_at = tokens_.now() + kLoginTokenTime.count();
  if (asker->expires_at) expires_at = std::min(expires_at, *asker->expires_at);
  return tokens_.create(
      {found->scopes, asker->session_id, std::string(kName), asker->cwd, expires_at});
}

}  // namespace agentrt::channels
