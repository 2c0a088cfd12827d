#include "adapters/tools/file_tools.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "adapters/tools/change.h"
#include "adapters/tools/list_files.h"
#include "adapters/tools/read_file.h"
#include "adapters/tools/restore.h"
#include "adapters/tools/search_files.h"
#include "base/check.h"
#include "tools/registry.h"

namespace agentrt::adapters::tools {

using schema::Category;

namespace {

template <class Args>
Outcome<Args> args_of(const ports::ToolRequest& request) {
  Args args;
  if (auto read = schema::from_json(request.args.text, args, schema::Unknown::refuse); !read)
    return refuse(Category::invalid_input, read.error().message);
  return args;
}

// What an implementation gets besides the arguments.
struct Work {
  const Grounds& grounds;
  const FileTools::Parts& parts;
  const ports::ToolRequest& request;
  Result<ProcessText>* process = nullptr;  // set if the path names one
};

// The user's global git excludes; empty: there are none.
std::string excludes_of(const Work& work) {
  return work.parts.git_excludes ? work.parts.git_excludes() : "";
}

// How a file tool is run. Exactly one of the two is set.
struct Implementation {
  std::string_view tool;
  Outcome<Found> (*look)(const Work& work, const Until& until) = nullptr;  // only reads
  Outcome<StagedChange> (*stage)(const Work& work) = nullptr;              // changes a file
};

Outcome<Found> as_found(Outcome<std::string> text) {
  if (!text) return std::unexpected(std::move(text.error()));
  return Found{*std::move(text), {}};
}

Outcome<Found> look(const Work& work, const agentrt::tools::ReadFileArgs& args,
                    const Until& until) {
  return read_file(
      {work.grounds, work.parts.outputs, work.request.session, work.parts.redactor, work.process},
      args, until);
}
Outcome<Found> look(const Work& work, const agentrt::tools::ListFilesArgs& args,
                    const Until& until) {
  return as_found(list_files(work.grounds, args, excludes_of(work), until));
}
Outcome<Found> look(const Work& work, const agentrt::tools::SearchFilesArgs& args,
                    const Until& until) {
  return as_found(search_files(work.grounds, work.parts.redactor, args, excludes_of(work), until));
}

template <class Args>
constexpr Implementation reads(const agentrt::tools::ToolSpec& tool) {
  return {.tool = tool.name, .look = [](const Work& work, const Until& until) -> Outcome<Found> {
            TRY_ASSIGN(const auto args, args_of<Args>(work.request));
            return look(work, args, until);
          }};
}

template <class Args>
constexpr Implementation changes(const agentrt::tools::ToolSpec& tool) {
  return {.tool = tool.name, .stage = [](const Work& work) -> Outcome<StagedChange> {
            TRY_ASSIGN(const auto args, args_of<Args>(work.request));
            return stage(work.grounds, args, work.parts.redactor);
          }};
}

constexpr Implementation kRestores = {
    .tool = agentrt::tools::kRestoreFile.name,
    .stage = [](const Work& work) -> Outcome<StagedChange> {
      TRY_ASSIGN(const auto args, args_of<agentrt::tools::RestoreFileArgs>(work.request));
      return stage(work.grounds, args, work.parts.outputs, work.request.session);
    }};

constexpr Implementation kImplementations[] = {
    kRestores,
    reads<agentrt::tools::ReadFileArgs>(agentrt::tools::kReadFile),
    changes<agentrt::tools::WriteFileArgs>(agentrt::tools::kWriteFile),
    changes<agentrt::tools::EditFileArgs>(agentrt::tools::kEditFile),
    reads<agentrt::tools::ListFilesArgs>(agentrt::tools::kListFiles),
    reads<agentrt::tools::SearchFilesArgs>(agentrt::tools::kSearchFiles),
};

// REQUIRES: FileTools::serves(tool).
const Implementation& implementation_of(std::string_view tool) {
  const auto* at = std::ranges::find(kImplementations, tool, &Implementation::tool);
  check(at != std::end(kImplementations), "only calls of file tools are given to FileTools");
  return *at;
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

  bool changes() const { return implementation_of(request.tool).stage != nullptr; }
  std::optional<std::string> path() const {
    return agentrt::tools::path_in(request.tool, request.args.text);
  }
  Outcome<Grounds> open(const Parts& parts) const {
    const auto profile = parts.profile(request);
    if (!profile) return refuse(Category::sandbox, profile.error().message);
    return Grounds::open(request, *profile);
  }
  // Runs `work` with the file permissions that a command has at the call's path.
  template <class Work>
  auto with_rights(Work work) const -> decltype(work()) {
    return with_rights_at(path().value_or("."), std::move(work));
  }
  template <class Work>
  auto with_rights_at(const std::string& at, Work work) const -> decltype(work()) {
    const ActingAs acting(grounds->identity_at(at));
    if (!acting.in_force())
      return refuse(Category::sandbox,
                    "The runtime runs as root but cannot act as the owner of the workspace; run it "
                    "as an ordinary user, or give it CAP_SETUID and CAP_SETGID.");
    return work();
  }
  // The process that a read names. Its files are the runtime's, so it is found with its rights.
  std::optional<Result<ProcessText>> find_process(const Parts& parts) const {
    const auto named = path();
    if (!parts.process || !named || !named->starts_with(kProcessPath)) return std::nullopt;
    return parts.process(request.session, ProcessId{named->substr(kOutputPath.size())});
  }
  Outcome<Found> look(const Parts& parts, Result<ProcessText>* process) const;
  Outcome<void> foresee(const Parts& parts, ports::Sight sight) const;
  Outcome<StagedChange> stage_change(const Parts& parts) const;
  Outcome<StagedChange> stage_again(const Parts& parts) const;
};

// Checks that the path lies in the session's folders. If the model may see the file, also checks
// that the change could be made.
Outcome<void> FileTools::Call::foresee(const Parts& parts, ports::Sight sight) const {
  const auto named = path();
  if (named && !named->starts_with(kOutputPath)) TRY(grounds->find_place(*named));
  if (sight == ports::Sight::file && changes()) TRY(stage_change(parts));
  return {};
}

Outcome<Found> FileTools::Call::look(const Parts& parts, Result<ProcessText>* process) const {
  return implementation_of(request.tool)
      .look({*grounds, parts, request, process}, Until(cancelled));
}

Outcome<StagedChange> FileTools::Call::stage_change(const Parts& parts) const {
  return implementation_of(request.tool).stage({*grounds, parts, request});
}

// Stages the announced change again, from a file that has not changed since.
Outcome<StagedChange> FileTools::Call::stage_again(const Parts& parts) const {
  TRY_ASSIGN(StagedChange again, stage_change(parts));
  const schema::FileChange& announced = *request.announced;
  if (again.change.path != announced.path || again.change.after != announced.after)
    return refuse(
        Category::lost,
        fmt::format(
            "{} would now change in a different way than was stored before; nothing was written.",
            grounds->shown(announced.path)));
  return again;
}

bool FileTools::serves(std::string_view tool) {
  return std::ranges::find(kImplementations, tool, &Implementation::tool) !=
         std::end(kImplementations);
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

std::vector<ports::FileDigest> FileTools::digests(const ports::FileDigestQuery& query) {
  Call call;
  call.request.session = query.session;
  call.request.workspace = query.workspace;
  call.request.additional_roots = query.additional_roots;
  std::vector<ports::FileDigest> out(query.paths.size());
  auto grounds = call.open(parts_);
  if (!grounds) return out;
  call.grounds = *std::move(grounds);
  for (std::size_t i = 0; i < query.paths.size(); ++i) {
    const auto read = call.with_rights_at(query.paths[i], [&]() -> Outcome<ports::FileDigest> {
      TRY_ASSIGN(const Target target, call.grounds->open_target(query.paths[i]));
      if (target.path != query.paths[i]) return ports::FileDigest{};
      if (!target.present) return ports::FileDigest{true, std::nullopt};
      TRY_ASSIGN(const std::string bytes, read_whole(*target.present));
      return ports::FileDigest{true, digest_of(bytes)};
    });
    if (read) out[i] = *read;
  }
  return out;
}

void FileTools::run(const CallPtr& call, void (FileTools::*step)(const CallPtr&)) {
  const bool taken = parts_.worker.run([this, call, step] {
    if (!call->cancelled) (this->*step)(call);
  });
  if (taken) return;
  end(call,
      {.failure = schema::Failure{Category::unavailable,
                                  "Too many file calls are waiting; try again later.", true}});
}

// Stores an image with the runtime's own rights; its text then names the ref.
ports::ToolEnd FileTools::result_of(Found found) const {
  ports::ToolEnd end{.text = std::move(found.text)};
  if (found.image.empty()) return end;
  auto image = parts_.keeper.keep_bytes(
      found.image, {.media_type = found.media_type, .whole_size = std::nullopt});
  if (!image)
    return {.failure = schema::Failure{
                Category::unavailable,
                fmt::format("The image cannot be stored: {}", image.error().message), true}};
  end.text += fmt::format("[It is stored as output:{}.]\n", image->ref.text());
  end.outputs.push_back(*std::move(image));
  return end;
}

void FileTools::begin(const CallPtr& call) {
  auto grounds = call->open(parts_);
  if (!grounds) return end(call, {.failure = grounds.error()});
  call->grounds = *std::move(grounds);
  if (!call->changes()) {
    auto process = call->find_process(parts_);
    auto found =
        call->with_rights([&] { return call->look(parts_, process ? &*process : nullptr); });
    if (!found) return end(call, {.failure = found.error()});
    return end(call, result_of(*std::move(found)));
  }
  if (call->request.announced) return take_up(call);
  auto staged = call->with_rights([&] { return call->stage_change(parts_); });
  if (!staged) return end(call, {.failure = staged.error()});
  call->staged = *std::move(staged);
  auto kept = keep_texts(*call->staged);
  if (!kept)
    return end(call,
               {.failure = schema::Failure{
                    Category::unavailable,
                    fmt::format("The diff cannot be stored: {}", kept.error().message), true}});
  call->staged->diff = call->staged->before = {};
  announce(call, *std::move(kept));
}

// Stores the diff, and the old content if the stored diff does not give it.
Result<FileTools::KeptTexts> FileTools::keep_texts(const StagedChange& staged) const {
  KeptTexts out;
  TRY_ASSIGN(out.diff, parts_.keeper.keep_bytes(staged.diff, {.media_type = "text/x-diff"}));
  if (!staged.change.before || (out.diff.redacted.empty() && is_reversible(staged))) return out;
  TRY_ASSIGN(auto previous,
             parts_.keeper.keep_bytes(staged.before, {.media_type = "application/octet-stream"}));
  // A content without its secrets cannot be restored.
  if (previous.redacted.empty() && !previous.whole_size) out.previous = std::move(previous);
  return out;
}

// Continues a call whose change another boot announced; the file shows whether it was made.
void FileTools::take_up(const CallPtr& call) {
  const schema::FileChange& announced = *call->request.announced;
  const auto state = call->with_rights([&] { return find_state(*call->grounds, announced); });
  if (!state) return end(call, {.failure = state.error()});
  if (*state == FileState::after) return end(call, {.text = told(*call->grounds, announced)});
  if (*state == FileState::other)
    return end(call,
               {.failure = schema::Failure{
                    Category::lost,
                    fmt::format("{} is neither in the state before this call nor in the state "
                                "after it: something else changed it. Read the file again.",
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

void FileTools::announce(const CallPtr& call, KeptTexts kept) {
  schema::FileChange change = call->staged->change;
  change.diff_ref = kept.diff.ref.text();
  if (kept.previous) change.previous_ref = kept.previous->ref.text();
  parts_.loop.post([call, change = std::move(change), kept = std::move(kept)]() mutable {
    if (call->cancelled) return;
    call->waits = true;
    call->listener->on_change(std::move(change), std::move(kept.diff), std::move(kept.previous));
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
