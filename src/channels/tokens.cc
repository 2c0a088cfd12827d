#include "channels/tokens.h"

#include <algorithm>

#include <fmt/format.h>

#include "channels/limits.h"
#include "channels/token_files.h"
#include "schema/folders.h"

namespace agentrt::channels {
namespace {

// Decodes 64 hexadecimal digits to raw bytes.
std::optional<std::string> from_hex(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (text.size() != sizeof(Digest) * 2) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = kDigits.find(text[i]);
    const std::size_t low = kDigits.find(text[i + 1]);
    if (high == kDigits.npos || low == kDigits.npos) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

std::string hash_of(std::string_view token) { return std::string(bytes_of(sha256(token))); }

Result<void> check_wanted(const NewToken& wanted, Timestamp now) {
  if (wanted.scopes.empty())
    return fail(Code::invalid_params, "scopes: name at least one of read, submit, approve, admin");
  if (wanted.name && wanted.name->size() > kTokenNameSizeMax)
    return fail(Code::invalid_params,
                fmt::format("name: at most {} characters", kTokenNameSizeMax));
  const auto admin = std::ranges::find(wanted.scopes, TokenScope::admin);
  if (wanted.session_id && admin != wanted.scopes.end())
    return fail(Code::invalid_params,
                "sessionId: a token with scope admin cannot be bound to a session");
  if (wanted.cwd && !wanted.session_id)
    return fail(Code::invalid_params,
                "cwd: allowed only for a token that is bound to a session (sessionId)");
  if (wanted.cwd && (!wanted.cwd->starts_with('/') || wanted.cwd->contains('\0') ||
                     wanted.cwd->size() > schema::kFolderBytesMax))
    return fail(Code::invalid_params, "cwd: expected an absolute path");
  if (wanted.expires_at && *wanted.expires_at <= now)
    return fail(Code::invalid_params, "expiresAt: expected a time in the future");
  return {};
}

bool in_force(const TokenView& view, Timestamp now) {
  return !view.revoked_at && (!view.expires_at || now < *view.expires_at);
}

}  // namespace

bool Identity::allows(TokenScope scope) const {
  return std::ranges::any_of(
      scopes, [&](TokenScope own) { return own == scope || own == TokenScope::admin; });
}

Tokens::Tokens(std::string data, std::function<Timestamp()> now, Redact redact)
    : data_(std::move(data)), now_(std::move(now)), redact_(std::move(redact)) {}

Result<std::unique_ptr<Tokens>> Tokens::open(const std::string& data,
                                             std::function<Timestamp()> now, Redact redact) {
  std::unique_ptr<Tokens> tokens(new Tokens(data, std::move(now), std::move(redact)));
  TRY(tokens->load());
  return tokens;
}

Tokens::Entry Tokens::entry_of(TokenView view, std::string hash) {
  auto identity = std::make_shared<const Identity>(
      Identity{view.token_id.text(), view.scopes, view.session_id, view.cwd, view.expires_at});
  return {std::move(view), std::move(hash), std::move(identity)};
}

Result<void> Tokens::load() {
  TRY_ASSIGN(const std::string first, read_or_make_first_token(data_));
  TokenView local;
  local.token_id = TokenId{std::string(kFirstTokenId)};
  local.scopes = {TokenScope::admin};
  entries_.push_back(entry_of(std::move(local), hash_of(first)));
  TRY_ASSIGN(auto records, read_token_records(data_));
  for (TokenRecord& record : records) {
    auto hash = from_hex(record.sha256);
    if (!hash)
      return fail(Code::unavailable, fmt::format("{}/tokens.json is damaged: the hash of {} is not "
                                                 "64 hexadecimal digits",
                                                 data_, record.token_id.text()));
    entries_.push_back(entry_of(
        {record.token_id, std::move(record.scopes), record.session_id, std::move(record.cwd),
         std::move(record.name), record.created_at, record.expires_at, record.revoked_at},
        *std::move(hash)));
  }
  return {};
}

std::shared_ptr<const Identity> Tokens::find(std::string_view token) const {
  const std::string hash = hash_of(token);
  const Timestamp now = now_();
  std::shared_ptr<const Identity> found;
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_)
    if (equal_in_constant_time(entry.hash, hash) && in_force(entry.view, now))
      found = entry.identity;
  return found;
}

std::optional<TokenView> Tokens::find_id(std::string_view id) const {
  const Timestamp now = now_();
  const std::scoped_lock lock(mutex_);
  for (const Entry& entry : entries_)
    if (entry.view.token_id.text() == id && in_force(entry.view, now)) return entry.view;
  return std::nullopt;
}

bool Tokens::expired(const Identity& identity) const {
  return identity.expires_at && *identity.expires_at <= now_();
}

Result<void> Tokens::store(const std::vector<Entry>& entries) const {
  std::vector<TokenRecord> records;
  for (const Entry& entry : entries) {
    if (entry.view.token_id.text() == kFirstTokenId) continue;
    const TokenView& view = entry.view;
    records.push_back({view.token_id, hex(entry.hash), view.scopes, view.session_id, view.cwd,
                       view.name, view.created_at.value_or(Timestamp{}), view.expires_at,
                       view.revoked_at});
  }
  return write_token_records(data_, records);
}

Result<Tokens::Created> Tokens::create(const NewToken& wanted) {
  const Timestamp now = now_();
  TRY(check_wanted(wanted, now));
  std::string token = random_token();
  const std::string seed = random_token();
  FreshIds ids(now, std::stoull(seed.substr(0, 16), nullptr, 16));
  TokenView view{ids.next<TokenId>(), wanted.scopes, wanted.session_id, wanted.cwd,
                 wanted.name,         now,           wanted.expires_at, {}};
  if (redact_ && view.name) view.name = redact_(*std::move(view.name));
  const std::scoped_lock lock(mutex_);
  std::vector<Entry> changed = entries_;
  if (changed.size() >= kTokensMax) {
    const auto spent =
        std::ranges::find_if(changed, [&](const Entry& e) { return !in_force(e.view, now); });
    if (spent == changed.end())
      return fail(Code::limit_exceeded,
                  fmt::format("the limit of {} tokens is reached; revoke one first", kTokensMax));
    changed.erase(spent);  // a forgotten token stays invalid: its hash is in no list
  }
  changed.push_back(entry_of(view, hash_of(token)));
  TRY(store(changed));
  entries_ = std::move(changed);
  return Created{std::move(view), std::move(token)};
}

Result<TokenView> Tokens::revoke(std::string_view id) {
  if (id == kFirstTokenId)
    return fail(Code::conflict, fmt::format("this token is stored in {}/token; to replace it, "
                                            "remove the file and restart the daemon",
                                            data_));
  std::unique_lock lock(mutex_);
  std::vector<Entry> changed = entries_;
  const auto found = std::ranges::find_if(
      changed, [&](const Entry& entry) { return entry.view.token_id.text() == id; });
  if (found == changed.end()) return fail(Code::not_found, fmt::format("there is no token {}", id));
  const bool news = !found->view.revoked_at;
  if (news) found->view.revoked_at = now_();
  TokenView view = found->view;
  if (!news) return view;
  TRY(store(changed));
  entries_ = std::move(changed);
  const auto listener = on_revoked_;
  lock.unlock();
  if (listener) listener(view.token_id.text());
  return view;
}

std::vector<TokenView> Tokens::list() const {
  const std::scoped_lock lock(mutex_);
  std::vector<TokenView> out;
  for (const Entry& entry : entries_) out.push_back(entry.view);
  return out;
}

void Tokens::on_revoked(std::function<void(const std::string& id)> listener) {
  const std::scoped_lock lock(mutex_);
  on_revoked_ = std::move(listener);
}

}  // namespace agentrt::channels
