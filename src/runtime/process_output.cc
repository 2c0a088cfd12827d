#include "runtime/process_output.h"

#include <fcntl.h>

#include <fmt/format.h>

#include "schema/envelope.h"
#include "schema/process_snapshot.h"

namespace agentrt::runtime {
namespace {

using namespace schema;

constexpr std::size_t kPageEvents = 512;
constexpr std::size_t kPageBytes = 1 << 20;

// What the log has of one process.
struct Found {
  std::string text;
  std::uint64_t out = 0, err = 0;  // where the output that is not in the log begins
  std::vector<std::string> refs;   // of the complete streams, once it has ended
  std::string end;                 // how it ended; empty: it runs

  void operator()(const ProcessOutput& output) {
    text += output.text.value_or("");
    if (output.next_offset)
      (output.stream == OutputStream::stderr_ ? err : out) = *output.next_offset;
  }
  void operator()(const ProcessCompleted& completed) {
    refs = completed.output_refs.value_or(std::vector<std::string>{});
    end = completed.exit_code ? fmt::format("It has ended with exit code {}", *completed.exit_code)
                              : "It was ended by a signal";
  }
  void operator()(const ProcessFailed& failed) {
    end = "It has failed: " + (failed.error ? failed.error->message : "no reason is known");
  }
  void operator()(const ProcessTerminated& terminated) {
    end = "It was terminated: " + terminated.reason.value_or("no reason is known");
  }
  void operator()(const auto&) {}
};

Result<void> read_facts(store::Store& store, const SessionId& session, const ProcessId& process,
                        Sequence first, Found& found) {
  Sequence after = first - 1;
  for (std::size_t seen = 0; seen < kProcessFactsMax && found.end.empty();) {
    TRY_ASSIGN(const auto page, store.events(session, after, kPageEvents, kPageBytes));
    if (page.empty()) break;
    seen += page.size();
    after = page.back().event.sequence;
    for (const store::Event& each : page) {
      if (!each.event.type.starts_with("process.") || !each.event.scope.contains(process.text()))
        continue;
      TRY_ASSIGN(const Fact fact, decode(each.event));
      if (fact.ids.process_id == process) std::visit(found, fact.payload);
    }
  }
  return {};
}

// A process that has just ended may have no files any more.
void add_rest(const std::string& folder, const ProcessId& process, std::string_view stream,
              std::uint64_t offset, adapters::tools::ProcessText& out) {
  const std::string path = fmt::format("{}/{}/{}", folder, process.text(), stream);
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file) out.rest.push_back({std::move(file), offset});
}

Result<adapters::tools::ProcessText> find_process_output(store::Store& store,
                                                         const std::string& folder,
                                                         const SessionId& session,
                                                         const ProcessId& process) {
  TRY_ASSIGN(const auto entry, store.find(std::string(kProcessKind), process.text()));
  if (!entry || entry->session != session)
    return fail(Code::not_found,
                fmt::format("this session has no background process {}", process.text()));
  Found found;
  TRY(read_facts(store, session, process, entry->row.first, found));
  adapters::tools::ProcessText out;
  out.text = std::move(found.text);
  if (found.end.empty()) {
    add_rest(folder, process, "stdout", found.out, out);
    add_rest(folder, process, "stderr", found.err, out);
    out.state = "The process is still running; read again later for more";
    return out;
  }
  out.state = found.end;
  for (const std::string& ref : found.refs)
    out.state += fmt::format("; output:{} has a complete stream of its output", ref);
  return out;
}

}  // namespace

adapters::tools::FindProcess process_outputs(store::Store& store, std::string folder) {
  return [&store, folder = std::move(folder)](const SessionId& session, const ProcessId& process) {
    return find_process_output(store, folder, session, process);
  };
}

}  // namespace agentrt::runtime
