#include "runtime/runtime.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "adapters/files/git_excludes.h"
#include "adapters/files/workspace.h"
#include "adapters/hooks/hooks.h"
#include "adapters/models/catalog.h"
#include "adapters/process/processes.h"
#include "base/check.h"
#include "base/random_bytes.h"
#include "channels/http_server.h"
#include "config/folders.h"
#include "config/mcp_servers.h"
#include "config/policies.h"
#include "config/sandbox.h"
#include "engine/engine.h"
#include "kernel/kernel.h"
#include "outputs/job_inputs.h"
#include "outputs/output_desk.h"
#include "outputs/retention.h"
#include "runtime/channel_settings.h"
#include "runtime/configured_models.h"
#include "runtime/context_settings.h"
#include "runtime/core_loop.h"
#include "runtime/data_folder.h"
#include "runtime/environment_use.h"
#include "runtime/grants.h"
#include "runtime/inspection.h"
#include "runtime/listening.h"
#include "runtime/mcp_servers.h"
#include "runtime/page_pack.h"
#include "runtime/process_output.h"
#include "runtime/sandbox.h"
#include "runtime/server_tools.h"
#include "runtime/tools.h"
#include "runtime/turn_environments.h"
#include "runtime/web.h"
#include "schema/publish.h"
#include "store/blobs/file_blob_store.h"
#include "store/sqlite/sqlite_store.h"

namespace agentrt::runtime {
namespace {

constexpr std::size_t kReaderThreads = 2;
constexpr std::size_t kReaderQueueMax = 8'192;
constexpr std::size_t kPastThreads = 2;  // as many as reads of the past at once
constexpr std::size_t kPastQueueMax = 2;
constexpr std::size_t kWriterQueueMax = 4;
constexpr std::size_t kOutputThreads = 2;
constexpr std::size_t kOutputQueueMax = 1'024;
constexpr std::size_t kToolThreads = 4;  // file tool calls in parallel
constexpr std::size_t kToolQueueMax = 1'024;
constexpr std::size_t kProcessThreads = 1;
constexpr std::size_t kProcessQueueMax = 1'024;
constexpr std::int64_t kDayMs = 24LL * 3'600 * 1'000;
constexpr std::uint64_t kKeepDaysMax = 36'500;  // a larger value is reduced to this

// The modes that the host policy, which allows at most `ceiling`, forbids.
template <class Mode>
std::vector<Mode> laxer_than(Mode ceiling) {
  std::vector<Mode> out;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Mode>>([&](auto each) {
    if (!policy::at_most_as_lax(each.value, ceiling)) out.push_back(each.value);
  });
  return out;
}

control::Settings settings_of(const RuntimeOptions& options,
                              std::shared_ptr<policy::RuleSets> rule_sets) {
  control::Settings settings;
  settings.rule_sets = std::move(rule_sets);
  settings.queue_turns_max = options.config.limits.queue_turns_max;
  settings.tasks_open_max = options.config.limits.tasks_max;
  settings.task_edges_max = options.config.limits.task_edges_max;
  settings.task_depth_max = options.config.limits.task_depth_max;
  settings.turn_steps_max = options.config.limits.turn_steps;
  settings.model_retries_max = options.config.limits.model_retries_max;
  settings.jobs_max = options.config.limits.jobs_running;
  settings.job_concurrency_max = options.config.limits.job_concurrency;
  settings.subagent_depth_max = options.config.limits.subagent_depth;
  settings.subagents_running_max =
      std::min<std::uint64_t>(options.config.limits.subagents_running, settings.subagents_kept_max);
  set_context(options.config.context, settings);
  set_channels(options.config.channels, settings);
  settings.output_keep_ms =
      static_cast<std::int64_t>(std::min(options.config.outputs.keep_days, kKeepDaysMax)) * kDayMs;
  settings.default_cwd = options.cwd;
  settings.home = config::process_environment()("HOME").value_or(settings.home);
  settings.user = config::user_name();
  if (const auto ceiling = options.config.managed_mode)
    settings.modes_forbidden = laxer_than(*ceiling);
  if (const auto ceiling = options.config.managed_sandbox)
    settings.sandboxes_forbidden = laxer_than(*ceiling);
  const bool resumes = options.taken_over || options.config.resume == config::Resume::auto_;
  settings.after_restart = resumes ? control::AfterRestart::resume : control::AfterRestart::ask;
  return settings;
}

outputs::OutputLimits output_limits_of(const config::Config& config) {
  outputs::OutputLimits limits;
  limits.bytes_max = config.outputs.bytes_max;
  limits.upload_bytes_max = config.outputs.upload_bytes_max;
  return limits;
}

// The values that the named environment variables have now.
policy::Redactor redactor_of(const config::Config& config) {
  std::vector<std::string> names = config.redact;
  for (const auto& [name, model] : config.models)
    if (model.api_key_env) names.push_back(*model.api_key_env);
  for (std::string& name : config::secret_names_of(config.mcp_servers))
    names.push_back(std::move(name));
  std::vector<policy::Secret> secrets;
  for (const std::string& name : names)
    if (const char* const value = std::getenv(name.c_str())) secrets.push_back({name, value});
  return policy::Redactor{std::move(secrets)};
}

// Generated on request, so that start-up is not slowed down.
std::optional<std::string> published_document(std::string_view file) {
  for (const schema::PublishedDocument& document : schema::published_documents())
    if (document.file == file) return document.text();
  return std::nullopt;
}

Timestamp wall_clock() { return SystemClock::now(); }

// The configuration with what the files of its folder add once they are trusted; models that were
// named for this start alone stay.
Result<config::Config> with_trust(const config::Config& config, config::TrustRecords& trust) {
  config::ConfigSources sources = config.sources;
  if (sources.workspace.empty()) return config;
  TRY_ASSIGN(sources.trusted, trust.of(config::real_workspace(sources.workspace)));
  if (sources.trusted.empty()) return config;
  TRY_ASSIGN(config::Config trusted, config::load_config(sources, config::process_environment()));
  for (const auto& [name, model] : config.models) trusted.models.try_emplace(name, model);
  return trusted;
}

// Where the person's own AGENTS.md and skills lie: beside their configuration.
std::optional<std::string> user_folder_of(const config::ConfigSources& sources) {
  if (!sources.user) return std::nullopt;
  return std::filesystem::path(*sources.user).parent_path().string();
}

}  // namespace

// In order of creation; the destructor stops them in reverse order.
struct Runtime::Parts {
  explicit Parts(DataFolder owned) : folder(std::move(owned)) {}

