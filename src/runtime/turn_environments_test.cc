// runtime/turn_environments_test.cc: tests whose environment a turn gets, and what is stored of it.
#include <doctest/doctest.h>

#include <sys/stat.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ports/testing/fake_loop.h"
#include "runtime/turn_environments.h"
#include "state/testing/given.h"

namespace agentrt::runtime {
namespace {

namespace fs = std::filesystem;
using Store = TurnEnvironments::Store;
using Variables = TurnEnvironments::Variables;

const TurnId kTurn{"turn_1"};
constexpr const char* kKey = "sk-canary-0123456789";

// A data folder with one or more runtimes, one after the other.
struct Desk {
  Desk() {
    std::string name = "/tmp/agentrt_environments_XXXXXX";
    data = ::mkdtemp(name.data());
    folder = data + "/environments";
    start();
  }
  ~Desk() { fs::remove_all(data); }

  void start(const ports::HeldEnvironments& taken_over = {}) {
    redactor = policy::Redactor{};
    environments = std::make_unique<TurnEnvironments>(
        TurnEnvironments::Parts{
            .folder = folder,
            .worker = loop.worker(),
            .redactor = redactor,
            .own = config::environment_of(Variables{{"TERM", "own"}, {"SECRET", "x"}}),
            .models = [](const ports::ClientEnvironment& client) -> Result<adapters::ModelSet> {
              adapters::ModelSet set;
              set.routing.default_name =
                  client.credentials.empty() ? "" : client.credentials[0].value;
              return set;
            },
            .in_use = in_use,
            .now_ms = [this] { return now_ms; },
            .turns_max = turns_max},
        taken_over);
  }
  ports::Reply offer(const std::string& term, const std::string& key, const TurnId& turn = kTurn) {
    ports::ClientEnvironment client;
    client.variables = {{"TERM", term}};
    if (!key.empty()) client.credentials = {{"OPENAI_API_KEY", key}};
    return send(turn, std::move(client));
  }
  ports::Reply send(const TurnId& turn, ports::ClientEnvironment client) {
    std::optional<ports::Reply> got;
    environments->offer(turn, std::move(client),
                        [&](ports::Reply reply) { got = std::move(reply); });
    loop.run();
    REQUIRE(got);
    return *std::move(got);
  }
  std::string all_files() const {
    std::string text;
    for (const auto& file : fs::directory_iterator(folder)) {
      std::ifstream in(file.path());
      text += std::string(std::istreambuf_iterator<char>(in), {});
    }
    return text;
  }
  std::string default_model(const TurnId& turn = kTurn) const {
    const auto set = environments->models_of(turn);
    return set ? set->routing.default_name : "none";
  }

