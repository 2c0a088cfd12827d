#include "kernel/job_reads.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/reads.h"
#include "schema/codec.h"
#include "state/index.h"
#include "state/read_models.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::size_t kRowsScannedMax = 10'000;  // by one get_job with status completed
constexpr std::string_view kPendingCursor = "pending:";

JobItemView view_of(const JobItemRecord& item) {
  return {.job_item_id = item.at.id,
          .status = item.status,
          .attempt_count = item.attempt_count,
          .thread_id = item.thread_id,
          .last_error = item.last_error,
          .output_ref = item.output_ref,
          .preview = item.preview};
}

// One page of a job's items.
class Items {
 public:
  Items(store::Store& store, const SessionId& session, const JobRecord& job, const GetJob& query)
      : store_(store), session_(session), job_(job), query_(query) {
    most_ = std::min(query.limit.value_or(kJobItemsPageMax), kJobItemsPageMax);
  }

  // Reads rows after the cursor; without one, from the newest on.
  Result<void> add_started(const std::optional<std::string>& cursor) {
    store::IndexQuery rows;
    rows.kind = std::string(kJobItemKind);
    rows.session = session_;
    rows.limit = most_;
    if (query_.status && *query_.status != JobItemStatus::completed)
      rows.term = job_items_term(job_.ids.job, *query_.status);
    else
      rows.parent = job_.ids.job.text();
    if (cursor) TRY(read_row_cursor(store_.generation(), *cursor, rows));
    for (std::size_t scanned = 0; scanned < kRowsScannedMax; scanned += rows.limit) {
      TRY_ASSIGN(const auto entries, store_.list(rows));
      for (const store::IndexEntry& entry : entries) {
        JobItemRecord item;
        TRY(from_json(entry.row.record, item, Unknown::ignore));
        last_ = entry;
        if (query_.status && item.status != *query_.status) continue;
        page_.push_back(view_of(item));
        if (page_.size() == most_) return {};
      }
      if (entries.size() < rows.limit) {
        started_end_ = true;
        return {};
      }
      rows.before = entries.back().row.first;
      rows.before_id = entries.back().row.id;
    }
    return {};
  }

  bool wants_pending() const {
    return started_end_ && page_.size() < most_ &&
           (!query_.status || *query_.status == JobItemStatus::pending);
  }
  Result<void> add_pending(ports::JobInputs& inputs, JobCursor at) {
    started_end_ = true;
    while (page_.size() < most_ && at.line < job_.items) {
      TRY_ASSIGN(const auto lines, inputs.lines(job_.input_ref, at));
      if (lines.empty()) break;
      for (const JobLine& line : lines) {
        if (page_.size() == most_) break;
        JobItemView item;
        item.job_item_id = line.id;
        page_.push_back(std::move(item));
        at = {line.line, line.next};
      }
    }
    pending_ = at;
    return {};
  }

  std::optional<std::string> next() const {
    if (pending_)
      return pending_->line < job_.items && page_.size() == most_
                 ? std::optional(
                       fmt::format("{}{}:{}", kPendingCursor, pending_->line, pending_->offset))
                 : std::nullopt;
    if (started_end_ || !last_) return std::nullopt;
    return write_row_cursor(store_.generation(), *last_);
  }
  std::vector<JobItemView> take() { return std::move(page_); }

 private:
  store::Store& store_;
  const SessionId& session_;
  const JobRecord& job_;
  const GetJob& query_;
  std::uint64_t most_ = 0;
  std::vector<JobItemView> page_;
  std::optional<store::IndexEntry> last_;
  bool started_end_ = false;  // all rows were read
  std::optional<JobCursor> pending_;
};

std::optional<JobCursor> read_pending(std::string_view cursor) {
  if (!cursor.starts_with(kPendingCursor)) return std::nullopt;
  cursor.remove_prefix(kPendingCursor.size());
  const std::size_t colon = cursor.find(':');
  if (colon == cursor.npos) return std::nullopt;
  const auto line = number_of(cursor.substr(0, colon));
  const auto offset = number_of(cursor.substr(colon + 1));
  if (!line || !offset) return std::nullopt;
  return JobCursor{*line, *offset};
}

}  // namespace

Result<FoundJob> find_job_row(store::Store& store, const GetJob& query) {
  if (query.limit && *query.limit == 0)
    return fail(Code::invalid_params, "limit: expected 1 or more");
  TRY_ASSIGN(const auto entry, store.find(std::string(kJobKind), query.job_id.text()));
  if (!entry || (query.session_id && *query.session_id != entry->session))
    return fail(Code::not_found, fmt::format("there is no job {}{}", query.job_id.text(),
                                             query.session_id ? " of this session" : ""));
  FoundJob found{entry->session, {}};
  TRY(from_json(entry->row.record, found.record, Unknown::ignore));
  return found;
}

Result<std::string> read_job(store::Store& store, ports::JobInputs* inputs,
                             const SessionId& session, const JobRecord& record,
                             const GetJob& query) {
  Items items{store, session, record, query};
  const auto pending = query.cursor ? read_pending(*query.cursor) : std::nullopt;
  if (pending) {
    // The lines before the job's cursor have rows by now.
    const JobCursor from = pending->line < record.cursor.line ? record.cursor : *pending;
    if (inputs) TRY(items.add_pending(*inputs, from));
  } else {
    TRY(items.add_started(query.cursor));
    if (inputs && items.wants_pending()) TRY(items.add_pending(*inputs, record.cursor));
  }
  GetJobReply reply;
  reply.session_id = session;
  reply.job_id = record.ids.job;
  reply.task_id = record.ids.task;
  reply.status = record.status;
  reply.runner = record.runner;
  reply.counts = record.counts;
  reply.concurrency = record.concurrency;
  reply.input_ref = record.input_ref;
  reply.created_at = record.created_at;
  reply.started_at = record.started_at;
  reply.ended_at = record.ended_at;
  reply.reason = record.reason;
  reply.error = record.error;
  reply.threads = record.threads;
  reply.next_cursor = items.next();
  reply.items = items.take();
  return to_json(reply);
}

Result<std::string> list_jobs(store::Store& store, const ListJobs& query, const Limits& limits) {
  if (query.limit && *query.limit == 0)
    return fail(Code::invalid_params, "limit: expected 1 or more");
  TRY(check_session(store, query.session_id));
  store::IndexQuery rows;
  rows.kind = std::string(kJobKind);
  rows.session = query.session_id;
  if (query.status) rows.term = fmt::format("status={}", name_of(*query.status));
  rows.limit =
      std::min<std::size_t>(query.limit.value_or(limits.page_turns_default), limits.page_max);
  if (query.cursor) TRY(read_row_cursor(store.generation(), *query.cursor, rows));
  TRY_ASSIGN(const auto entries, store.list(rows));
  JobPage page;
  for (const store::IndexEntry& entry : entries) {
    JobRecord record;
    TRY(from_json(entry.row.record, record, Unknown::ignore));
    page.data.push_back(state::job_summary(entry.session, record));
  }
  if (entries.size() == rows.limit)
    page.next_cursor = write_row_cursor(store.generation(), entries.back());
  return to_json(page);
}

}  // namespace agentrt::kernel
