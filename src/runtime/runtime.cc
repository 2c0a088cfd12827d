#include "runtime/runtime.h"

#include <sys/resource.h>

#include <atomic>

#include <fmt/format.h>

#include "adapters/files/workspace.h"
#include "adapters/models/catalog.h"
#include "channels/http_server.h"
#include "engine/engine.h"
#include "kernel/kernel.h"
#include "runtime/core_loop.h"
#include "runtime/data_folder.h"
#include "schema/publish.h"
#include "store/sqlite/sqlite_store.h"

namespace agentrt::runtime {
namespace {

constexpr std::size_t kReaderThreads = 2;
constexpr std::size_t kReaderQueueMax = 8'192;
constexpr std::size_t kWriterQueueMax = 4;

control::Settings settings_of(const RuntimeOptions& options) {
  control::Settings settings;
  settings.queue_turns_max = options.config.limits.queue_turns_max;
  settings.turn_steps_max = options.config.limits.turn_steps;
  settings.model_retries_max = options.config.limits.model_retries_max;
  settings.default_cwd = options.cwd;
  settings.after_restart = options.config.resume == Resume::auto_ ? control::AfterRestart::resume
                                                                  : control::AfterRestart::ask;
  return settings;
}

std::vector<adapters::ConfiguredModel> models_of(const Config& config) {
  std::vector<adapters::ConfiguredModel> models;
  for (const auto& [name, model] : config.models)
    models.push_back({{name, model.provider, model.model, model.capabilities, model.context_tokens},
                      model.script});
  return models;
}

adapters::ModelRouting routing_of(const Config& config) {
  return {config.routing.default_name.value_or(""), config.routing.fallback,
          config.routing.candidates.value_or(std::vector<std::string>{})};
}

// Made when somebody asks: start-up does not pay for them.
std::optional<std::string> published_document(std::string_view file) {
  for (const schema::PublishedDocument& document : schema::published_documents())
    if (document.file == file) return document.text();
  return std::nullopt;
}

std::string url_of(const Listen& listen, unsigned port) {
  const bool bare_ipv6 = listen.address.find(':') != std::string::npos;
  return fmt::format("http://{}{}{}:{}", bare_ipv6 ? "[" : "", listen.address, bare_ipv6 ? "]" : "",
                     port);
}

// As many descriptors as the system lets this process have: a stream costs one.
void raise_open_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

channels::HttpOptions http_options(const RuntimeOptions& options) {
  channels::HttpOptions http;
  http.socket_path = socket_path(options.data);
  if (options.listen) {
    http.tcp = channels::HttpAddress{options.listen->address, options.listen->port};
    http.host_names = options.listen->host_names;
  }
  return http;
}

Timestamp wall_clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<std::chrono::milliseconds>(since).count()};
}

}  // namespace

// In the order they are made; the destructor stops them in the opposite one.
struct Runtime::Parts {
  explicit Parts(DataFolder owned) : folder(std::move(owned)) {}

  DataFolder folder;
  ports::Metrics metrics;
  SystemEntropy entropy;
  std::unique_ptr<store::SqliteStore> store;
  std::unique_ptr<CoreLoop> loop;
  std::unique_ptr<ThreadWorker> readers;
  std::unique_ptr<ThreadWorker> writer;
  std::unique_ptr<ThreadWorker> checkpoints;
  std::unique_ptr<kernel::Kernel> kernel;
  std::unique_ptr<adapters::ModelCatalog> models;
  adapters::DiskWorkspace workspace;
  std::unique_ptr<engine::Engine> engine;
  std::unique_ptr<channels::Tokens> tokens;
  std::unique_ptr<channels::HttpServer> server;
  std::string url;
  std::atomic<bool> checkpointing{false};

  Result<void> open_store(const RuntimeOptions& options);
  void wire(const RuntimeOptions& options);
  Result<void> serve(const RuntimeOptions& options);
  void checkpoint_when_due();
  void stop();
};

Result<void> Runtime::Parts::open_store(const RuntimeOptions& options) {
  store::SqliteOptions sqlite;
  sqlite.path = store_path(options.data);
  sqlite.now = wall_clock();
  sqlite.random = random_bytes;
  TRY_ASSIGN(store, store::SqliteStore::open(std::move(sqlite)));
  return {};
}

void Runtime::Parts::wire(const RuntimeOptions& options) {
  loop = std::make_unique<CoreLoop>(metrics);
  readers = std::make_unique<ThreadWorker>(kReaderThreads, kReaderQueueMax);
  writer = std::make_unique<ThreadWorker>(1, kWriterQueueMax);
  checkpoints = std::make_unique<ThreadWorker>(1, 1);
  const BootId boot = FreshIds{wall_clock(), entropy.draw()}.next<BootId>();
  kernel = std::make_unique<kernel::Kernel>(kernel::Kernel::Parts{.store = *store,
                                                                  .loop = *loop,
                                                                  .readers = *readers,
                                                                  .writer = *writer,
                                                                  .entropy = entropy,
                                                                  .metrics = metrics,
                                                                  .settings = settings_of(options),
                                                                  .limits = {},
                                                                  .boot = boot});
  models = std::make_unique<adapters::ModelCatalog>(*loop, *readers, models_of(options.config),
                                                    routing_of(options.config));
  engine = std::make_unique<engine::Engine>(engine::Engine::Parts{.reports = *kernel,
                                                                  .loop = *loop,
                                                                  .worker = *readers,
                                                                  .models = *models,
                                                                  .workspace = workspace,
                                                                  .history = *kernel,
                                                                  .metrics = metrics,
                                                                  .boot = boot});
  kernel->on_committed([this](const state::Session& view) {
    engine->advance(view);
    checkpoint_when_due();
  });
}

void Runtime::Parts::checkpoint_when_due() {
  if (!store->checkpoint_due() || checkpointing.exchange(true)) return;
  const bool taken = checkpoints->run([this] {
    (void)store->checkpoint();
    checkpointing = false;
  });
  if (!taken) checkpointing = false;
}

Result<void> Runtime::Parts::serve(const RuntimeOptions& options) {
  TRY_ASSIGN(tokens, channels::Tokens::open(options.data, wall_clock));
  server = std::make_unique<channels::HttpServer>(http_options(options), *kernel, *kernel, metrics,
                                                  *tokens, published_document);
  loop->start();
  loop->post([this] { kernel->recover({}); });
  TRY(server->start());
  if (options.listen) url = url_of(*options.listen, server->port());
  return folder.announce(options.listen ? std::optional(url) : std::nullopt, wall_clock());
}

void Runtime::Parts::stop() {
  if (server) server->stop();
  if (loop) loop->stop();
  for (auto* worker : {&readers, &writer, &checkpoints})
    if (*worker) (*worker)->stop();
}

Result<std::unique_ptr<Runtime>> Runtime::start(RuntimeOptions options) {
  raise_open_file_limit();
  TRY_ASSIGN(DataFolder folder, DataFolder::take(options.data));
  auto parts = std::make_unique<Parts>(std::move(folder));
  TRY(parts->open_store(options));
  parts->wire(options);
  if (auto served = parts->serve(options); !served) {
    parts->stop();
    return std::unexpected(served.error());
  }
  return std::unique_ptr<Runtime>(new Runtime(std::move(parts)));
}

Runtime::Runtime(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Runtime::~Runtime() { parts_->stop(); }

const std::string& Runtime::url() const { return parts_->url; }
std::size_t Runtime::connections() const { return parts_->server->connections(); }
std::size_t Runtime::active_turns() const { return parts_->engine->running(); }

}  // namespace agentrt::runtime
