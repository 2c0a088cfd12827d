// cli/tasks/job_view.h: jobs and their items as text. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/views/terminal.h"
#include "schema/commands/jobs.h"
#include "schema/facts.h"

namespace agentrt::cli {

// How a job is progressing. Without a rate, the time left is unknown.
struct JobPace {
  std::optional<double> items_per_second = {};
};

// Measures the items per second of a job from its counts at different times.
class PaceMeter {
 public:
  JobPace add(const schema::JobCounts& counts, std::int64_t now_ms);

 private:
  static constexpr std::int64_t kWindowMs = 10'000;
  struct Point {
    std::int64_t at_ms = 0;
    std::uint64_t ended = 0;
  };
  std::vector<Point> points_;  // of the last kWindowMs
};

// Where text goes: nothing is shortened without a width.
struct JobPaper {
  std::optional<std::size_t> width = {};
  Colour colour = Colour::off;
};

// Why a running job does not proceed, and the command that lets it.
struct JobHold {
  std::string why;
  std::string command;
};
using JobHolds = std::map<JobId, JobHold>;

// One line: mark, id, status, progress. A job that has failed, was cancelled or does not proceed is
// followed by the reason and the next command to type.
std::string job_lines(const schema::JobSummary& job, const JobHolds& holds, const JobPace& pace,
                      Timestamp now, const JobPaper& paper);
// The list of `agentrt jobs`: under the names of their sessions if there are several.
std::string jobs_text(const std::vector<schema::JobSummary>& jobs, const JobHolds& holds,
                      Timestamp now, const JobPaper& paper);
// A job with a tree of items, and the command that retries a failed one.
std::string job_text(const schema::GetJobReply& job, const std::vector<schema::JobItemView>& items,
                     const JobHolds& holds, const JobPace& pace, Timestamp now,
                     const JobPaper& paper);
// One line each, whole, for a pipe.
std::string job_line(const schema::JobSummary& job, const JobHolds& holds, Timestamp now);
std::string item_line(const JobId& job, const schema::JobItemView& item);
schema::JobSummary summary_of(const schema::GetJobReply& job);

// One line about the start or the end of a job, for those who follow its session; empty: the fact
// is about neither.
std::string job_news(const JobId& job, const schema::Payload& payload);

// "▕█████▏", `cells` wide inside.
std::string progress_bar(std::uint64_t done, std::uint64_t all, std::size_t cells);

}  // namespace agentrt::cli
