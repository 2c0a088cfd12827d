// adapters/models/catalog_test.cc: tests which models a turn is offered and which adapter a request
// starts.
#include <doctest/doctest.h>

#include "adapters/models/catalog.h"
#include "adapters/models/testing/model_fixture.h"
#include "ports/testing/fake_loop.h"

namespace agentrt::adapters {

using namespace schema;

namespace {

using Names = std::vector<std::string>;

ConfiguredModel model(const std::string& name, const std::string& provider,
                      const std::string& script = {}) {
  return {{.name = name, .provider = provider, .model = name}, script, {}};
}

Names candidates(const ports::ModelChoice& choice) {
  Names out;
  for (const Candidate& candidate : choice.candidates) out.push_back(candidate.name);
  return out;
}

Names excluded(const ports::ModelChoice& choice) {
  Names out;
  for (const ExcludedCandidate& one : choice.excluded) out.push_back(one.name + " " + one.reason);
  return out;
}

const TurnId kTurn{"turn_1"};

struct Desk {
  explicit Desk(ModelRouting routing, std::vector<ConfiguredModel> models = usual())
      : catalog(loop, loop.worker(), {std::move(models), std::move(routing)}) {}
  static std::vector<ConfiguredModel> usual() {
    return {model("a", "acme"), model("b", "acme"), model("play", "script")};
  }
  ports::FakeLoop loop;
  ModelCatalog catalog;
};

}  // namespace

TEST_CASE("without a list every model is offered but scripts that nothing names") {
  Desk desk{{.default_name = "a", .fallback = {"b"}, .candidates = {}}};
  const ports::ModelChoice choice = desk.catalog.choice(kTurn, {});
  CHECK(candidates(choice) == Names{"a", "b"});
  CHECK(excluded(choice) == Names{"play policy"});
  CHECK(choice.default_name == "a");
  CHECK(choice.fallback == Names{"b"});
}

TEST_CASE("a script is offered when the turn, the default or the fallback names it") {
  CHECK(candidates(Desk{{}}.catalog.choice(kTurn, {"play"})) == Names{"a", "b", "play"});
  CHECK(candidates(Desk{{.default_name = "play"}}.catalog.choice(kTurn, {})) ==
        Names{"a", "b", "play"});
  CHECK(candidates(Desk{{.fallback = {"play"}}}.catalog.choice(kTurn, {})) ==
        Names{"a", "b", "play"});
}

TEST_CASE("a list of candidates leaves the others out, but never the one asked for") {
  Desk desk{{.default_name = "a", .candidates = {"a"}}};
  CHECK(candidates(desk.catalog.choice(kTurn, {})) == Names{"a"});
  CHECK(excluded(desk.catalog.choice(kTurn, {})) == Names{"b policy", "play policy"});
  CHECK(candidates(desk.catalog.choice(kTurn, {"b"})) == Names{"a", "b"});
}

TEST_CASE("a model whose key is not set is left out, with the variable that would let it in") {
  std::vector<ConfiguredModel> models = {model("a", "anthropic"), model("b", "openai_chat"),
                                         model("c", "openai_chat")};
  for (ConfiguredModel& each : models)
    each.endpoint = Endpoint{.provider = each.candidate.provider};
  models[0].endpoint->key_env = models[1].endpoint->key_env = "SOME_KEY";
  models[1].endpoint->key = "k";
  Desk desk{{}, std::move(models)};
  const ports::ModelChoice choice = desk.catalog.choice(kTurn, {});
  CHECK(candidates(choice) == Names{"b", "c"});
  CHECK(excluded(choice) == Names{"a credential"});
  CHECK(choice.excluded[0].remedy == "set SOME_KEY, then start agentrt again");
}

TEST_CASE("an unknown model is said to be unknown; script:FILE is known by its file") {
  Desk desk{{.default_name = "a"}};
  CHECK(excluded(desk.catalog.choice(kTurn, {"x"})) == Names{"play policy", "x unknown_model"});
  const ports::ModelChoice choice = desk.catalog.choice(kTurn, {"script:/tmp/play.jsonl"});
  REQUIRE(choice.candidates.size() == 3);
  CHECK(choice.candidates.back().provider == "script");
  CHECK(choice.candidates.back().model == "play.jsonl");
}

TEST_CASE("a request plays the line after those that ended by the provider's word") {
  const ScriptFile file{"{\"text\":\"one\"}\n{\"text\":\"two\"}\n"};
  Desk desk{{}, {model("play", "script", file.path())}};
  for (const std::string& name : {std::string("play"), "script:" + file.path()}) {
    std::uint64_t ended = 0;
    for (const char* expected : {"t:one", "t:two", "t:done"}) {
      auto heard = std::make_shared<RecordingListener>();
      ports::ModelRequest request;
      request.id = ModelRequestId{"mreq_1"};
      request.model_name = name;
      request.ended_requests = ended++;
      desk.catalog.start(std::move(request), heard);
      desk.loop.run();
      CHECK(heard->said == Names{expected, "completed"});
    }
  }
}

TEST_CASE("a model that is no longer configured fails the request for good") {
  Desk desk{{}};
  auto heard = std::make_shared<RecordingListener>();
  ports::ModelRequest request;
  request.id = ModelRequestId{"mreq_1"};
  request.model_name = "gone";
  desk.catalog.start(std::move(request), heard);
  CHECK(heard->said == Names{"failed"});
  CHECK(heard->fault.error.category == Category::unavailable);
  CHECK_FALSE(heard->fault.error.retryable);
}

}  // namespace agentrt::adapters
