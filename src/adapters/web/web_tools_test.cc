#include "adapters/web/web_tools.h"

#include <doctest/doctest.h>
#include <netinet/in.h>

#include <fmt/format.h>

#include "adapters/http/testing/fake_peer.h"
#include "adapters/web/may_connect.h"
#include "ports/testing/fake_loop.h"
#include "tools/registry.h"

namespace agentrt::adapters {
namespace {

struct NoKeeper final : ports::OutputKeeper {
  Result<schema::KeptOutput> keep_file(const std::string&, const ports::OutputMeta&) override {
    return fail(Code::unavailable, "nothing is kept here");
  }
  Result<schema::KeptOutput> keep_bytes(std::string_view, const ports::OutputMeta&) override {
    return fail(Code::unavailable, "nothing is kept here");
  }
};

struct RecordedEnd final : ports::ToolListener {
  void on_change(schema::FileChange, schema::KeptOutput,
                 std::optional<schema::KeptOutput>) override {}
  void on_progress(std::string) override {}
  void on_warning(std::string, std::string) override {}
  void on_question(ports::ToolQuestion) override {}
  void on_ended(ports::ToolEnd how) override { end = std::move(how); }
  std::optional<ports::ToolEnd> end;
};

struct Kit {
  ports::ToolRequest request(const std::string& url) {
    ports::ToolRequest out;
    out.call = ToolCallId{"call_1"};
    out.tool = "web_fetch";
    out.args = {fmt::format(R"({{"url":"{}"}})", url)};
    return out;
  }
  WebTools::Parts parts(AddressTest test) {
    return {loop, loop.worker(), keeper, &redactor, {.time_ms = 5'000}, std::move(test)};
  }
  // The failure of a call that does not reach a server.
  schema::Failure failure(WebTools& tools, const std::string& url) {
    const auto listener = std::make_shared<RecordedEnd>();
    tools.start(request(url), listener);
    for (int i = 0; i < 1'000 && !listener->end; ++i) {
      loop.run();
      if (!listener->end) ::usleep(10'000);
    }
    REQUIRE(listener->end);
    REQUIRE(listener->end->failure);
    return *listener->end->failure;
  }

  ports::FakeLoop loop;
  NoKeeper keeper;
  policy::Redactor redactor{{{"KEY", "sesame-sesame"}}};
};

}  // namespace

TEST_CASE("exactly the web tools are served") {
  for (const agentrt::tools::Tool& tool : agentrt::tools::all())
    CHECK(WebTools::serves(tool.name) == (tool.runs == agentrt::tools::Runner::web));
}

TEST_CASE("what no answer could allow is refused before anybody is asked") {
  Kit kit;
  WebTools tools(kit.parts(may_connect));
  for (const char* url : {"https://127.0.0.1/", "https://[::1]/", "https://169.254.169.254/",
                          "https://10.1.2.3:8443/x"}) {
    CAPTURE(url);
    const auto why = tools.objection(kit.request(url));
    REQUIRE(why);
    CHECK(why->category == schema::Category::denied);
    CHECK(why->message.contains("not on the public internet"));
  }
  CHECK(tools.objection(kit.request("https://a.org/?k=sesame-sesame"))->message.contains("secret"));
  CHECK_FALSE(tools.objection(kit.request("https://localhost/")));  // no name is looked up
  CHECK_FALSE(tools.objection(kit.request("https://8.8.8.8/")));
  CHECK(kit.failure(tools, "https://127.0.0.1/").category == schema::Category::denied);
}

TEST_CASE("a name is refused if it resolves to a private address, and no connection is made") {
  Kit kit;
  Peer peer;
  WebTools tools(kit.parts(may_connect));
  const std::string port = peer.url().substr(17, peer.url().rfind('/') - 17);
  const auto why = kit.failure(tools, "https://localhost:" + port + "/");
  CHECK(why.category == schema::Category::denied);
  CHECK(why.message.starts_with("localhost is not on the public internet"));
}

TEST_CASE("a server that does not speak TLS, or is silent, fails the call") {
  Kit kit;
  Peer peer;
  const auto any = [](const sockaddr&) { return true; };
  WebTools::Parts parts = kit.parts(any);
  parts.limits.time_ms = 200;
  WebTools tools(std::move(parts));
  const std::string port = peer.url().substr(17, peer.url().rfind('/') - 17);
  const auto why = kit.failure(tools, "https://127.0.0.1:" + port + "/");
  CHECK(why.category == schema::Category::timeout);
  CHECK(why.message.contains("limits.web_fetch_ms"));
}

TEST_CASE("a cancelled call ends without a word") {
  Kit kit;
  Peer peer;
  WebTools tools(kit.parts([](const sockaddr&) { return true; }));
  const std::string port = peer.url().substr(17, peer.url().rfind('/') - 17);
  const auto listener = std::make_shared<RecordedEnd>();
  tools.start(kit.request("https://127.0.0.1:" + port + "/"), listener);
  tools.cancel(ToolCallId{"call_1"});
  tools.stop();
  kit.loop.run();
  CHECK_FALSE(listener->end);
}

}  // namespace agentrt::adapters
