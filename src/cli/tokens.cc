// cli/tokens.cc: `agentrt token create|list|revoke`.
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "cli/sessions/session_ids.h"
#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "schema/command.h"

namespace agentrt::cli {
namespace {

struct TokenParams {
  std::vector<std::string> scopes;
  std::optional<std::string> session_id;
  std::optional<std::string> cwd;
  std::optional<std::string> name;
  std::optional<Timestamp> expires_at;
};
BOOST_DESCRIBE_STRUCT(TokenParams, (), (scopes, session_id, cwd, name, expires_at))

// A token in a reply; `token` (the secret) is only in the reply that created it.
struct TokenRow {
  std::string token_id;
  std::optional<std::string> token;
  std::vector<std::string> scopes;
  std::optional<std::string> session_id;
  std::optional<std::string> name;
  std::optional<std::string> created_at;
  std::optional<Timestamp> expires_at;
  std::optional<std::string> revoked_at;
};
BOOST_DESCRIBE_STRUCT(TokenRow, (),
                      (token_id, token, scopes, session_id, name, created_at, expires_at,
                       revoked_at))

std::string state_of(const TokenRow& row) {
  if (row.revoked_at) return "revoked";
  return row.expires_at && *row.expires_at <= now_of_clock() ? "expired" : "valid";
}

// "45s", "30m", "12h" or "7d" from now.
Result<std::optional<Timestamp>> expiry_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  constexpr std::string_view kUnits = "smhd";
  constexpr std::array<std::int64_t, 4> kUnitMs{1'000, 60'000, 3'600'000, 86'400'000};
  constexpr std::int64_t kCountMax = 100'000;
  std::int64_t count = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, count);
  const std::size_t unit = stop + 1 == end ? kUnits.find(*stop) : kUnits.npos;
  if (error != std::errc{} || unit == kUnits.npos || count < 1 || count > kCountMax)
    return fail(
        Code::invalid_params,
        fmt::format("--expires {} is not a time; write for example 45s, 30m, 12h or 7d.", *text));
  return now_of_clock() + count * kUnitMs[unit];
}

Result<TokenRow> read_token_row(const std::string& text) {
  TokenRow row;
  TRY(schema::check_json(text));
  TRY(schema::from_json(text, row, schema::Unknown::ignore));
  return row;
}

std::optional<Error> scope_problem(const std::vector<std::string>& scopes) {
  for (const std::string& scope : scopes)
    if (!schema::enum_of<schema::TokenScope>(scope))
      return Error{
          Code::invalid_params,
          fmt::format("--scope {} is not valid; use one of read, submit, approve, admin.", scope),
          {}};
  return std::nullopt;
}

// Whether the owner of the data folder has a folder of its own, in which a session is created.
bool has_workspace(const Context& context) {
  const auto data = data_folder_of(context);
  if (!data) return true;
  const auto owner = runtime::read_owner(*data);
  return owner && *owner && (*owner)->kind != runtime::OwnerKind::background;
}

}  // namespace

// Where the owner was killed before it answered, a second token may be made. Nobody has seen the
// secret of the first; `token list` shows both.
int create_token(Context& context, const TokenCreateArguments& arguments) {
  if (const auto problem = scope_problem(arguments.scopes)) return context.output.problem(*problem);
  const auto folder = folder_option("--cwd", arguments.cwd);
  if (!folder) return context.output.problem(folder.error());
  const auto expires_at = expiry_of(arguments.expires);
  if (!expires_at) return context.output.problem(expires_at.error());
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TokenParams params{arguments.scopes, arguments.session, *folder, arguments.name, *expires_at};
    if (arguments.session) {
      TRY_ASSIGN(params.session_id, expanded_id(client, *arguments.session));
    }
    if (arguments.session && !params.cwd && !has_workspace(context)) params.cwd = context.cwd;
    TRY_ASSIGN(const std::string reply, client.ask("POST", "/v1/tokens", schema::to_json(params)));
    if (context.form() == Form::json) {
      context.output.out(reply + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const TokenRow row, read_token_row(reply));
    context.output.out(row.token.value_or("") + "\n");
    context.output.hint(fmt::format(
        "· {} ({}); the token is shown only this once; revoke it with agentrt token revoke {}",
        row.token_id, fmt::join(row.scopes, ", "), row.token_id));
    return kExitDone;
  });
}

int list_tokens(Context& context) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    TRY_ASSIGN(const std::string reply, client.ask("GET", "/v1/tokens", ""));
    if (context.form() == Form::json) {
      context.output.out(reply + "\n");
      return kExitDone;
    }
    TRY_ASSIGN(const ListReply list, read_list(reply));
    Table table{{"TOKEN", "SCOPES", "STATE", "CREATED", "EXPIRES", "SESSION", "NAME"}, {}};
    for (const schema::Json& text : list.data) {
      TRY_ASSIGN(const TokenRow row, read_token_row(text.text));
      table.rows.push_back({row.token_id, fmt::format("{}", fmt::join(row.scopes, ",")),
                            state_of(row), row.created_at.value_or("").substr(0, 10),
                            row.expires_at ? format(*row.expires_at).substr(0, 16) + "Z" : "never",
                            row.session_id.value_or("any"), row.name.value_or("")});
    }
    const Screen& screen = context.output.screen();
    context.output.out(render(table, screen.width, screen.out_colour));
    return kExitDone;
  });
}

int revoke_token(Context& context, const TokenRevokeArguments& arguments) {
  return with_runtime(context, [&](const Client& client, Signals&) -> Result<int> {
    const std::string target = "/v1/tokens/" + url_escaped(arguments.token);
    TRY_ASSIGN(const std::string reply, client.ask("DELETE", target, ""));
    if (context.form() == Form::json) {
      context.output.out((reply.empty() ? "{}" : reply) + "\n");
    } else {
      context.output.out(fmt::format("revoked {}\n", arguments.token));
    }
    return kExitDone;
  });
}

}  // namespace agentrt::cli
