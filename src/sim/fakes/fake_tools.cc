#include "sim/fakes/fake_tools.h"

#include "base/digest.h"
#include "tools/write_file.h"

namespace agentrt::sim {

using namespace schema;

namespace {

constexpr std::string_view kLook = "mcp__sim__look";
constexpr std::string_view kAct = "mcp__sim__act";
constexpr std::int64_t kStepMs = 2;
constexpr std::int64_t kSlowServerMs = 150;

std::string digest_of(const std::string& bytes) {
  return std::string(kDigestPrefix) + hex(bytes_of(sha256(bytes)));
}

CatalogTool tool(std::string_view name, bool reads) {
  CatalogTool out;
  out.tool_name = name;
  out.description = "A tool of the simulated server.";
  out.input_schema = Json{R"({"type":"object"})"};
  out.runtime_owner = "sim";
  out.is_read_only = out.is_concurrency_safe = reads;
  out.interrupt_behavior = "cancel";
  return out;
}

tools::WriteFileArgs write_args(const ports::ToolRequest& request) {
  tools::WriteFileArgs args;
  (void)from_json(request.args.text, args, Unknown::ignore);
  return args;
}

FileChange change_of(const FakeFiles& files, const tools::WriteFileArgs& args) {
  FileChange change;
  change.path = "/w/" + args.path;
  change.after = digest_of(args.content);
  change.lines_added = 1;
  const auto old = files.bytes.find(args.path);
  change.kind = old == files.bytes.end() ? FileChangeKind::create : FileChangeKind::update;
  if (old != files.bytes.end()) change.before = digest_of(old->second);
  return change;
}

KeptOutput diff_of(const ToolCallId& call, const FileChange& change) {
  KeptOutput diff;
  diff.ref = OutputRef{"out_" + call.text()};
  diff.size = 1;
  diff.media_type = "text/x-diff";
  diff.encoding = "utf-8";
  diff.digest = change.after.value_or("");
  return diff;
}

}  // namespace

void FakeTools::list(const SessionId&, const std::string&, const std::vector<std::string>&,
                     std::move_only_function<void(ports::ToolListing)> listing_to) {
  auto to = std::make_shared<decltype(listing_to)>(std::move(listing_to));
  const bool slow = ++listings_ % 3 == 0;
  loop_.after(kStepMs, [to, slow] {
    if (slow) return (*to)({{}, {{"sim", "it is still starting"}}});
    (*to)({{tool(kLook, true), tool(kAct, false)}, {{"absent", "it does not answer"}}});
  });
  if (slow)
    loop_.after(kSlowServerMs, [to] { (*to)({{tool(kLook, true), tool(kAct, false)}, {}}); });
}

void FakeTools::start(ports::ToolRequest request, std::shared_ptr<ports::ToolListener> listener) {
  const ToolCallId id = request.call;
  Call& call = calls_[id] = {std::move(request), std::move(listener)};
  const std::string tool_name = call.request.tool;
  if (tool_name == tools::kWriteFile.name) {
    loop_.after(kStepMs, [this, id] { write(id); });
  } else if (tool_name == kAct) {
    loop_.after(kStepMs, [this, id] { act(id); });
  } else {
    ports::ToolEnd end;
    end.text = "a\nb\n";
    end_soon(id, std::move(end));
  }
}

// Announces the change. A change that an earlier boot announced is made unless it has been made.
void FakeTools::write(const ToolCallId& id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const ports::ToolRequest& request = found->second.request;
  const FileChange change = change_of(files_, write_args(request));
  if (!files_.waits) return release(id);
  if (!request.announced) {
    const auto listener = found->second.listener;
    return listener->on_change(change, diff_of(id, change), {});
  }
  if (change.before == request.announced->after) return end_soon(id, {});
  if (change.before == request.announced->before) return release(id);
  ports::ToolEnd end;
  end.failure = Failure{Category::lost, "another process changed the file", false};
  end_soon(id, std::move(end));
}

void FakeTools::release(const ToolCallId& id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const tools::WriteFileArgs args = write_args(found->second.request);
  if (files_.on_write) files_.on_write(id);
  files_.bytes[args.path] = args.content;
  ++files_.written[id];
  ports::ToolEnd end;
  end.text = "Written.";
  end_soon(id, std::move(end));
}

void FakeTools::act(const ToolCallId& id) {
  const auto found = calls_.find(id);
  if (found == calls_.end()) return;
  const auto listener = found->second.listener;
  ++files_.acted[id];
  listener->on_progress("half of it");
  if (found->second.request.args.text.contains("ask"))
    return listener->on_question({"q1", "sim", "May it?", Json{R"({"type":"object"})"}, {}});
  ports::ToolEnd end;
  end.text = "Done.";
  end_soon(id, std::move(end));
}

void FakeTools::answer(const ToolCallId& id, const std::string&, ports::QuestionAnswer answer,
                       std::optional<Json>) {
  ports::ToolEnd end;
  end.text = "The person said: " + std::string(name_of(answer));
  end.is_error = answer == ports::QuestionAnswer::cancel;
  end_soon(id, std::move(end));
}

void FakeTools::end_soon(const ToolCallId& id, ports::ToolEnd end) {
  loop_.after(kStepMs, [this, id, end = std::move(end)]() mutable {
    const auto found = calls_.find(id);
    if (found == calls_.end()) return;
    const auto listener = found->second.listener;
    calls_.erase(found);
    listener->on_ended(std::move(end));
  });
}

}  // namespace agentrt::sim
