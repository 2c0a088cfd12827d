#include "runtime/turn_environments.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "base/digest.h"
#include "policy/folders.h"
#include "policy/sandbox_profile.h"
#include "schema/codec.h"

namespace agentrt::runtime {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "env-", kSuffix = ".json";

struct StoredEnvironment {
  std::vector<ports::EnvironmentVariable> variables;
};
BOOST_DESCRIBE_STRUCT(StoredEnvironment, (), (variables))

std::string reason(int error) { return std::generic_category().message(error); }

// Whole or not at all: a rename puts it in place.
Result<void> write_file(const std::string& path, const std::string& text) {
  const std::string fresh = path + ".new";
  const Descriptor file(
      ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  const bool written =
      file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (written && ::rename(fresh.c_str(), path.c_str()) == 0) return {};
  const int error = errno;
  ::unlink(fresh.c_str());
  return fail(error == ENOSPC ? Code::storage_full : Code::unavailable,
              fmt::format("{} cannot be written: {}", path, reason(error)));
}

std::optional<TurnEnvironments::Variables> read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return std::nullopt;
  std::string text(2 * ports::kClientEnvironmentBytesMax, '\0');
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  StoredEnvironment stored;
  if (!schema::check_json(text) || !schema::from_json(text, stored, schema::Unknown::ignore))
    return std::nullopt;
  return std::move(stored.variables);
}

// The environment of a subagent between its turns is kept under its own id.
TurnId kept_for(const SubagentId& subagent) { return TurnId{subagent.text()}; }
// Likewise that of a task or a job, until it ends.
TurnId kept_for(const TaskId& task) { return TurnId{task.text()}; }
TurnId kept_for(const JobId& job) { return TurnId{job.text()}; }

bool is_name(std::string_view name) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  return !name.empty() && name.find_first_not_of(kLetters) == name.npos;
}

Result<void> check(const ports::ClientEnvironment& environment) {
  const auto kept = policy::environment_kept();
  for (const auto& [name, value] : environment.variables) {
    if (std::ranges::find(kept, name) == kept.end())
      return fail(Code::invalid_params,
                  fmt::format("variables: {} is not one that commands get", name));
    if (value.contains('\0')) return fail(Code::invalid_params, "variables: a value has a NUL");
  }
  for (const auto* names : {&environment.settings, &environment.credentials})
    for (const auto& [name, value] : *names)
      if (!is_name(name) || value.contains('\0'))
        return fail(Code::invalid_params,
                    fmt::format("{} is not a variable of an environment", name));
  if (environment.workspace && policy::wrong_folder("", *environment.workspace))
    return fail(Code::invalid_params, "workspace: expected the absolute path of a folder");
  return {};
}

}  // namespace

TurnEnvironments::TurnEnvironments(Parts parts, const ports::HeldEnvironments& taken_over)
    : parts_(std::move(parts)) {
  ::mkdir(parts_.folder.c_str(), 0700);
  std::error_code error;
  const auto oldest = fs::file_time_type::clock::now() - std::chrono::milliseconds(kFilesKeptMs);
  for (const auto& file : fs::directory_iterator(parts_.folder, error)) {
    const std::string name = file.path().filename().string();
    const bool ours = name.starts_with(kPrefix) && name.ends_with(kSuffix) &&
                      name.size() > kPrefix.size() + kSuffix.size();
    const std::string id =
        ours ? name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size()) : "";
    const bool old = fs::last_write_time(file.path(), error) < oldest;
    if (!ours || (old && !(parts_.in_use && parts_.in_use(id)))) {
      ::unlink(file.path().c_str());
      continue;
    }
    if (entries_.size() >= parts_.turns_max) continue;
    Entry& entry = entries_[TurnId(id)];
    entry.stored = true;
    entry.since_ms = now_ms();
  }
  for (const ports::HeldEnvironment& held : taken_over.data)
    (void)accept(held.turn_id, held.environment);
}

ports::HeldEnvironments TurnEnvironments::held() const {
  const std::lock_guard lock(mutex_);
  ports::HeldEnvironments out;
  for (const auto& [turn, entry] : entries_)
    if (entry.models) out.data.push_back({turn, entry.client});
  return out;
}

