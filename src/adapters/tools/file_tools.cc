#include "adapters/tools/file_tools.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "adapters/tools/change.h"
#include "adapters/tools/list_files.h"
#include "adapters/tools/read_file.h"
#include "adapters/tools/search_files.h"
#include "base/check.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

constexpr std::array<std::string_view, 5> kTools = {
    schema::ReadFileArgs::kTool, schema::WriteFileArgs::kTool, schema::EditFileArgs::kTool,
    schema::ListFilesArgs::kTool, schema::SearchFilesArgs::kTool};

// The argument that all file tools share. Where it is optional, the default is the workspace.
struct PathArgs {
  std::optional<std::string> path;
};
BOOST_DESCRIBE_STRUCT(PathArgs, (), (path))

template <class Args>
Outcome<Args> args_of(const ports::ToolRequest& request,
                      schema::Unknown others = schema::Unknown::refuse) {
  Args args;
  if (auto read = schema::from_json(request.args.text, args, others); !read)
    return refuse(Category::invalid_input, read.error().message);
  return args;
}

// Redacts secrets, then truncates to the limit again, because redaction may lengthen the text.
std::string redacted(const policy::Redactor* redactor, std::string text) {
  if (redactor) text = redactor->redact(text).value_or(std::move(text));
  return std::string(schema::utf8_prefix(text, schema::kToolTextBytesMax));
}

}  // namespace

// Owned by the worker while a step runs, and by the core between steps.
struct FileTools::Call {
  ports::ToolRequest request;
  std::shared_ptr<ports::ToolListener> listener;
  std::atomic<bool> cancelled = false;
  std::optional<Grounds> grounds;
  std::optional<StagedChange> staged;
  bool waits = false;  // core: waiting for release()

  bool changes() const {
    return request.tool == schema::WriteFileArgs::kTool ||
           request.tool == schema::EditFileArgs::kTool;
  }
  Outcome<Grounds> open(const Parts& parts) const {
    const auto profile = parts.profile(request);
    if (!profile) return refuse(Category::sandbox, profile.error().message);
    return Grounds::open(request, *profile);
  }
  // Runs `work` with the file permissions that a command has at the call's path.
  template <class Work>
  auto with_rights(Work work) const -> decltype(work()) {
    const auto args = args_of<PathArgs>(request, schema::Unknown::ignore);
    const ActingAs acting(grounds->identity_at(args && args->path ? *args->path : "."));
    if (!acting.in_force())
      return refuse(Category::sandbox,
                    "The runtime is root and may not act as the owner of the workspace; run it as "
                    "an ordinary user, or give it CAP_SETUID and CAP_SETGID.");
    return work();
  }
  Outcome<std::string> look(const Parts& parts) const;
  Outcome<void> foresee(const Parts& parts, ports::Sight sight) const;
  Outcome<StagedChange> stage_change(const Parts& parts) const;
  Outcome<StagedChange> stage_again(const Parts& parts) const;
};

// Runs the read-only tools.
Outcome<std::string> FileTools::Call::look(const Parts& parts) const {
  const Until until(cancelled);
  if (request.tool == schema::ReadFileArgs::kTool) {
    TRY_ASSIGN(const auto args, args_of<schema::ReadFileArgs>(request));
    return read_file({*grounds, parts.outputs, request.session, parts.redactor}, args, until);
  }
  if (request.tool == schema::ListFilesArgs::kTool) {
    TRY_ASSIGN(const auto args, args_of<schema::ListFilesArgs>(request));
    return list_files(*grounds, args, until);
  }
  TRY_ASSIGN(const auto args, args_of<schema::SearchFilesArgs>(request));
  return search_files(*grounds, parts.redactor, args, until);
}

// Checks that the path lies in the session's folders. If the model may see the file, also checks
// that the change could be made.
Outcome<void> FileTools::Call::foresee(const Parts& parts, ports::Sight sight) const {
  TRY_ASSIGN(const auto args, args_of<PathArgs>(request, schema::Unknown::ignore));
  if (args.path && !args.path->starts_with(kOutputPath)) TRY(grounds->find_place(*args.path));
  if (sight == ports::Sight::file && changes()) TRY(stage_change(parts));
  return {};
}

Outcome<StagedChange> FileTools::Call::stage_change(const Parts& parts) const {
  if (request.tool == schema::EditFileArgs::kTool) {
    TRY_ASSIGN(const auto args, args_of<schema::EditFileArgs>(request));
    return stage(*grounds, args, parts.redactor);
  }
  TRY_ASSIGN(const auto args, args_of<schema::WriteFileArgs>(request));
  return stage(*grounds, args, parts.redactor);
}

// Stages the announced change again, from a file that has not changed since.
Outcome<StagedChange> FileTools::Call::stage_again(const Parts& parts) const {
  TRY_ASSIGN(StagedChange again, stage_change(parts));
  const schema::FileChange& announced = *request.announced;
  if (again.change.path != announced.path || again.change.after != announced.after)
    return refuse(Category::lost, fmt::format("{} is not the change that was announced any more.",
                                              grounds->shown(announced.path)));
  return again;
}