  std::string data, folder;
  std::int64_t now_ms = 0;
  std::size_t turns_max = TurnEnvironments::kTurnsMax;
  std::function<bool(const std::string&)> in_use;
  ports::FakeLoop loop;
  policy::Redactor redactor;
  std::unique_ptr<TurnEnvironments> environments;
};

}  // namespace

TEST_CASE("a turn gets the variables of its client, and no other turn does") {
  Desk desk;
  REQUIRE(desk.offer("vt100", ""));
  CHECK(desk.environments->variables_of(kTurn, Store::no) == Variables{{"TERM", "vt100"}});
  CHECK(desk.environments->variables_of(TurnId{"turn_2"}, Store::no) == Variables{{"TERM", "own"}});
}

TEST_CASE("variables are kept over a restart, in a file of the user alone; credentials are not") {
  Desk desk;
  REQUIRE(desk.offer("vt100", kKey));
  CHECK(desk.default_model() == kKey);
  struct stat found{};
  for (const auto& file : fs::directory_iterator(desk.folder)) {
    REQUIRE(::stat(file.path().c_str(), &found) == 0);
    CHECK((found.st_mode & 0777) == 0600);
  }
  CHECK(desk.all_files().contains("vt100"));
  CHECK_FALSE(desk.all_files().contains(kKey));
  desk.start();
  CHECK(desk.environments->variables_of(kTurn, Store::no) == Variables{{"TERM", "vt100"}});
  CHECK(desk.default_model() == "none");
}

TEST_CASE("a client that resumes supplies credentials; the variables stay as they were") {
  Desk desk;
  REQUIRE(desk.offer("vt100", kKey));
  desk.start();
  REQUIRE(desk.offer("dumb", "another-key-0123456789"));
  CHECK(desk.environments->variables_of(kTurn, Store::no) == Variables{{"TERM", "vt100"}});
  CHECK(desk.default_model() == "another-key-0123456789");
}

TEST_CASE("credentials join the redacted secrets before anything can be stored") {
  Desk desk;
  REQUIRE(desk.offer("vt100", kKey));
  CHECK(desk.redactor.redact(std::string("it is ") + kKey) == "it is [redacted:OPENAI_API_KEY]");
}

TEST_CASE("the next owner takes over what was held in memory") {
  Desk desk;
  REQUIRE(desk.offer("vt100", kKey));
  const ports::HeldEnvironments held = desk.environments->held();
  REQUIRE(held.data.size() == 1);
  desk.start(held);
  CHECK(desk.default_model() == kKey);
  CHECK(desk.redactor.holds(kKey));
}

TEST_CASE("the runtime's own variables are fixed for a turn when an approval is bound to them") {
  Desk desk;
  (void)desk.environments->variables_of(kTurn, Store::no);
  CHECK(desk.all_files().empty());
  (void)desk.environments->variables_of(kTurn, Store::yes);
  CHECK(desk.all_files().contains("own"));
  CHECK_FALSE(desk.all_files().contains("SECRET"));
}

TEST_CASE("an environment goes when its turn has ended") {
  Desk desk;
  state::Given past = state::busy_thread();
  REQUIRE(desk.offer("vt100", kKey));
  desk.environments->committed(past.view());
  CHECK(desk.default_model() == kKey);
  past.completed("1");
  desk.environments->committed(past.view());
  desk.loop.run();
  CHECK(desk.default_model() == "none");
  CHECK(desk.all_files().empty());
}

TEST_CASE("an environment goes when its turn is removed from the queue, not when the turn starts") {
  Desk desk;
  state::Given past = state::busy_thread();
  const TurnId second{"turn_2"}, third{"turn_3"};
  REQUIRE(desk.offer("vt100", kKey, second));
  REQUIRE(desk.offer("vt100", kKey, third));
  desk.environments->committed(past.view());
  past.fact(state::turn_scope("3"),
            schema::QueueChanged{.change = schema::QueueChange::removed, .turn_id = third});
  desk.environments->committed(past.view());
  CHECK(desk.default_model(third) == "none");
  past.completed("1").next("2");
  desk.environments->committed(past.view());
  CHECK(desk.default_model(second) == kKey);
}

TEST_CASE("a subagent keeps the environment of the turn that spawned it, also over a restart") {
  Desk desk;
  REQUIRE(desk.offer("vt100", kKey));
  state::Session view = state::Given{}.session().thread_started().running("1").view();
  const auto child_runs = [&](const char* turn) {
    state::Thread& thread = view.threads[ThreadId{"thread_child"}];
    thread.id = ThreadId{"thread_child"};
    thread.active.emplace();
    thread.active->ids.turn = TurnId{turn};
    desk.environments->inherit(view);
    desk.environments->committed(view);
    desk.loop.run();
  };
  state::Subagent& child = view.subagents[SubagentId{"sub_1"}];
  child.id = SubagentId{"sub_1"};
  child.thread = ThreadId{"thread_child"};
  child.parent = state::kThread;
  child.parent_turn = kTurn;
  child_runs("turn_c1");
  const Variables given{{"TERM", "vt100"}};
  CHECK(desk.environments->variables_of(TurnId{"turn_c1"}, Store::no) == given);
  CHECK(desk.default_model(TurnId{"turn_c1"}) == kKey);
  view.threads.at(state::kThread).active.reset();  // the parent's turn has ended
  child_runs("turn_c2");
  CHECK(desk.environments->variables_of(TurnId{"turn_c1"}, Store::no) ==
        Variables{{"TERM", "own"}});
  desk.start();
  child_runs("turn_c2");
  child_runs("turn_c3");
  CHECK(desk.environments->variables_of(TurnId{"turn_c3"}, Store::no) == given);
  view.subagents.clear();
  child_runs("turn_c4");
  view.threads.clear();
  desk.environments->committed(view);
  desk.loop.run();
  CHECK_FALSE(desk.all_files().contains("vt100"));
}

TEST_CASE("the turns of a task get its environment, until no attempt can follow") {
  Desk desk;
  REQUIRE(desk.offer("vt100", kKey, TurnId{"task_1"}));
  state::Task task;
  task.task_id = TaskId{"task_1"};
  desk.environments->task_stored(task);
  desk.now_ms = TurnEnvironments::kUnclaimedMs + 1;
  state::Session view = state::Given{}.session().thread_started().running("1").view();
  state::Turn& turn = *view.threads.at(state::kThread).active;
  turn.ids.task = task.task_id;
  const auto run = [&](const char* id) {
    turn.ids.turn = TurnId{id};
    desk.environments->inherit(view);
    desk.environments->committed(view);
    desk.loop.run();
    return desk.environments->variables_of(TurnId{id}, Store::no);
  };
  const Variables given{{"TERM", "vt100"}};
  CHECK(run("turn_1") == given);
  CHECK(desk.default_model(TurnId{"turn_1"}) == kKey);
  turn.ids.turn = TurnId{"none"};  // turn_1 has ended
  desk.environments->committed(view);
  desk.loop.run();
  task.status = schema::TaskStatus::failed;
  desk.environments->task_stored(task);
  desk.start();
  CHECK(run("turn_2") == given);
  task.status = schema::TaskStatus::completed;
  desk.environments->task_stored(task);
  view.threads.clear();
  desk.environments->committed(view);
  desk.loop.run();
  CHECK_FALSE(desk.all_files().contains("vt100"));
}

TEST_CASE("an old environment is removed at the start, unless its turn, task or job is open") {
  Desk desk;
  REQUIRE(desk.offer("open", "", TurnId{"job_1"}));
  REQUIRE(desk.offer("over", "", TurnId{"turn_9"}));
  const auto eight_days_ago = fs::file_time_type::clock::now() - std::chrono::hours(24 * 8);
  for (const auto& file : fs::directory_iterator(desk.folder))
    fs::last_write_time(file.path(), eight_days_ago);
  desk.in_use = [](const std::string& id) { return id == "job_1"; };
  desk.start();
  CHECK(desk.all_files().contains("open"));
  CHECK_FALSE(desk.all_files().contains("over"));
}

TEST_CASE("variables that commands do not get, and what is no variable, are refused") {
  Desk desk;
  ports::ClientEnvironment client;
  client.variables = {{"LD_PRELOAD", "/x.so"}};
  CHECK(desk.send(kTurn, client).error().code == Code::invalid_params);
  client.variables = {{"TERM", std::string("a\0b", 3)}};
  CHECK(desk.send(kTurn, client).error().code == Code::invalid_params);
  client.variables.clear();
  client.credentials = {{"A=B", "x"}};
  CHECK(desk.send(kTurn, client).error().code == Code::invalid_params);
  CHECK(desk.all_files().empty());
}

TEST_CASE("environments whose turns were never submitted make way for others") {
  Desk desk;
  desk.turns_max = 2;
  desk.start();
  REQUIRE(desk.offer("one", "", TurnId{"turn_1"}));
  REQUIRE(desk.offer("two", "", TurnId{"turn_2"}));
  (void)desk.environments->variables_of(TurnId{"turn_1"}, Store::no);  // it runs
  desk.now_ms = TurnEnvironments::kUnclaimedMs - 1;
  const auto full = desk.offer("three", "", TurnId{"turn_3"});
  REQUIRE_FALSE(full);
  CHECK(full.error().code == Code::limit_exceeded);
  desk.now_ms = TurnEnvironments::kUnclaimedMs;
  REQUIRE(desk.offer("three", "", TurnId{"turn_3"}));
  CHECK_FALSE(desk.all_files().contains("two"));
  CHECK(desk.environments->variables_of(TurnId{"turn_1"}, Store::no) == Variables{{"TERM", "one"}});
}

TEST_CASE("the environment of a job is kept until the job ends") {
  Desk desk;
  const TurnId as_turn{"job_1"};
  REQUIRE(desk.offer("vt100", "", as_turn));
  state::Session view;
  view.id = state::kSession;
  view.jobs[JobId{"job_1"}];
  desk.environments->committed(view);
  desk.start();
  desk.environments->committed(view);
  CHECK(desk.environments->variables_of(as_turn, Store::no) == Variables{{"TERM", "vt100"}});
  view.jobs.clear();
  desk.environments->committed(view);
  desk.loop.run();
  CHECK(desk.environments->variables_of(as_turn, Store::no) == Variables{{"TERM", "own"}});
  CHECK(desk.all_files().empty());
}

}  // namespace agentrt::runtime
