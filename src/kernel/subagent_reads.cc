#include "kernel/subagent_reads.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/reads.h"
#include "state/subagents.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::int64_t kBusyRetryMs = 50;  // if the queue of the readers is full

bool is_below(const std::string& record, const ThreadId& thread) {
  SubagentSnapshot subagent;
  if (!from_json(record, subagent, Unknown::ignore)) return false;
  return std::ranges::find(subagent.ancestors, thread) != subagent.ancestors.end();
}

bool is_enough(const WaitSubagentsReply& reply, WaitMode mode) {
  const auto idle = [](const WaitedSubagent& each) { return is_idle(each.status); };
  return mode == WaitMode::any ? std::ranges::any_of(reply.subagents, idle)
                               : std::ranges::all_of(reply.subagents, idle);
}

Result<void> check_wait(const WaitSubagents& query) {
  if (query.subagent_ids.empty())
    return fail(Code::invalid_params, "subagentIds: expected at least one");
  const std::int64_t timeout = query.timeout_ms.value_or(kWaitDefaultMs);
  if (timeout < 0 || timeout > kWaitMaxMs)
    return fail(Code::invalid_params, fmt::format("timeoutMs: expected 0 to {}", kWaitMaxMs));
  return {};
}

}  // namespace

Result<std::string> list_subagents(store::Store& store, const ListSubagents& query,
                                   const Limits& limits) {
  if (query.limit && *query.limit == 0)
    return fail(Code::invalid_params, "limit: expected 1 or more");
  TRY_ASSIGN(const Sequence head, store.head(query.session_id));
  if (head == 0)
    return fail(Code::not_found, fmt::format("there is no session {}", query.session_id.text()));
  const std::size_t wanted =
      std::min<std::size_t>(query.limit.value_or(limits.page_events_default), limits.page_max);
  store::IndexQuery rows;
  rows.kind = std::string(state::kSubagentKind);
  rows.session = query.session_id;
  rows.limit = limits.page_max;
  if (query.cursor) {
    TRY_ASSIGN(rows.before, read_cursor(store.generation(), *query.cursor));
  }
  std::string out = R"({"data":[)";
  std::size_t found = 0;
  std::optional<std::string> next;
  for (bool more = true; more && !next;) {
    TRY_ASSIGN(const auto page, store.list(rows));
    more = page.size() == rows.limit;
    for (const store::IndexEntry& entry : page) {
      if (query.thread_id && !is_below(entry.row.record, *query.thread_id)) continue;
      if (found == wanted) {
        next = write_cursor(store.generation(), *rows.before);
        break;
      }
      if (found++ > 0) out += ',';
      out += entry.row.record;
      rows.before = entry.row.first;
    }
    if (!next && !page.empty()) rows.before = page.back().row.first;
  }
  out += ']';
  if (next) {
    out += R"(,"nextCursor":)";
    write_string(out, *next);
  }
  return out + "}";
}

struct SubagentWaits::Waiting {
  WaitSubagents query;
  ports::ReplyTo reply_to;
  ports::Loop::TimerId timer = 0;
  bool timed_out = false;
  bool over = false;
  bool looking = false;     // a read is in progress
  bool look_again = false;  // something changed meanwhile
};

void SubagentWaits::wait(WaitSubagents query, ports::ReplyTo reply_to) {
  if (auto checked = check_wait(query); !checked)
    return reply_to(std::unexpected(std::move(checked).error()));
  if (waiting_.size() >= parts_.limits.waiting_callers_max)
    return reply_to(fail(Code::limit_exceeded,
                         fmt::format("{} clients are waiting, which is the limit: try again later",
                                     waiting_.size())));
  auto waiting = std::make_shared<Waiting>();
  waiting->query = std::move(query);
  waiting->reply_to = std::move(reply_to);
  waiting_.push_back(waiting);
  const std::int64_t timeout = waiting->query.timeout_ms.value_or(kWaitDefaultMs);
  waiting->timed_out = timeout == 0;
  if (timeout > 0)
    waiting->timer = parts_.loop.after(timeout, [this, waiting] {
      waiting->timer = 0;
      waiting->timed_out = true;
      look(waiting);
    });
  look(waiting);
}

void SubagentWaits::published(const ports::FeedBatch& batch) {
  if (waiting_.empty()) return;
  constexpr std::string_view kFamily = "subagent.";
  std::vector<std::shared_ptr<Waiting>> changed;
  for (const ports::FeedEvent& each : *batch) {
    if (!each.event.type.starts_with(kFamily)) continue;
    for (const auto& waiting : waiting_) {
      const bool named = std::ranges::any_of(waiting->query.subagent_ids, [&](const auto& id) {
        return each.event.scope.contains(fmt::format(R"("subagentId":{})", to_json(id)));
      });
      if (named && std::ranges::find(changed, waiting) == changed.end()) changed.push_back(waiting);
    }
  }
  for (const auto& waiting : changed) look(waiting);
}

void SubagentWaits::look(const std::shared_ptr<Waiting>& waiting) {
  if (waiting->over) return;
  if (waiting->looking) {
    waiting->look_again = true;
    return;
  }
  waiting->looking = true;
  waiting->look_again = false;
  const bool taken = parts_.readers.run([this, waiting, query = waiting->query] {
    auto found = read(query);
    parts_.loop.post(
        [this, waiting, found = std::move(found)]() mutable { looked(waiting, std::move(found)); });
  });
  if (taken) return;
  waiting->looking = false;
  parts_.loop.after(kBusyRetryMs, [this, waiting] { look(waiting); });
}

void SubagentWaits::looked(const std::shared_ptr<Waiting>& waiting,
                           Result<WaitSubagentsReply> found) {
  waiting->looking = false;
  if (waiting->over) return;
  if (!found) return finish(waiting, std::unexpected(std::move(found).error()));
  const bool enough = is_enough(*found, waiting->query.mode.value_or(WaitMode::all));
  if (enough || waiting->timed_out) {
    found->timed_out = !enough;
    return finish(waiting, to_json(*found));
  }
  if (waiting->look_again) look(waiting);
}

void SubagentWaits::finish(const std::shared_ptr<Waiting>& waiting, ports::Reply reply) {
  waiting->over = true;
  if (waiting->timer != 0) parts_.loop.cancel(waiting->timer);
  waiting_.remove(waiting);
  waiting->reply_to(std::move(reply));
}

Result<WaitSubagentsReply> SubagentWaits::read(const WaitSubagents& query) const {
  WaitSubagentsReply out;
  for (const SubagentId& id : query.subagent_ids) {
    TRY_ASSIGN(const auto found, parts_.store.find(std::string(state::kSubagentKind), id.text()));
    if (!found || (query.session_id && found->session != *query.session_id))
      return fail(Code::not_found, fmt::format("there is no subagent {}{}", id.text(),
                                               query.session_id ? " of this session" : ""));
    SubagentSnapshot subagent;
    TRY(from_json(found->row.record, subagent, Unknown::ignore));
    out.subagents.push_back(
        {subagent.subagent_id, subagent.status, subagent.last_message_ref, subagent.preview});
  }
  return out;
}

}  // namespace agentrt::kernel