bool FileTools::serves(std::string_view tool) {
  return std::ranges::find(kTools, tool) != kTools.end();
}

std::optional<schema::Failure> FileTools::objection(const ports::ToolRequest& request,
                                                    ports::Sight sight) const {
  Call call;
  call.request = request;
  auto grounds = call.open(parts_);
  if (!grounds) return std::move(grounds.error());
  call.grounds = *std::move(grounds);
  auto foreseen = call.with_rights([&] { return call.foresee(parts_, sight); });
  if (foreseen) return std::nullopt;
  foreseen.error().message = redacted(parts_.redactor, std::move(foreseen.error().message));
  return std::move(foreseen.error());
}

void FileTools::start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) {
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->listener = std::move(listener);
  check(calls_.emplace(call->request.call, call).second, "a call runs once at a time");
  run(call, &FileTools::begin);
}

void FileTools::run(const CallPtr& call, void (FileTools::*step)(const CallPtr&)) {
  const bool taken = parts_.worker.run([this, call, step] {
    if (!call->cancelled) (this->*step)(call);
  });
  if (taken) return;
  end(call,
      {.failure = schema::Failure{Category::unavailable,
                                  "Too many file calls wait already; try again later.", true}});
}

void FileTools::begin(const CallPtr& call) {
  auto grounds = call->open(parts_);
  if (!grounds) return end(call, {.failure = grounds.error()});
  call->grounds = *std::move(grounds);
  if (!call->changes()) {
    auto text = call->with_rights([&] { return call->look(parts_); });
    if (!text) return end(call, {.failure = text.error()});
    return end(call, {.text = *std::move(text)});
  }
  if (call->request.announced) return take_up(call);
  auto staged = call->with_rights([&] { return call->stage_change(parts_); });
  if (!staged) return end(call, {.failure = staged.error()});
  call->staged = *std::move(staged);
  auto diff = parts_.keeper.keep_bytes(call->staged->diff, {.media_type = "text/x-diff"});
  if (!diff)
    return end(call, {.failure = schema::Failure{
                          Category::unavailable,
                          fmt::format("The diff cannot be kept: {}", diff.error().message), true}});
  call->staged->diff = {};
  announce(call, *std::move(diff));
}

// Continues a call whose change another boot announced; the file shows whether it was made.
void FileTools::take_up(const CallPtr& call) {
  const schema::FileChange& announced = *call->request.announced;
  const auto state = call->with_rights([&] { return find_state(*call->grounds, announced); });
  if (!state) return end(call, {.failure = state.error()});
  if (*state == FileState::after) return end(call, {.text = told(*call->grounds, announced)});
  if (*state == FileState::other)
    return end(call, {.failure = schema::Failure{
                          Category::lost,
                          fmt::format("{} is neither as it was before this call nor as the call "
                                      "would have left it: somebody else changed it. Read it "
                                      "again.",
                                      call->grounds->shown(announced.path)),
                          false}});
  auto again = call->with_rights([&] { return call->stage_again(parts_); });
  if (!again) return end(call, {.failure = again.error()});
  call->staged = *std::move(again);
  make(call);
}

void FileTools::make(const CallPtr& call) {
  const auto placed = call->with_rights([&]() -> Outcome<void> {
    TRY_ASSIGN(StagedFile file,
               StagedFile::write(*call->grounds, *call->staged, call->request.call));
    if (call->cancelled) return {};  // the listener is not called after a cancel
    const std::scoped_lock lock(placing_);
    return file.put_in_place(*call->staged);
  });
  if (!placed) return end(call, {.failure = placed.error()});
  end(call, {.text = told(*call->grounds, call->staged->change)});
}

void FileTools::announce(const CallPtr& call, schema::KeptOutput diff) {
  schema::FileChange change = call->staged->change;
  change.diff_ref = diff.ref.text();
  parts_.loop.post([call, change = std::move(change), diff = std::move(diff)]() mutable {
    if (call->cancelled) return;
    call->waits = true;
    call->listener->on_change(std::move(change), std::move(diff));
  });
}

void FileTools::end(const CallPtr& call, ports::ToolEnd end) {
  end.text = redacted(parts_.redactor, std::move(end.text));
  if (end.failure)
    end.failure->message = redacted(parts_.redactor, std::move(end.failure->message));
  parts_.loop.post([this, call, end = std::move(end)]() mutable {
    if (call->cancelled) return;
    calls_.erase(call->request.call);
    call->listener->on_ended(std::move(end));
  });
}

void FileTools::release(const ToolCallId& call) {
  const auto found = calls_.find(call);
  if (found == calls_.end() || !std::exchange(found->second->waits, false)) return;
  run(found->second, &FileTools::make);
}

void FileTools::cancel(const ToolCallId& call) {
  if (const auto found = calls_.extract(call)) found.mapped()->cancelled = true;
}

void FileTools::stop() {
  for (auto& [id, call] : calls_) call->cancelled = true;
  calls_.clear();
}

}  // namespace agentrt::adapters::tools
