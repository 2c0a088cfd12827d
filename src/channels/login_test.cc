#include "channels/login_codes.h"

#include <fstream>

#include "channels/testing/client_fixture.h"

// Login codes, the tokens they give, and the page that uses them.
namespace agentrt::channels {
namespace {

using Scopes = std::vector<TokenScope>;

struct Logins {
  TestFolder folder;
  Timestamp wall{1'000};
  Instant now = Clock::now();
  std::unique_ptr<Tokens> tokens = *Tokens::open(folder.path, [this] { return wall; });
  LoginCodes codes{*tokens};

  Tokens::Created token(const NewToken& wanted) {
    auto created = tokens->create(wanted);
    REQUIRE(created);
    return *std::move(created);
  }
  std::shared_ptr<const Identity> identity(const NewToken& wanted) {
    return tokens->find(token(wanted).token);
  }
};

std::string authorization(const std::string& token) {
  return fmt::format("Authorization: Bearer {}\r\n", token);
}

// The value of a member of type string.
std::string member(const std::string& json, std::string_view name) {
  const std::string before = fmt::format("\"{}\":\"", name);
  const std::size_t at = json.find(before);
  if (at == json.npos) return "";
  const std::size_t from = at + before.size();
  return json.substr(from, json.find('"', from) - from);
}

}  // namespace

TEST_CASE("a code gives one token of 12 hours, once") {
  Logins l;
  const auto asker = l.identity({{TokenScope::admin}, {}, {}});
  const auto issued = l.codes.issue(*asker, {}, l.now);
  REQUIRE(issued);
  CHECK(issued->code.size() == 64);
  CHECK(issued->scopes == Scopes{TokenScope::read, TokenScope::submit, TokenScope::approve});
  CHECK(issued->expires_at == Timestamp{61'000});
  CHECK(l.codes.redeem(std::string(64, '0'), l.now).error().code == Code::unauthenticated);
  const auto created = l.codes.redeem(issued->code, l.now);
  REQUIRE(created);
  CHECK(created->view.expires_at == Timestamp{1'000 + 12 * 3'600'000});
  const auto identity = l.tokens->find(created->token);
  REQUIRE(identity);
  CHECK(identity->allows(TokenScope::approve));
  CHECK_FALSE(identity->allows(TokenScope::admin));
  CHECK(l.codes.redeem(issued->code, l.now).error().code == Code::unauthenticated);
}

TEST_CASE("a code is void after 60 seconds, also if the wall clock is set back") {
  Logins l;
  const auto asker = l.identity({{TokenScope::read}, {}, {}});
  const auto late = l.codes.issue(*asker, {}, l.now);
  const auto in_time = l.codes.issue(*asker, {}, l.now);
  l.wall = Timestamp{0};
  CHECK(l.codes.redeem(in_time->code, l.now + kLoginCodeTime - Duration{1}));
  CHECK(l.codes.redeem(late->code, l.now + kLoginCodeTime).error().code == Code::unauthenticated);
}

TEST_CASE("a login token is never wider than the token that asked for the code") {
  Logins l;
  const auto reader =
      l.token({{TokenScope::read}, SessionId{"sess_a"}, "ci", "/srv/docs", Timestamp{50'000}});
  const auto asker = l.tokens->find(reader.token);
  CHECK(l.codes.issue(*asker, Scopes{TokenScope::submit}, l.now).error().code == Code::forbidden);
  CHECK(l.codes.issue(*asker, Scopes{TokenScope::admin}, l.now).error().code == Code::forbidden);
  CHECK(l.codes.issue(*asker, Scopes{}, l.now).error().code == Code::invalid_params);
  const auto issued = l.codes.issue(*asker, {}, l.now);
  REQUIRE(issued);
  CHECK(issued->scopes == Scopes{TokenScope::read});
  const auto created = l.codes.redeem(issued->code, l.now);
  REQUIRE(created);
  CHECK(created->view.session_id == SessionId{"sess_a"});
  CHECK(created->view.cwd == "/srv/docs");
  CHECK(created->view.expires_at == Timestamp{50'000});

  const auto admin = l.identity({{TokenScope::admin}, {}, {}});
  CHECK(l.codes.issue(*admin, Scopes{TokenScope::admin}, l.now).error().code == Code::forbidden);
}

TEST_CASE("a code of a revoked token gives nothing") {
  Logins l;
  const auto asker = l.token({{TokenScope::read}, {}, {}});
  const auto issued = l.codes.issue(*l.tokens->find(asker.token), {}, l.now);
  REQUIRE(l.tokens->revoke(asker.view.token_id.text()));
  CHECK(l.codes.redeem(issued->code, l.now).error().code == Code::unauthenticated);
}

TEST_CASE("16 codes may be open; used and expired ones make room") {
  Logins l;
  const auto asker = l.identity({{TokenScope::read}, {}, {}});
  std::string first;
  for (std::size_t i = 0; i < kLoginCodesMax; ++i) {
    const auto issued = l.codes.issue(*asker, {}, l.now);
    REQUIRE(issued);
    if (i == 0) first = issued->code;
  }
  CHECK(l.codes.issue(*asker, {}, l.now).error().code == Code::limit_exceeded);
  REQUIRE(l.codes.redeem(first, l.now));
  CHECK(l.codes.issue(*asker, {}, l.now));
  CHECK(l.codes.issue(*asker, {}, l.now + kLoginCodeTime));
}

TEST_CASE("an expired token is refused, and its record makes room") {
  Logins l;
  const auto created = l.token({{TokenScope::read}, {}, {}, {}, Timestamp{2'000}});
  CHECK(l.tokens->find(created.token));
  l.wall = Timestamp{1'999};
  CHECK(l.tokens->find_id(created.view.token_id.text()));
  l.wall = Timestamp{2'000};
  CHECK_FALSE(l.tokens->find(created.token));
  CHECK_FALSE(l.tokens->find_id(created.view.token_id.text()));
  CHECK(l.tokens->create({{TokenScope::read}, {}, {}, {}, Timestamp{2'000}}).error().code ==
        Code::invalid_params);
  const auto reopened = Tokens::open(l.folder.path, [] { return Timestamp{1'000}; });
  CHECK((*reopened)->find(created.token));
}

TEST_CASE("the page signs in and out over HTTP") {
  TestServer s;
  const TestReply issued = s.ask("POST", "/v1/login-codes", "", R"({"scopes":["read"]})");
  REQUIRE(issued.status == 200);
  const std::string body = fmt::format(R"({{"code":"{}"}})", member(issued.body, "code"));
  const TestReply login = s.ask("POST", "/v1/login", "Authorization: none\r\n", body);
  REQUIRE(login.status == 200);
  CHECK(login.body.contains(R"("scopes":["read"])"));
  CHECK(login.field("Cache-Control") == "no-store");
  CHECK(s.ask("POST", "/v1/login", "Authorization: none\r\n", body).status == 401);
  CHECK(s.ask("POST", "/v1/login", "Authorization: none\r\n", "{}").status == 400);
  CHECK(s.ask("POST", "/v1/login-codes", "", R"({"scopes":["admin"]})").code() == "forbidden");
  CHECK(s.ask("POST", "/v1/login-codes", "", R"({"scopes":["all"]})").status == 400);

  const std::string own = authorization(member(login.body, "token"));
  const TestReply token = s.ask("GET", "/v1/token", own);
  CHECK(token.status == 200);
  CHECK(member(token.body, "tokenId") == member(login.body, "tokenId"));
  CHECK(token.body.contains(R"("scopes":["read"],"name":"page","expiresAt")"));
  CHECK(s.ask("DELETE", "/v1/token", own).status == 200);
  CHECK(s.ask("GET", "/v1/token", own).status == 401);
}

TEST_CASE("the first token cannot be signed out") {
  TestServer s;
  std::string first;
  {
    std::ifstream file(s.folder.path + "/token");
    file >> first;
  }
  CHECK(s.ask("DELETE", "/v1/token", authorization(first)).code() == "conflict");
  CHECK(s.ask("GET", "/v1/token", authorization(first)).body ==
        R"({"tokenId":"local","scopes":["admin"]})");
}

TEST_CASE("the page and its assets carry the policy, compressed if the browser accepts it") {
  TestServer s;
  const std::string gzip = "Accept-Encoding: br, gzip;q=0.5\r\n";
  for (const std::string_view target : {"/", "/assets/events.json"}) {
    CAPTURE(target);
    const TestReply packed = s.ask("GET", target, gzip + "Authorization: none\r\n");
    CHECK(packed.status == 200);
    CHECK(packed.field("Content-Encoding") == "gzip");
    CHECK(packed.body.starts_with("\x1f\x8b"));
    CHECK(packed.field("Content-Security-Policy") ==
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
          "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          "require-trusted-types-for 'script'; trusted-types 'none'");
    CHECK(packed.field("Referrer-Policy") == "no-referrer");
    CHECK(packed.field("Cross-Origin-Opener-Policy") == "same-origin");
    CHECK(packed.field("Cross-Origin-Resource-Policy") == "same-origin");
    CHECK(packed.field("X-Content-Type-Options") == "nosniff");
    for (const std::string_view none :
         {"", "Accept-Encoding: identity\r\n", "Accept-Encoding: gzip;q=0, br\r\n"}) {
      const TestReply plain = s.ask("GET", target, none);
      CHECK(plain.field("Content-Encoding").empty());
      CHECK(plain.body == (target == "/" ? "<!doctype html>" : "let a = 1;"));
    }
    CHECK(s.ask("HEAD", target, gzip).field("Content-Length") == packed.field("Content-Length"));
  }
  CHECK(s.ask("GET", "/").field("Cache-Control") == "no-store");
  CHECK(s.ask("GET", "/").field("Content-Type") == "text/html;charset=utf-8");
  CHECK(s.ask("GET", "/assets/events.json").field("Cache-Control") ==
        "public, max-age=31536000, immutable");
  CHECK(s.ask("GET", "/assets/none.js").code() == "not_found");
  CHECK(s.ask("GET", "/assets/index.html").code() == "not_found");
  CHECK(s.ask("GET", "/", "Host: evil.com\r\n").status == 421);
}

TEST_CASE("a damaged pack is refused, and a build without a page has none") {
  CHECK(Page::read("").value().empty());
  const std::string_view pack = test_page();
  CHECK_FALSE(Page::read(pack.substr(0, pack.size() - 1)));
  CHECK_FALSE(Page::read(std::string(pack) + "x"));
  CHECK_FALSE(Page::read("index.html text/html\n\n"));
  CHECK_FALSE(unpacked("no gzip"));
  CHECK_FALSE(unpacked(pack.substr(pack.size() - 35, 20)));
}

}  // namespace agentrt::channels