  DataFolder folder;
  ports::Metrics metrics;
  SystemEntropy entropy;
  BootId boot;
  policy::Redactor redactor;
  const std::shared_ptr<policy::RuleSets> rule_sets = std::make_shared<policy::RuleSets>();
  std::unique_ptr<TurnEnvironments> environments;
  std::unique_ptr<SystemClock> clock;
  std::unique_ptr<store::SqliteStore> store;
  std::unique_ptr<store::FileBlobStore> blobs;
  std::unique_ptr<CoreLoop> loop;
  std::unique_ptr<ThreadWorker> readers;
  std::unique_ptr<ThreadWorker> past_readers;  // its threads start with the first read
  std::unique_ptr<ThreadWorker> writer;
  std::unique_ptr<ThreadWorker> checkpoints;
  std::unique_ptr<ThreadWorker> output_worker;   // outputs: reads, writes, sweeps
  std::unique_ptr<ThreadWorker> process_worker;  // output of commands
  std::unique_ptr<ThreadWorker> tool_worker;     // files that tools read and write
  std::unique_ptr<kernel::Kernel> kernel;
  std::unique_ptr<outputs::OutputDesk> outputs;
  std::unique_ptr<outputs::StoredJobInputs> job_inputs;
  std::unique_ptr<outputs::Retention> retention;
  std::unique_ptr<adapters::ModelCatalog> models;
  std::unique_ptr<StoredTrust> trust;
  std::unique_ptr<config::FilePolicies> file_policies;
  std::unique_ptr<GrantedPolicies> policies;
  std::unique_ptr<config::DiskFolders> folders;
  std::unique_ptr<adapters::LauncherProcesses> processes;
  std::unique_ptr<adapters::LauncherHooks> hooks;
  std::unique_ptr<DiskInspector> inspector;
  std::unique_ptr<adapters::tools::FileTools> file_tools;
  std::unique_ptr<adapters::WebTools> web_tools;
  std::unique_ptr<McpServers> servers;
  std::unique_ptr<adapters::McpTools> server_tools;
  std::unique_ptr<JoinedTools> tools;
  adapters::DiskWorkspace workspace;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<channels::Tokens> tokens;
  std::unique_ptr<channels::HttpServer> server;
  std::string url;
  Listen listen;
  std::atomic<bool> checkpointing{false};
  std::atomic<bool> recovered{false};
  std::function<void()> on_leave;
  std::function<void(const Error&)> on_gone;
  std::mutex gone_mutex;
  std::optional<Error> gone;  // under gone_mutex: why nothing can be stored any more

