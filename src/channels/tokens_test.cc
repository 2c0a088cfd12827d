#include "channels/tokens.h"

#include <fstream>
#include <sstream>

#include "channels/limits.h"
#include "channels/testing/client_fixture.h"

namespace agentrt::channels {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

void write(const std::string& path, std::string_view text) { std::ofstream(path) << text; }

unsigned mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

Result<std::unique_ptr<Tokens>> try_open(const TestFolder& folder) {
  return Tokens::open(folder.path, [] { return Timestamp{1'000}; });
}

}  // namespace

TEST_CASE("the first start makes a token that may do everything, for its owner's eyes") {
  const TestFolder folder;
  const auto tokens = open_tokens(folder.path);
  const std::string text = contents(folder.path + "/token");
  REQUIRE(text.size() == 65);
  CHECK(text.back() == '\n');
  CHECK(mode_of(folder.path + "/token") == 0600);
  CHECK(!std::filesystem::exists(folder.path + "/token.new"));
  const auto identity = tokens->find(text.substr(0, 64));
  REQUIRE(identity);
  CHECK(identity->id == "local");
  for (const auto scope :
       {TokenScope::read, TokenScope::submit, TokenScope::approve, TokenScope::admin})
    CHECK(identity->allows(scope));
}

TEST_CASE("later starts keep the first token, and a start that was cut off does no harm") {
  const TestFolder folder;
  write(folder.path + "/token.new", "half");
  open_tokens(folder.path);
  const std::string text = contents(folder.path + "/token");
  const auto tokens = open_tokens(folder.path);
  CHECK(contents(folder.path + "/token") == text);
  CHECK(tokens->find(text.substr(0, 64)));
}

TEST_CASE("a first token that others may read is closed to them") {
  const TestFolder folder;
  open_tokens(folder.path);
  std::filesystem::permissions(folder.path + "/token", std::filesystem::perms{0644});
  open_tokens(folder.path);
  CHECK(mode_of(folder.path + "/token") == 0600);
}

TEST_CASE("a made token is known by its hash alone, across starts") {
  const TestFolder folder;
  std::string token;
  {
    const auto tokens = open_tokens(folder.path);
    const auto created = tokens->create(
        {{TokenScope::read, TokenScope::submit}, SessionId{"sess_a"}, "for the editor"});
    REQUIRE(created);
    token = created->token;
    CHECK(created->view.token_id.text().starts_with("tok_"));
    CHECK(created->view.created_at == Timestamp{1'000});
  }
  CHECK(!contents(folder.path + "/tokens.json").contains(token));
  CHECK(mode_of(folder.path + "/tokens.json") == 0600);
  const auto tokens = open_tokens(folder.path);
  const auto identity = tokens->find(token);
  REQUIRE(identity);
  CHECK(identity->allows(TokenScope::read));
  CHECK(identity->allows(TokenScope::submit));
  CHECK(!identity->allows(TokenScope::approve));
  CHECK(!identity->allows(TokenScope::admin));
  CHECK(identity->session == SessionId{"sess_a"});
  CHECK(tokens->list().size() == 2);
  CHECK(tokens->list()[1].name == "for the editor");
}

TEST_CASE("a scope stands for itself alone") {
  const Identity submit{"t", {TokenScope::submit}, {}};
  CHECK(submit.allows(TokenScope::submit));
  CHECK(!submit.allows(TokenScope::read));
  CHECK(!submit.allows(TokenScope::approve));
}

TEST_CASE("unknown, empty and damaged texts are nobody's token") {
  const TestFolder folder;
  const auto tokens = open_tokens(folder.path);
  const std::string token = contents(folder.path + "/token").substr(0, 64);
  CHECK(!tokens->find(""));
  CHECK(!tokens->find("x"));
  CHECK(!tokens->find(token.substr(0, 63)));
  CHECK(!tokens->find(token + "0"));
}

TEST_CASE("a revoked token is refused from then on, also after a restart") {
  const TestFolder folder;
  auto tokens = open_tokens(folder.path);
  const auto created = tokens->create({{TokenScope::read}, {}, {}});
  REQUIRE(created);
  std::vector<std::string> told;
  tokens->on_revoked([&](const std::string& id) { told.push_back(id); });
  const std::string id = created->view.token_id.text();
  const auto revoked = tokens->revoke(id);
  REQUIRE(revoked);
  CHECK(revoked->revoked_at == Timestamp{1'000});
  CHECK(tokens->revoke(id) == *revoked);
  CHECK(told == std::vector<std::string>{id});
  CHECK(!tokens->find(created->token));
  tokens = open_tokens(folder.path);
  CHECK(!tokens->find(created->token));
  CHECK(tokens->revoke("tok_none").error().code == Code::not_found);
  CHECK(tokens->revoke("local").error().code == Code::conflict);
}

TEST_CASE("a token that makes no sense is not made") {
  const TestFolder folder;
  const auto tokens = open_tokens(folder.path);
  CHECK(tokens->create({{}, {}, {}}).error().code == Code::invalid_params);
  CHECK(tokens->create({{TokenScope::admin}, SessionId{"s"}, {}}).error().code ==
        Code::invalid_params);
  CHECK(tokens->create({{TokenScope::read}, {}, std::string(kTokenNameSizeMax + 1, 'n')})
            .error()
            .code == Code::invalid_params);
}

TEST_CASE("a secret in the name of a token is neither kept nor told") {
  const TestFolder folder;
  auto tokens = Tokens::open(
      folder.path, [] { return Timestamp{1'000}; },
      [](std::string text) {
        if (const std::size_t at = text.find("s3cret"); at != text.npos)
          text.replace(at, 6, "[redacted]");
        return text;
      });
  REQUIRE(tokens);
  const auto created = (*tokens)->create({{TokenScope::read}, {}, "for s3cret"});
  REQUIRE(created);
  CHECK(created->view.name == "for [redacted]");
  CHECK((*tokens)->list().back().name == "for [redacted]");
  CHECK_FALSE(contents(folder.path + "/tokens.json").contains("s3cret"));
}

TEST_CASE("a token that is bound to a session may have a folder, across starts") {
  const TestFolder folder;
  std::string text;
  {
    auto tokens = open_tokens(folder.path);
    const auto created = tokens->create({{TokenScope::submit}, SessionId{"s"}, {}, "/srv/docs"});
    REQUIRE(created);
    CHECK(created->view.cwd == "/srv/docs");
    text = created->token;
    for (const std::string& wrong : {std::string("docs"), std::string(), std::string("/a\0b", 4)})
      CHECK(tokens->create({{TokenScope::submit}, SessionId{"s"}, {}, wrong}).error().code ==
            Code::invalid_params);
    CHECK(tokens->create({{TokenScope::submit}, {}, {}, "/srv"}).error().code ==
          Code::invalid_params);
  }
  CHECK(open_tokens(folder.path)->find(text)->folder == "/srv/docs");
}

TEST_CASE("a damaged file stops the start instead of meaning no tokens") {
  for (const char* text :
       {"", "{", "[]", R"({"version":1})", R"({"version":2,"tokens":[]})",
        R"({"version":1,"tokens":[{"tokenId":"t"}]})",
        R"({"version":1,"tokens":[{"tokenId":"t","sha256":"xx","scopes":["read"],)"
        R"("createdAt":"2026-05-08T02:30:00.000Z"}]})",
        R"({"version":1,"tokens":[],"more":1})"}) {
    const TestFolder folder;
    write(folder.path + "/tokens.json", text);
    const auto tokens = try_open(folder);
    REQUIRE_MESSAGE(!tokens, text);
    CHECK(tokens.error().code == Code::unavailable);
    CHECK(tokens.error().message.contains("tokens.json"));
  }
  for (const char* text : {"", "\n", "short\n", "two words of more than thirty-two characters\n"}) {
    const TestFolder folder;
    write(folder.path + "/token", text);
    REQUIRE_MESSAGE(!try_open(folder), text);
    CHECK(contents(folder.path + "/token") == text);
  }
}

TEST_CASE("a folder that cannot be written is an error and leaves no token half made") {
  auto tokens = Tokens::open("/nonexistent/folder", [] { return Timestamp{}; });
  REQUIRE(!tokens);
  CHECK(tokens.error().code == Code::unavailable);
}

}  // namespace agentrt::channels