std::string TurnEnvironments::path_of(const TurnId& turn) const {
  return fmt::format("{}/{}{}{}", parts_.folder, kPrefix, turn.text(), kSuffix);
}

void TurnEnvironments::offer(TurnId turn, ports::ClientEnvironment environment,
                             ports::ReplyTo reply_to) {
  auto shared = std::make_shared<ports::ReplyTo>(std::move(reply_to));
  const bool taken =
      parts_.worker.run([this, turn = std::move(turn), environment = std::move(environment),
                         shared] { (*shared)(accept(turn, environment)); });
  if (!taken) (*shared)(fail(Code::overloaded, "too many reads are in progress: try again"));
}

Result<std::string> TurnEnvironments::accept(const TurnId& turn,
                                             const ports::ClientEnvironment& environment) {
  TRY(check(environment));
  TRY(learn(environment.credentials));
  TRY_ASSIGN(adapters::ModelSet models, parts_.models(environment));
  {
    const std::lock_guard lock(mutex_);
    const bool fresh = !entries_.contains(turn);
    if (fresh && entries_.size() >= parts_.turns_max) make_room();
    if (fresh && entries_.size() >= parts_.turns_max)
      return fail(Code::limit_exceeded,
                  fmt::format("{} turns have an environment already; end some", parts_.turns_max));
    Entry& entry = entries_[turn];
    if (fresh) entry.since_ms = now_ms();
    entry.client = environment;
    entry.models = std::make_shared<const adapters::ModelSet>(std::move(models));
    if (entry.stored || entry.variables) return "{}";
    entry.variables = environment.variables;
    entry.stored = true;
  }
  TRY(write_file(path_of(turn), schema::to_json(StoredEnvironment{environment.variables})));
  return "{}";
}

// Before anything can be stored that holds one of them.
Result<void> TurnEnvironments::learn(const Variables& credentials) {
  std::vector<policy::Secret> fresh;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, value] : credentials) {
      std::string digest(bytes_of(sha256(value)));
      if (secrets_.contains(digest)) continue;
      if (secrets_.size() >= kSecretsMax)
        return fail(
            Code::limit_exceeded,
            fmt::format("{} different credentials were used; restart the process that owns the "
                        "data folder (agentrt stop, or agentrt serve anew)",
                        kSecretsMax));
      secrets_.insert(std::move(digest));
      fresh.push_back({name, value});
    }
  }
  parts_.redactor.add(std::move(fresh));
  return {};
}

TurnEnvironments::Variables TurnEnvironments::own_variables() const {
  Variables out;
  for (const std::string_view name : policy::environment_kept())
    if (auto value = parts_.own(name)) out.push_back({std::string(name), *std::move(value)});
  return out;
}

TurnEnvironments::Variables TurnEnvironments::variables_of(const TurnId& turn, Store store) {
  bool write = false;
  Variables found;
  {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(turn);
    if (known == entries_.end() && (store == Store::no || turn.empty())) return own_variables();
    Entry& entry = entries_[turn];
    entry.claimed = true;
    if (!entry.variables && entry.stored) entry.variables = read_file(path_of(turn));
    if (!entry.variables && entry.copy_of) entry.variables = read_file(path_of(*entry.copy_of));
    if (!entry.variables) entry.variables = own_variables();
    write = !entry.stored;
    entry.stored = true;
    found = *entry.variables;
  }
  // Without the file only a restart could change the environment, which the digest would show.
  if (write) (void)write_file(path_of(turn), schema::to_json(StoredEnvironment{found}));
  return found;
}

std::shared_ptr<const adapters::ModelSet> TurnEnvironments::models_of(const TurnId& turn) const {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(turn);
  return known == entries_.end() ? nullptr : known->second.models;
}

void TurnEnvironments::forget(const TurnId& turn) {
  {
    const std::lock_guard lock(mutex_);
    if (entries_.erase(turn) == 0) return;
  }
  (void)parts_.worker.run([path = path_of(turn)] { ::unlink(path.c_str()); });
}

std::int64_t TurnEnvironments::now_ms() const {
  if (parts_.now_ms) return parts_.now_ms();
  using std::chrono::steady_clock;
  return std::chrono::floor<std::chrono::milliseconds>(steady_clock::now().time_since_epoch())
      .count();
}

