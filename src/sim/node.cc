#include "sim/node.h"

#include "base/check.h"

namespace agentrt::sim {
namespace {

constexpr std::int64_t kFarMs = 600'000;  // timers beyond this are housekeeping of the kernel

std::shared_ptr<store::MemoryDisk> fresh_disk(std::uint64_t seed) {
  Random random{seed ^ 0xd15c};
  const auto bytes = [&](std::size_t count) {
    std::string out(count, '\0');
    for (char& c : out) c = static_cast<char>(random.below(256));
    return out;
  };
  return std::make_shared<store::MemoryDisk>(store::fresh_identity(Timestamp{1}, bytes));
}

}  // namespace

Node::Node(Options options)
    : options_(std::move(options)),
      time_(options_.seed),
      entropy_(options_.seed ^ 0xe47),
      disk_(fresh_disk(options_.seed)) {
  governance_.policy = options_.policy;
  start();
}

Node::~Node() { crash(); }

void Node::start() {
  boot_ = time_.begin();
  store_ = std::make_unique<store::MemoryStore>(disk_);
  if (options_.seams.store) seam_ = options_.seams.store(*store_);
  store::Store& store = seam_ ? *seam_ : *store_;
  boot_id_ = FreshIds{time_.now(), entropy_.draw()}.next<BootId>();
  kernel_ = std::make_unique<kernel::Kernel>(kernel::Kernel::Parts{.store = store,
                                                                   .loop = *boot_.loop,
                                                                   .readers = *boot_.readers,
                                                                   .writer = *boot_.writer,
                                                                   .entropy = entropy_,
                                                                   .metrics = metrics_,
                                                                   .settings = options_.settings,
                                                                   .limits = options_.limits,
                                                                   .boot = boot_id_,
                                                                   .policies = &policies_});
  job_inputs_.set_store(store);
  kernel_->set_job_inputs(job_inputs_);
  if (options_.seams.models) {
    models_ = options_.seams.models(*boot_.loop);
  } else {
    auto fake = std::make_unique<FakeModels>(*boot_.loop, options_.answers);
    fake_models_ = fake.get();
    models_ = std::move(fake);
  }
  if (options_.seams.history) history_ = options_.seams.history(*kernel_);
  processes_ = std::make_unique<FakeProcesses>(*boot_.loop, machine_);
  tools_ = std::make_unique<FakeTools>(*boot_.loop, files_);
  hooks_ = std::make_unique<FakeHooks>(*boot_.loop, governance_);
  engine_ = std::make_unique<engine::Engine>(
      engine::Engine::Parts{.reports = *kernel_,
                            .loop = *boot_.loop,
                            .worker = *boot_.readers,
                            .models = *models_,
                            .workspace = workspace_,
                            .history = history_ ? *history_ : *kernel_,
                            .processes = *processes_,
                            .tools = *tools_,
                            .policies = policies_,
                            .hooks = *hooks_,
                            .inspector = inspector_,
                            .metrics = metrics_,
                            .rule_sets = *options_.settings.rule_sets,
                            .boot = boot_id_,
                            .job_inputs = &job_inputs_});
  kernel_->observe(
      {.begun = [this](const state::Session& view,
                       Sequence stored) { engine_->foresee(view, stored); },
       .committed =
           [this](const state::Session& view) {
             shown_[view.id] = view;
             if (options_.seams.shown) options_.seams.shown(view);
             engine_->advance(view);
           },
       .failed = [this](const SessionId& session) { engine_->take_back(session); },
       .blocked = [this](const SessionId& session, const Error&) { engine_->end(session); },
       .accepted = [this](const schema::Command& command) { engine_->give(command); }});
  kernel_->listen([this](const ports::FeedBatch& batch) {
    if (options_.seams.published) return options_.seams.published(batch);
    for (const ports::FeedEvent& event : *batch) published_.push_back(event.event);
  });
  recovered_ = false;
  boot_.loop->post([this] { kernel_->recover([this] { recovered_ = true; }); });
}

void Node::crash() {
  if (fake_models_) model_requests_ += std::exchange(fake_models_, nullptr)->started();
  // Posted steps do not run any more, but destructors may still cancel timers.
  const VirtualTime::Boot ended = std::move(boot_);
  shown_.clear();
  engine_.reset();
  hooks_.reset();
  tools_.reset();
  processes_.reset();
  machine_.lose_runtime();
  models_.reset();
  history_.reset();
  kernel_.reset();
  seam_.reset();
  store_.reset();
  metrics_.sessions_in_memory = 0;
}

void Node::settle(std::size_t steps_max) {
  const Timestamp far = time_.now() + kFarMs;
  for (std::size_t i = 0; i < steps_max && time_.now() < far; ++i)
    if (!time_.step(boot_)) return;
}

Node::Slot Node::send(const std::string& command, const std::string& params,
                      const std::string& principal) {
  auto slot = std::make_shared<std::optional<ports::Reply>>();
  call(command, params, principal, [slot](ports::Reply reply) { *slot = std::move(reply); });
  return slot;
}

void Node::call(const std::string& command, const std::string& params, const std::string& principal,
                ports::ReplyTo reply_to) {
  call_as({.id = principal, .scopes = {schema::TokenScope::admin}, .session = {}, .folder = {}},
          command, params, std::move(reply_to));
}

void Node::call_as(const channels::Identity& identity, const std::string& command,
                   const std::string& params, ports::ReplyTo reply_to) {
  auto read = schema::read_command(command, params);
  if (!read) return reply_to(std::unexpected(read.error()));
  auto allowed = channels::Authorization::command(&identity, *std::move(read), {});
  if (!allowed) return reply_to(std::unexpected(allowed.error()));
  kernel_->call(*std::move(allowed), std::move(reply_to));
}

ports::Reply Node::ask(const std::string& command, const std::string& params) {
  return await(send(command, params));
}

ports::Reply Node::ask_as(const channels::Identity& identity, const std::string& command,
                          const std::string& params) {
  auto slot = std::make_shared<std::optional<ports::Reply>>();
  call_as(identity, command, params, [slot](ports::Reply reply) { *slot = std::move(reply); });
  return await(slot);
}

ports::Reply Node::await(const Slot& slot) {
  for (int i = 0; i < 100'000 && !slot->has_value(); ++i) check(step(), "a command is answered");
  check(slot->has_value(), "a command is answered");
  return **slot;
}

std::vector<schema::StoredEvent> Node::log(const SessionId& session) {
  std::vector<schema::StoredEvent> out;
  for (;;) {
    auto page = store_->events(session, out.size(), 256, 1 << 20);
    if (!page || page->empty()) return out;
    for (store::Event& event : *page) out.push_back(std::move(event.event));
  }
}

state::Session Node::replayed(const SessionId& session) {
  state::Session view;
  view.id = session;
  for (const schema::StoredEvent& event : log(session)) {
    const auto fact = schema::decode(event);
    check(fact.has_value(), "a stored fact can be read");
    state::fold(view, *fact);
  }
  return view;
}

const state::Session* Node::shown(const SessionId& session) const {
  const auto found = shown_.find(session);
  return found == shown_.end() ? nullptr : &found->second;
}

}  // namespace agentrt::sim
