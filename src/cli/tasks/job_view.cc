#include "cli/tasks/job_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "cli/views/terminal.h"
#include "schema/codec.h"

namespace agentrt::cli {

using namespace schema;

namespace {

constexpr std::size_t kBarCells = 20;
constexpr std::size_t kBarCellsNarrow = 8;  // below kWideCells
constexpr std::size_t kWideCells = 120;
constexpr std::size_t kNewsCells = 60;  // of the command or instruction, in a line of news

std::string mark_of(JobStatus status, Colour colour) {
  switch (status) {
    case JobStatus::queued:
      return paint("○", Paint::dim, colour);
    case JobStatus::running:
      return paint("●", Paint::cyan, colour);
    case JobStatus::completed:
      return paint("✓", Paint::green, colour);
    case JobStatus::failed:
      return paint("✗", Paint::red, colour);
    case JobStatus::cancelled:
      return paint("–", Paint::dim, colour);
  }
  return " ";
}

std::string mark_of(JobItemStatus status, Colour colour) {
  switch (status) {
    case JobItemStatus::pending:
      return paint("○", Paint::dim, colour);
    case JobItemStatus::running:
    case JobItemStatus::reported:
      return paint("●", Paint::cyan, colour);
    case JobItemStatus::completed:
      return paint("✓", Paint::green, colour);
    case JobItemStatus::failed:
      return paint("✗", Paint::red, colour);
  }
  return " ";
}

std::uint64_t total_of(const JobCounts& counts) {
  return counts.pending + counts.running + counts.completed + counts.failed + counts.reported;
}

std::string progress_of(const JobSummary& job, const JobPace& pace, Timestamp now,
                        const JobPaper& paper) {
  const JobCounts& counts = job.counts;
  const std::uint64_t all = total_of(counts);
  const std::uint64_t ended = counts.completed + counts.failed;
  const bool narrow = paper.width.value_or(kWideCells) < kWideCells;
  std::string out;
  if (job.status == JobStatus::running)
    out =
        fmt::format("{} {:>3}% · ", progress_bar(ended, all, narrow ? kBarCellsNarrow : kBarCells),
                    all == 0 ? 0 : ended * 100 / all);
  out += fmt::format("{} of {} items", grouped(ended), grouped(all));
  if (counts.failed > 0) out += fmt::format(" · {} failed", grouped(counts.failed));
  if (job.status == JobStatus::running && counts.running > 0)
    out += fmt::format(" · {} running", counts.running);
  if (job.status != JobStatus::running) {
    if (job.started_at && job.ended_at)
      out += fmt::format(" · {}", spoken_duration(*job.ended_at - *job.started_at));
    return out + fmt::format(" · {}", spoken_age(job.created_at, now));
  }
  if (!pace.items_per_second || *pace.items_per_second <= 0) return out;
  out += fmt::format(" · {:.{}f}/s", *pace.items_per_second, *pace.items_per_second < 10 ? 1 : 0);
  const double left = static_cast<double>(all - ended) / *pace.items_per_second;
  return out + fmt::format(" · {} left",
                           spoken_duration(static_cast<std::int64_t>(std::ceil(left)) * 1'000));
}

std::string fitted(std::string text, std::size_t indent, const JobPaper& paper) {
  if (!paper.width) return text;
  return fit(text, *paper.width > indent + 8 ? *paper.width - indent : 8);
}

std::string runner_text(const JobRunner& runner) {
  return runner.kind == RunnerKind::command ? "$ " + one_line(runner.command.value_or(""))
                                            : "> " + one_line(runner.instruction.value_or(""));
}

std::string failure_text(const Failure& failure) {
  return fmt::format("{}: {}", name_of(failure.category), one_line(failure.message));
}

std::string retry_command(const JobId& job, const JobItemView& item) {
  return fmt::format(
      "retry: agentrt call retry_job_item '{{\"jobId\":\"{}\",\"jobItemId\":\"{}\"}}'",
      one_line(job.text()), one_line(item.job_item_id.text()));
}

std::string about_item(const JobItemView& item) {
  std::string about = fmt::format("{:<9}", name_of(item.status));
  if (item.attempt_count > 0) about += fmt::format("  attempt {}", item.attempt_count);
  if (item.last_error && item.status != JobItemStatus::completed)
    about += " · " + failure_text(*item.last_error);
  else if (item.preview)
    about += " · " + one_line(*item.preview);
  return about;
}

std::string item_lines(const JobId& job, const JobItemView& item, bool last, bool shows_retry,
                       const JobPaper& paper) {
  const std::string about = about_item(item);
  const std::string id = one_line(item.job_item_id.text());
  std::string out =
      fmt::format("{} {} {:<12}  {}\n", last ? "└─" : "├─", mark_of(item.status, paper.colour), id,
                  fitted(about, 8 + std::max<std::size_t>(12, id.size()), paper));
  if (shows_retry) out += fmt::format("{}    {}\n", last ? " " : "│", retry_command(job, item));
  return out;
}

}  // namespace

std::string job_news(const JobId& job, const Payload& payload) {
  const std::string id = one_line(job.text());
  const auto items = [](std::uint64_t count) {
    return fmt::format("{} item{}", grouped(count), count == 1 ? "" : "s");
  };
  if (const auto* created = std::get_if<JobCreated>(&payload))
    return fmt::format("job {} started: {}, {}", id, items(created->items.value_or(0)),
                       fit(runner_text(created->runner.value_or(JobRunner{})), kNewsCells));
  if (const auto* started = std::get_if<JobStarted>(&payload); started && started->reason)
    return fmt::format("job {} started again: {}", id, one_line(*started->reason));
  if (const auto* completed = std::get_if<JobCompleted>(&payload))
    return fmt::format("job {} completed: {}", id,
                       items(total_of(completed->counts.value_or(JobCounts{}))));
  if (const auto* failed = std::get_if<JobFailed>(&payload))
    return fmt::format("job {} failed: {}; agentrt jobs {} shows why", id,
                       failed->error ? one_line(failed->error->message) : "", id);
  if (const auto* cancelled = std::get_if<JobCancelled>(&payload))
    return fmt::format("job {} cancelled: {}", id, one_line(cancelled->reason.value_or("")));
  return {};
}

JobPace PaceMeter::add(const JobCounts& counts, std::int64_t now_ms) {
  const std::uint64_t ended = counts.completed + counts.failed;
  points_.push_back({now_ms, ended});
  while (points_.size() > 2 && now_ms - points_[1].at_ms >= kWindowMs)
    points_.erase(points_.begin());
  const Point& first = points_.front();
  if (now_ms - first.at_ms < 500 || ended <= first.ended) return {};
  return {static_cast<double>(ended - first.ended) * 1'000.0 /
          static_cast<double>(now_ms - first.at_ms)};
}

std::string progress_bar(std::uint64_t done, std::uint64_t all, std::size_t cells) {
  const std::size_t full = all == 0 ? 0 : std::min<std::size_t>(cells, done * cells / all);
  std::string out = "▕";
  for (std::size_t i = 0; i < cells; ++i) out += i < full ? "█" : "░";
  return out + "▏";
}

std::string job_lines(const JobSummary& job, const JobHolds& holds, const JobPace& pace,
                      Timestamp now, const JobPaper& paper) {
  const std::string id = one_line(job.job_id.text());
  std::string out =
      fmt::format("{} {}  {:<9}  {}\n", mark_of(job.status, paper.colour), id, name_of(job.status),
                  fitted(progress_of(job, pace, now, paper), 4 + id.size() + 11, paper));
  out +=
      paint("     " + fitted(runner_text(job.runner), 5, paper), Paint::dim, paper.colour) + "\n";
  if (job.status == JobStatus::failed && job.error)
    out += fmt::format("     {}\n", fitted(failure_text(*job.error), 5, paper));
  if (job.status == JobStatus::cancelled && job.reason)
    out += fmt::format("     reason: {}\n", fitted(one_line(*job.reason), 13, paper));
  if (const auto hold = holds.find(job.job_id);
      hold != holds.end() && job.status == JobStatus::running) {
    out += fmt::format("     {}\n", fitted(one_line(hold->second.why), 5, paper));
    out += paint("     " + hold->second.command, Paint::dim, paper.colour) + "\n";
  }
  if (job.status == JobStatus::queued)
    out += fmt::format("     {}\n", fitted("its task waits for others: agentrt tasks --session " +
                                               one_line(job.session_id.text()),
                                           5, paper));
  return out;
}

std::string jobs_text(const std::vector<JobSummary>& jobs, const JobHolds& holds, Timestamp now,
                      const JobPaper& paper) {
  if (jobs.empty()) return "No jobs. agentrt jobs --help says how to create one.\n";
  const bool several = std::ranges::any_of(
      jobs, [&](const JobSummary& job) { return job.session_id != jobs.front().session_id; });
  std::string out;
  const SessionId* session = nullptr;  // of the lines so far
  for (const JobSummary& job : jobs) {
    if (several && (!session || *session != job.session_id))
      out += paint("session " + one_line(job.session_id.text()), Paint::bold, paper.colour) + "\n";
    session = &job.session_id;
    out += job_lines(job, holds, {}, now, paper);
    if (job.status == JobStatus::failed)
      out += fmt::format("     failed items: agentrt jobs {} --status failed\n",
                         one_line(job.job_id.text()));
  }
  return out;
}

JobSummary summary_of(const GetJobReply& job) {
  JobSummary out;
  out.session_id = job.session_id;
  out.job_id = job.job_id;
  out.task_id = job.task_id;
  out.status = job.status;
  out.runner = job.runner;
  out.counts = job.counts;
  out.items = total_of(job.counts);
  out.concurrency = job.concurrency;
  out.input_ref = job.input_ref;
  out.created_at = job.created_at.value_or(Timestamp{});
  out.started_at = job.started_at;
  out.ended_at = job.ended_at;
  out.reason = job.reason;
  out.error = job.error;
  return out;
}

std::string job_line(const JobSummary& job, const JobHolds& holds, Timestamp now) {
  const std::string text = job_lines(job, {}, {}, now, {});
  std::string out = text.substr(0, text.find('\n'));
  if (const auto hold = holds.find(job.job_id); hold != holds.end())
    out += fmt::format(" · {} · {}", one_line(hold->second.why), hold->second.command);
  if (job.status == JobStatus::failed && job.error) out += " · " + failure_text(*job.error);
  if (job.status == JobStatus::cancelled && job.reason) out += " · " + one_line(*job.reason);
  return out + "\n";
}

std::string item_line(const JobId& job, const JobItemView& item) {
  std::string out = fmt::format("{} item {}  {}", mark_of(item.status, Colour::off),
                                one_line(item.job_item_id.text()), about_item(item));
  if (item.status == JobItemStatus::failed) out += " · " + retry_command(job, item);
  return out + "\n";
}

std::string job_text(const GetJobReply& job, const std::vector<JobItemView>& items,
                     const JobHolds& holds, const JobPace& pace, Timestamp now,
                     const JobPaper& paper) {
  std::string out = job_lines(summary_of(job), holds, pace, now, paper);
  bool retry_shown = job.status == JobStatus::cancelled;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool failed = items[i].status == JobItemStatus::failed;
    out += item_lines(job.job_id, items[i], i + 1 == items.size(),
                      failed && !std::exchange(retry_shown, retry_shown || failed), paper);
  }
  return out;
}

}  // namespace agentrt::cli
