// cli/page/demo.cc: `agentrt demo`: a complete session without a model, a network or configuration.
//
// The demo is a daemon with a data folder of its own and a client of it in the same process. What
// it shows is real: script models call real tools, which run in a real sandbox.
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "cli/page/demo_folder.h"
#include "cli/page/demo_story.h"
#include "cli/page/page_link.h"
#include "cli/verbs.h"
#include "cli/views/envelope.h"
#include "config/sandbox.h"
#include "runtime/runtime.h"
#include "runtime/sandbox.h"

namespace agentrt::cli {
namespace {

// The members of facts that the story looks at.
struct Said {
  std::optional<std::string> kind;
  std::optional<std::string> status;
  std::optional<std::string> decision;
  std::optional<std::string> digest;
  std::optional<std::string> path;
  std::optional<std::string> reason;
  std::optional<std::string> answered_by;
  std::optional<std::int64_t> exit_code;
  std::optional<std::uint64_t> lines_added;
  std::optional<std::uint64_t> lines_removed;
  std::optional<bool> background;
  std::optional<std::string> retry_at;
};
BOOST_DESCRIBE_STRUCT(Said, (),
                      (kind, status, decision, digest, path, reason, answered_by, exit_code,
                       lines_added, lines_removed, background, retry_at))

struct StepLine {
  std::string step;
  std::string status;
  std::string detail;
};
BOOST_DESCRIBE_STRUCT(StepLine, (), (step, status, detail))

struct Answer {
  ActionId action_id;
  std::string decision = "allow";
  std::optional<std::string> digest;
};
BOOST_DESCRIBE_STRUCT(Answer, (), (action_id, decision, digest))

struct LiveProcess {
  std::string process_id;
  std::string status;
};
BOOST_DESCRIBE_STRUCT(LiveProcess, (), (process_id, status))
struct LiveProcesses {
  std::vector<LiveProcess> processes;
};
BOOST_DESCRIBE_STRUCT(LiveProcesses, (), (processes))

constexpr std::string_view kSession = "demo";
constexpr int kStepMs = 60'000;  // without progress for this long, a step has failed
constexpr int kEndMs = 10'000;   // for the processes of the demo to end

class Story {
 public:
  Story(Context& context, const DemoArguments& arguments, const Client& client, Signals& signals,
        std::string data)
      : context_(context),
        arguments_(arguments),
        client_(client),
        signals_(signals),
        data_(std::move(data)) {}

  // Plays the story. An error names the step that failed. Done early if a signal arrives.
  Result<void> play() {
    TRY_ASSIGN(Stream stream, client_.follow(SessionId{std::string(kSession)}, 0));
    TRY(client_.call("submit_turn",
                     fmt::format(R"({{"sessionId":"{}","threadId":"main","input":[{{"type":"text",)"
                                 R"("text":"{}"}}]}})",
                                 kSession, kDemoPrompt)));
    TRY(watch(stream, "turn.completed"));
    if (interrupted()) return {};
    TRY(client_.call("create_job", kDemoJob));
    return watch(stream, "job.completed");
  }

 private:
  bool interrupted() { return signals_.count() > 0; }

  void print(std::string_view step, std::string_view detail,
             std::string_view status = "completed") {
    if (context_.form() == Form::json)
      context_.output.out(
          schema::to_json(StepLine{std::string(step), std::string(status), std::string(detail)}) +
          "\n");
    else
      context_.output.out(fmt::format("· {}: {}\n", step, detail));
  }