// A client that was refused, or that left before it submitted its turn, leaves one behind.
void TurnEnvironments::make_room() {
  const std::int64_t latest = now_ms() - kUnclaimedMs;
  std::erase_if(entries_, [&](const auto& each) {
    const auto& [turn, entry] = each;
    if (entry.claimed || entry.since_ms > latest) return false;
    ::unlink(path_of(turn).c_str());
    return true;
  });
}

// Gives `to` the environment of `from`, unless it has one. The core does not read files: variables
// that are only in the file of `from` are read there when a command needs them. REQUIRES: mutex_ is
// held.
void TurnEnvironments::copy(const TurnId& from, const TurnId& to) {
  const auto known = entries_.find(from);
  if (known == entries_.end()) return;
  if (const auto has = entries_.find(to); has != entries_.end()) {
    if (has->second.models) return;
    has->second.models = known->second.models;  // after a restart, of the client that resumes
    has->second.client = known->second.client;
    return;
  }
  if (entries_.size() >= parts_.turns_max) return;
  Entry entry = known->second;
  entry.claimed = true;
  if (!entry.variables && !entry.stored) return;
  if (!entry.variables && !entry.copy_of) entry.copy_of = from;
  entry.stored = true;
  (void)parts_.worker.run([source = path_of(entry.copy_of.value_or(from)), path = path_of(to),
                           variables = entry.variables]() mutable {
    if (!variables) variables = read_file(source);
    if (variables) (void)write_file(path, schema::to_json(StoredEnvironment{*variables}));
  });
  entries_.emplace(to, std::move(entry));
}

// REQUIRES: mutex_ is held.
void TurnEnvironments::inherit_task(const TaskId& task, const TurnId& to) {
  if (entries_.contains(kept_for(task))) copy(kept_for(task), to);
}

void TurnEnvironments::inherit(const state::Session& view) {
  const std::lock_guard lock(mutex_);
  if (entries_.empty()) return;
  for (const auto& [id, job] : view.jobs) inherit_task(job.record.ids.task, kept_for(id));
  for (const auto& [_, thread] : view.threads) {
    const auto take = [&](const state::Turn& turn) {
      if (!turn.item) inherit_task(turn.ids.task, turn.ids.turn);
    };
    if (thread.active) take(*thread.active);
    std::ranges::for_each(thread.queue, take);
  }
  for (const auto& [id, subagent] : view.subagents) {
    if (subagent.parent_turn) copy(*subagent.parent_turn, kept_for(id));
    const state::Thread* thread = state::find_thread(view, subagent.thread);
    if (!thread) continue;
    if (thread->active) copy(kept_for(id), thread->active->ids.turn);
    for (const state::Turn& turn : thread->queue) copy(kept_for(id), turn.ids.turn);
  }
}

void TurnEnvironments::task_stored(const state::Task& task) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = entries_.find(kept_for(task.task_id));
    if (known == entries_.end()) return;
    known->second.claimed = true;
  }
  using enum schema::TaskStatus;
  if (task.status == completed || task.status == cancelled || task.status == archived)
    forget(kept_for(task.task_id));
}

void TurnEnvironments::committed(const state::Session& view) {
  std::unordered_set<TurnId> now;
  {
    const std::lock_guard lock(mutex_);
    if (entries_.empty()) return;
    const auto note = [&](const TurnId& turn) {
      const auto known = entries_.find(turn);
      if (known == entries_.end()) return;
      known->second.claimed = true;
      now.insert(turn);
    };
    for (const auto& [_, thread] : view.threads) {
      if (thread.active) note(thread.active->ids.turn);
      for (const state::Turn& turn : thread.queue) note(turn.ids.turn);
    }
    for (const auto& [job, _] : view.jobs) note(kept_for(job));  // of all its items
    for (const auto& [id, _] : view.subagents) {
      const auto known = entries_.find(kept_for(id));
      if (known == entries_.end()) continue;
      known->second.claimed = true;
      now.insert(kept_for(id));
    }
  }
  const auto before = open_.find(view.id);
  if (before != open_.end())
    for (const TurnId& turn : before->second)
      if (!now.contains(turn)) forget(turn);
  if (!now.empty())
    open_[view.id] = std::move(now);
  else if (before != open_.end())
    open_.erase(before);
}

}  // namespace agentrt::runtime