  Result<void> open_store(const RuntimeOptions& options);
  void wire(const RuntimeOptions& options);
  void wire_outputs(const RuntimeOptions& options);
  void wire_tools(const RuntimeOptions& options);
  void wire_engine(const RuntimeOptions& options);
  void connect_engine();  // to what the kernel commits
  Result<void> serve(const RuntimeOptions& options);
  void checkpoint_when_due();
  void check_files_later();
  void check_files();
  std::optional<Error> problem();
  OpenWork open_work() const;
  bool leave(channels::LeaveWhen when) const;
  Owner announcement(const RuntimeOptions& options) const;
  void save_clock();
  void stop();
};

Result<void> Runtime::Parts::open_store(const RuntimeOptions& options) {
  store::SqliteOptions sqlite;
  sqlite.path = store_path(options.data);
  sqlite.now = wall_clock();
  sqlite.random = random_bytes;
  TRY_ASSIGN(store, store::SqliteStore::open(std::move(sqlite)));
  TRY_ASSIGN(blobs, store::FileBlobStore::open_folder(blobs_path(options.data)));
  return {};
}

void Runtime::Parts::wire(const RuntimeOptions& options) {
  clock = std::make_unique<SystemClock>(clock_path(options.data));
  loop = std::make_unique<CoreLoop>(metrics, clock.get());
  readers = std::make_unique<ThreadWorker>("agentrt-read", kReaderThreads, kReaderQueueMax);
  past_readers = std::make_unique<ThreadWorker>("agentrt-past", kPastThreads, kPastQueueMax,
                                                ThreadStart::when_needed);
  writer = std::make_unique<ThreadWorker>("agentrt-write", 1, kWriterQueueMax);
  checkpoints = std::make_unique<ThreadWorker>("agentrt-checkpt", 1, 1);
  redactor = redactor_of(options.config);
  boot = FreshIds{wall_clock(), entropy.draw()}.next<BootId>();
  environments = std::make_unique<TurnEnvironments>(
      TurnEnvironments::Parts{
          .folder = environments_path(options.data),
          .worker = *readers,
          .redactor = redactor,
          .own = config::process_environment(),
          .models =
              [this, sources = options.config.sources,
               kind = on_leave ? OwnerKind::background
                               : OwnerKind::serve](const ports::ClientEnvironment& client) {
                return models_of_client(sources, kind, *trust, client);
              },
          .in_use = [this](const std::string& id) { return has_not_ended(*store, id); }},
      read_held(options.held_environments));
  file_policies = std::make_unique<config::FilePolicies>(options.config.sources, *trust,
                                                         [] { return wall_clock().ms; });
  policies = std::make_unique<GrantedPolicies>(*file_policies, *store);
  folders = std::make_unique<config::DiskFolders>(options.config, options.cwd, options.data,
                                                  config::process_environment());
  kernel = std::make_unique<kernel::Kernel>(
      kernel::Kernel::Parts{.store = *store,
                            .loop = *loop,
                            .readers = *readers,
                            .writer = *writer,
                            .entropy = entropy,
                            .metrics = metrics,
                            .settings = settings_of(options, rule_sets),
                            .limits = kernel_limits_of(options.config.channels),
                            .boot = boot,
                            .redactor = &redactor,
                            .policies = policies.get(),
                            .folders = folders.get(),
                            .past_readers = past_readers.get()});
}

void Runtime::Parts::wire_outputs(const RuntimeOptions& options) {
  output_worker = std::make_unique<ThreadWorker>("agentrt-output", kOutputThreads, kOutputQueueMax);
  const outputs::OutputLimits limits = output_limits_of(options.config);
  outputs =
      std::make_unique<outputs::OutputDesk>(outputs::OutputDesk::Parts{.store = *store,
                                                                       .blobs = *blobs,
                                                                       .worker = *output_worker,
                                                                       .clock = *loop,
                                                                       .redactor = redactor,
                                                                       .reports = *kernel,
                                                                       .limits = limits,
                                                                       .seed = entropy.draw()});
  using JobInputs = outputs::StoredJobInputs;
  job_inputs = std::make_unique<JobInputs>(JobInputs::Parts{*store, *blobs, *outputs, *loop});
  kernel->set_job_inputs(*job_inputs);
  retention =
      std::make_unique<outputs::Retention>(outputs::Retention::Parts{.store = *store,
                                                                     .blobs = *blobs,
                                                                     .loop = *loop,
                                                                     .worker = *output_worker,
                                                                     .reports = *kernel,
                                                                     .metrics = metrics,
                                                                     .limits = limits});
}

void Runtime::Parts::wire_tools(const RuntimeOptions& options) {
  tool_worker = std::make_unique<ThreadWorker>("agentrt-files", kToolThreads, kToolQueueMax);
  file_tools = std::make_unique<adapters::tools::FileTools>(adapters::tools::FileTools::Parts{
      .loop = *loop,
      .worker = *tool_worker,
      .keeper = *outputs,
      .outputs = *outputs,
      .redactor = &redactor,
      .profile =
          [config = options.config, data = options.data](const ports::ToolRequest& request) {
            return config::sandbox_profile_of(config,
                                              {.mode = request.sandbox,
                                               .workspace = request.workspace,
                                               .additional_roots = request.additional_roots,
                                               .hidden = request.hidden},
                                              data, config::process_environment());
          },
      .git_excludes =
          [] {
            const config::Environment environment = config::process_environment();
            return adapters::git_excludes(
                {.home = environment("HOME").value_or(""),
                 .config_home = environment("XDG_CONFIG_HOME").value_or("")});
          },
      .process = process_outputs(*store, options.data + "/run")});
  servers = std::make_unique<McpServers>(options.config.sources, *trust, options.data,
                                         config::process_environment());
  server_tools = make_server_tools({.core = *loop,
                                    .worker = *tool_worker,
                                    .keeper = *outputs,
                                    .servers = *servers,
                                    .config = options.config,
                                    .data = options.data,
                                    .cwd = on_leave ? "" : options.cwd,
                                    .redactor = redactor});
  web_tools = make_web_tools(options.config.limits, *loop, *tool_worker, *outputs, redactor);
  kernel->set_file_digests(*file_tools);
  tools = std::make_unique<JoinedTools>(*file_tools, *web_tools, *server_tools);
}

void Runtime::Parts::wire_engine(const RuntimeOptions& options) {
  const std::string home = config::process_environment()("HOME").value_or("");
  workspace = adapters::DiskWorkspace(user_folder_of(options.config.sources), home, outputs.get());
  using Store = TurnEnvironments::Store;
  const auto variables = [this](const TurnId& turn, Store keep) {
    return config::environment_of(environments->variables_of(turn, keep));
  };
  const auto with = [config = options.config, data = options.data, variables](auto make,
                                                                              Store keep) {
    return [config, data, make, variables, keep](const ports::ProcessRequest& request) {
      return make(config,
                  config::SandboxChoice{.mode = request.sandbox,
                                        .network = request.network,
                                        .workspace = request.workspace,
                                        .additional_roots = request.additional_roots,
                                        .cwd = request.cwd,
                                        .hidden = request.hidden,
                                        .write_roots = request.write_roots,
                                        .variables = variables(request.turn, keep),
                                        .shell = true},
                  data, config::process_environment());
    };
  };
  const auto profile = with(config::sandbox_profile_of, Store::no);
  inspector = std::make_unique<DiskInspector>(with(config::sandbox_profile_of, Store::yes));
  hooks = std::make_unique<adapters::LauncherHooks>(adapters::LauncherHooks::Parts{
      .loop = *loop,
      .profile = [config = options.config, data = options.data,
                  variables](const ports::HookRequest& request) {
        return config::hook_profile_of(config, request, data, config::process_environment(),
                                       variables(request.input.turn_id, Store::no));
      }});
  process_worker =
      std::make_unique<ThreadWorker>("agentrt-spool", kProcessThreads, kProcessQueueMax);
  processes = std::make_unique<adapters::LauncherProcesses>(adapters::LauncherProcesses::Parts{
      .loop = *loop,
      .worker = *process_worker,
      .keeper = *outputs,
      .folder = options.data + "/run",
      .profile = profile,
      .outline = with(config::sandbox_outline_of, Store::no),
      .redact =
          [this](std::string text) { return redactor.redact(text).value_or(std::move(text)); },
      .inputs = job_inputs.get()});
  models = std::make_unique<adapters::ModelCatalog>(
      *loop, *readers, models_of(options.config, config::process_environment()),
      [this](const TurnId& turn) { return environments->models_of(turn); });
  engine = std::make_unique<engine::Engine>(
      engine::Engine::Parts{.reports = *kernel,
                            .loop = *loop,
                            .worker = *readers,
                            .models = *models,
                            .workspace = workspace,
                            .history = *kernel,
                            .processes = *processes,
                            .tools = *tools,
                            .policies = *policies,
                            .hooks = *hooks,
                            .inspector = *inspector,
                            .metrics = metrics,
                            .rule_sets = *rule_sets,
                            .boot = boot,
                            .home = home.empty() ? "/nonexistent" : home,
                            .redactor = &redactor,
                            .keeper = outputs.get(),
                            .outputs = outputs.get(),
                            .context = context_of(options.config),
                            .job_inputs = job_inputs.get()});
  connect_engine();
}

void Runtime::Parts::connect_engine() {
  kernel->observe(
      {.begun =
           [this](const state::Session& view, Sequence stored) {
             environments->inherit(view);
             engine->foresee(view, stored);
           },
       .committed =
           [this](const state::Session& view) {
             engine->advance(view);
             environments->committed(view);
             checkpoint_when_due();
           },
       .failed = [this](const SessionId& session) { engine->take_back(session); },
       .blocked =
           [this](const SessionId& session, const Error& error) {
             fmt::print(stderr, "agentrt: session {} is blocked: {}\n", session.text(),
                        error.message);
             engine->end(session);
           },
       .accepted = [this](const schema::Command& command) { engine->give(command); },
       .task_stored = [this](const state::Task& task) { environments->task_stored(task); }});
}

void Runtime::Parts::checkpoint_when_due() {
  if (!store->checkpoint_due() || checkpointing.exchange(true)) return;
  const bool taken = checkpoints->run([this] {
    (void)store->checkpoint();
    checkpointing = false;
  });
  if (!taken) checkpointing = false;
}

void Runtime::Parts::check_files_later() {
  loop->after(kFilesCheckMs, [this] {
    (void)readers->run([this] { check_files(); });
    check_files_later();
  });
}

// Runs on a reader. Records the first failure, and ends the process after the grace period.
void Runtime::Parts::check_files() {
  auto there = folder.check();
  if (there) there = store->check_files();
  if (there || problem()) return;
  {
    const std::lock_guard lock(gone_mutex);
    gone = there.error();
  }
  loop->post([this, why = there.error()] {
    loop->after(kGoneGraceMs, [this, why] {
      if (!on_gone) agentrt::stop(why.message);
      on_gone(why);
    });
  });
}

std::optional<Error> Runtime::Parts::problem() {
  const std::lock_guard lock(gone_mutex);
  return gone;
}

// Runs periodically, so that a changed clock is noticed soon and stored for the next boot.
void Runtime::Parts::save_clock() {
  if (clock->look()) (void)readers->run([this] { clock->save(); });
  loop->after(kClockLookEveryMs, [this] { save_clock(); });
}

Result<void> Runtime::Parts::serve(const RuntimeOptions& options) {
  TRY_ASSIGN(tokens, channels::Tokens::open(options.data, wall_clock, [this](std::string text) {
               return redactor.redact(text).value_or(std::move(text));
             }));
  channels::HttpOptions http = http_options(options);
  listen = options.listen.value_or(Listen{});
  TRY_ASSIGN(http.tls, tls_context(listen, wall_clock()));
  http.problem = [this] { return problem(); };
  http.environments = environments.get();
  http.mcp = server_tools.get();
  http.channels = kernel.get();
  TRY_ASSIGN(http.page, channels::Page::read(page_pack()));
  if (on_leave) http.leave = [this](channels::LeaveWhen when) { return leave(when); };
  server = std::make_unique<channels::HttpServer>(std::move(http), *kernel, *kernel, *outputs,
                                                  metrics, *tokens, published_document);
  loop->start();
  loop->post([this] {
    save_clock();
    kernel->recover([this] { recovered = true; });
    retention->start();
    check_files_later();
  });
  TRY(server->start());
  if (options.listen) url = url_of(*options.listen, server->port());
  return folder.announce(announcement(options));
}

Owner Runtime::Parts::announcement(const RuntimeOptions& options) const {
  Owner owner;
  owner.kind = on_leave ? OwnerKind::background : OwnerKind::serve;
  if (options.listen) owner.url = url;
  if (options.listen && !options.listen->host_names.empty())
    owner.host_name = options.listen->host_names.front();
  owner.started_at = wall_clock();
  if (const auto& named = options.config.sources.named)
    owner.config = std::filesystem::absolute(*named).string();
  owner.config_digest = options.config_digest;
  return owner;
}

OpenWork Runtime::Parts::open_work() const {
  return {.connections = server->connections(),
          .sessions = engine->sessions_in_need(),
          .timers = kernel->armed_timers(),
          .logins = server_tools->unfinished_logins(),
          .recovering = !recovered};
}

bool Runtime::Parts::leave(channels::LeaveWhen when) const {
  OpenWork work = open_work();
  work.connections -= std::min<std::size_t>(work.connections, 1);  // the one that asks
  if (when == channels::LeaveWhen::idle && needed(work)) return false;
  on_leave();
  return true;
}

void Runtime::Parts::stop() {
  if (server) server->stop();
  if (loop) loop->stop();
  if (kernel) kernel->stop_past_reads();
  if (models) models->stop();
  if (processes) processes->stop();
  if (hooks) hooks->stop();
  if (file_tools) file_tools->stop();
  if (web_tools) web_tools->stop();
  if (server_tools) server_tools->stop();
  for (auto* worker : {&readers, &past_readers, &writer, &checkpoints, &output_worker,
                       &process_worker, &tool_worker})
    if (*worker) (*worker)->stop();
  if (clock && loop) clock->save();
}

Result<std::unique_ptr<Runtime>> Runtime::start(RuntimeOptions options) {
  raise_open_file_limit();
  TRY_ASSIGN(DataFolder folder, DataFolder::take(options.data));
  auto parts = std::make_unique<Parts>(std::move(folder));
  parts->on_gone = options.on_gone;
  parts->on_leave = options.on_leave;
  TRY(parts->open_store(options));
  parts->trust = std::make_unique<StoredTrust>(*parts->store);
  TRY_ASSIGN(options.config, with_trust(options.config, *parts->trust));
  parts->wire(options);
  parts->wire_outputs(options);
  parts->wire_tools(options);
  parts->wire_engine(options);
  if (auto served = parts->serve(options); !served) {
    parts->stop();
    return std::unexpected(served.error());
  }
  return std::unique_ptr<Runtime>(new Runtime(std::move(parts)));
}

Runtime::Runtime(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Runtime::~Runtime() { parts_->stop(); }

const std::string& Runtime::url() const { return parts_->url; }
OpenWork Runtime::open_work() const { return parts_->open_work(); }
std::uint64_t Runtime::connections_accepted() const { return parts_->server->accepted(); }

Result<std::string> Runtime::call(std::string command, std::string params) {
  return parts_->server->call(std::move(command), std::move(params));
}
Result<std::unique_ptr<channels::EventFeed>> Runtime::subscribe(SessionId session, Sequence after,
                                                                channels::OnEvent on_event) {
  return parts_->server->subscribe(std::move(session), after, std::move(on_event));
}

Result<void> Runtime::reload_tls() {
  TRY_ASSIGN(auto context, tls_context(parts_->listen, wall_clock()));
  if (context) parts_->server->set_tls(*std::move(context));
  return {};
}

}  // namespace agentrt::runtime