  // Follows the facts until one of type `last` on the demo's own thread or job.
  Result<void> watch(Stream& stream, std::string_view last) {
    while (!interrupted()) {
      TRY_ASSIGN(const Stream::Received received,
                 stream.next(waiting_ ? -1 : kStepMs, signals_.descriptor()));
      if (received.what == Stream::What::quiet)
        return fail(Code::timeout,
                    fmt::format("{}: nothing happened for {} s", next_step(last), kStepMs / 1'000));
      if (received.what == Stream::What::ended)
        return fail(Code::unavailable, fmt::format("{}: the stream ended", next_step(last)));
      for (const StreamEvent& event : received.events) {
        TRY_ASSIGN(const Envelope fact, read_envelope(event.data));
        TRY(take(fact));
        const bool own = fact.type != "turn.completed" || fact.thread_id.text() == "main";
        if (fact.type == last && own) return {};
      }
    }
    return {};
  }

  std::string_view next_step(std::string_view last) const {
    return last == "job.completed" ? "job" : step_;
  }

  Result<void> take(const Envelope& fact) {
    Said said;
    TRY(schema::from_json(fact.payload.text, said, schema::Unknown::ignore));
    if (fact.type == "turn.failed" && fact.thread_id.text() == "main")
      return fail(Code::internal, fmt::format("{}: {}", step_, said.reason.value_or("it failed")));
    if (fact.type == "job.failed") return fail(Code::internal, "job: an item failed for good");
    if (fact.type == "action.required") return ask(fact, said);
    if (fact.thread_id.text() == "main") take_own(fact, said);
    if (fact.type == "subagent.completed" && ++subagents_ == 2)
      reached("subagents", "a reviewer and a tester have answered");
    if (fact.type == "job.item.failed" && said.retry_at)
      print("job", "one of three checks failed and is retried", "running");
    if (fact.type == "job.completed") print("job", "three checks, all green after one retry");
    return {};
  }

  // Facts of the engineer's own turn.
  void take_own(const Envelope& fact, const Said& said) {
    if (fact.type == "item.completed" && said.kind == "todo" && step_ == "plan")
      reached("plan", "four steps");
    if (fact.type == "process.completed" && said.exit_code.value_or(0) != 0)
      reached("failing test", fmt::format("exit code {}", *said.exit_code));
    if (fact.type == "artifact.changed" && step_ == "fix")
      reached("fix", fmt::format("sum.sh +{} -{}", said.lines_added.value_or(0),
                                 said.lines_removed.value_or(0)));
    if (fact.type == "action.resolved") {
      waiting_ = false;
      if (said.decision != "allow") green_ = 1;  // nothing was rebuilt
      reached("approval", fmt::format("{} by {}", said.decision.value_or("answered"),
                                      said.answered_by.value_or("a person")));
    }
    if (fact.type == "process.completed" && said.exit_code == 0 && step_ == "green test" &&
        ++green_ > 1)
      reached("green test", "all sums are right");
    if (fact.type == "process.started" && said.background == true)
      reached("server", "runs in the background");
    if (fact.type == "turn.completed") reached("answer", "the turn is complete");
  }

  Result<void> ask(const Envelope& fact, const Said& said) {
    step_ = "approval";
    if (!arguments_.automatic) {
      waiting_ = true;
      print("approval",
            fmt::format("waits for you: answer on the page, or run agentrt approve {} --data {}",
                        fact.action_id.text(), data_),
            "waiting");
      return {};
    }
    TRY(client_.call("respond_action",
                     schema::to_json(Answer{fact.action_id, "allow", said.digest})));
    return {};
  }

  void reached(std::string_view step, std::string_view detail) {
    constexpr std::string_view kSteps[] = {"plan",       "failing test", "fix",       "approval",
                                           "green test", "server",       "subagents", "answer"};
    print(step, detail);
    for (std::size_t i = 0; i + 1 < std::size(kSteps); ++i)
      if (kSteps[i] == step) step_ = kSteps[i + 1];
  }

  Context& context_;
  const DemoArguments& arguments_;
  const Client& client_;
  Signals& signals_;
  const std::string data_;
  std::string_view step_ = "plan";  // the one that is expected next
  int subagents_ = 0;
  int green_ = 0;         // commands that succeeded after the approval
  bool waiting_ = false;  // for the person
};

// Ends the processes of the demo, and waits until they have ended.
void end_processes(const Client& client) {
  const std::string params = fmt::format(R"({{"sessionId":"{}"}})", kSession);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(kEndMs);
  while (std::chrono::steady_clock::now() < deadline) {
    const auto reply = client.call("get_execution_environment", params);
    LiveProcesses found;
    if (!reply || !schema::from_json(*reply, found, schema::Unknown::ignore)) return;
    bool alive = false;
    for (const LiveProcess& process : found.processes) {
      if (process.status == "ending") alive = true;
      if (process.status != "running") continue;
      alive = true;
      (void)client.call("terminate_process",
                        fmt::format(R"({{"processId":"{}"}})", process.process_id));
    }
    if (!alive) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// Why no command can run on this machine, with what to do about it; nothing if commands can run.
std::optional<Error> sandbox_problem(const Context& context, const config::Config& config,
                                     const DemoFolder& folder) {
  config::SandboxChoice choice;
  choice.workspace = folder.workspace();
  const auto profile =
      config::sandbox_profile_of(config, choice, folder.data(), context.environment);
  if (!profile) return profile.error();
  const runtime::SandboxCheckup found = runtime::check_sandbox(*profile);
  if (found.runs) return std::nullopt;
  std::string message = fmt::format(
      "The demo runs real commands in a sandbox, and this machine has none: {}.", found.refusal);
  for (const runtime::SandboxFinding& layer : found.layers)
    if (layer.required && !layer.enforced)
      message += fmt::format(" The layer {} is missing: {}.", layer.layer, layer.remedy);
  return Error{Code::invalid_params, message + " See agentrt doctor.", {}};
}

Result<config::Config> demo_configuration(const Context& context, const DemoFolder& folder) {
  config::ConfigSources sources;
  sources.named = folder.config();
  sources.workspace = folder.workspace();
  return config::load_config(sources, context.environment);
}

void print_link(Context& context, const PageLink& link) {
  if (context.form() == Form::json)
    context.output.out(fmt::format("{{\"step\":\"link\",\"url\":\"{}\"}}\n", link.url));
  else
    context.output.out(link.url + "\n");
}

// Plays the story against the running daemon and serves until a signal arrives.
Result<int> present(Context& context, const DemoArguments& arguments, const Client& client,
                    const std::string& url, const DemoFolder& folder, Signals& signals) {
  TRY(client.call("create_session",
                  fmt::format(R"({{"sessionId":"{}","title":"The sum is wrong","cwd":"{}"}})",
                              kSession, folder.workspace())));
  TRY_ASSIGN(const PageLink link, make_page_link(client, url, {}, std::string(kSession)));
  print_link(context, link);
  if (arguments.browser) {
    TRY(open_in_browser(link.url, folder.data() + "/open.html"));
  }
  Story story(context, arguments, client, signals, folder.data());
  TRY(story.play());
  if (!arguments.exit && signals.count() == 0) {
    context.output.note(fmt::format(
        "The story is over; the page stays until Ctrl-C. A new link: agentrt open --data {}",
        folder.data()));
    while (signals.count() == 0) signals.wait(-1);
  }
  return kExitDone;
}

}  // namespace

int demo(Context& context, const DemoArguments& arguments) {
  auto folder = DemoFolder::make();
  if (!folder) return context.output.problem(folder.error());
  auto config = demo_configuration(context, *folder);
  if (!config) return context.output.problem(config.error());
  if (const auto problem = sandbox_problem(context, *config, *folder)) {
    context.output.problem(*problem);
    return kExitUsage;
  }
  Signals signals;
  runtime::RuntimeOptions options;
  options.config = *std::move(config);
  options.data = folder->data();
  options.cwd = folder->workspace();
  options.listen = runtime::Listen{.address = "127.0.0.1", .port = 0, .host_names = {}};
  options.on_gone = stop_when_gone(context);
  auto runtime = runtime::Runtime::start(std::move(options));
  if (!runtime) return context.output.problem(runtime.error());
  const auto token = read_token(folder->data());
  if (!token) return context.output.problem(token.error());
  const Client client(runtime::socket_path(folder->data()), *token);
  const auto done = present(context, arguments, client, (*runtime)->url(), *folder, signals);
  end_processes(client);
  runtime->reset();
  if (arguments.keep) {
    folder->keep();
    context.output.note(fmt::format("The folder of the demo is {}.", folder->path()));
  }
  if (done) return *done;
  context.output.problem(
      {done.error().code, fmt::format("The demo stopped at {}.", done.error().message), {}});
  return done.error().code == Code::unavailable ? kExitUnavailable : kExitFailed;
}

}  // namespace agentrt::cli
