// cli/tasks/jobs.cc: `agentrt jobs`: lists jobs, shows one, and watches them.
#include <algorithm>

#include <fmt/format.h>

#include "cli/decisions/open_actions.h"
#include "cli/option_word.h"
#include "cli/sessions/session_ids.h"
#include "cli/tasks/job_view.h"
#include "cli/tasks/watching.h"
#include "cli/verbs.h"
#include "cli/views/action_view.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr std::uint64_t kFailuresShown = 5;

template <class Reply>
Result<Reply> ask(const Client& client, std::string_view command, const std::string& params,
                  std::string& text) {
  TRY_ASSIGN(text, client.call(command, params));
  Reply out;
  if (!check_json(text) || !from_json(text, out, Unknown::ignore))
    return fail(Code::internal,
                "The reply of the runtime cannot be decoded; check that it has the same version as "
                "this program.");
  return out;
}

// One look at what the command shows.
struct Look {
  std::string json;
  Seen seen;
  std::optional<std::string> next_cursor;
};

// Finds out why running jobs do not proceed: a request waits for a person, or the task is paused.
class HoldReader {
 public:
  HoldReader(const Client& client, std::optional<SessionId> session)
      : client_(client), session_(std::move(session)) {}

  Result<JobHolds> of(const std::vector<JobSummary>& jobs) {
    for (const JobSummary& job : jobs) {
      if (job.status != JobStatus::running) continue;
      // Counts in lists may be a second old.
      TRY(note_request(job));
      if (job.counts.running == 0 && !holds_.contains(job.job_id)) TRY(note_pause(job));
    }
    return std::move(holds_);
  }

 private:
  Result<void> note_request(const JobSummary& job) {
    if (!actions_) {
      TRY_ASSIGN(actions_, open_actions(client_, session_));
    }
    const auto of_session = [&](const ActionSnapshot& each) {
      return each.session_id == job.session_id;
    };
    if (std::ranges::none_of(*actions_, of_session)) return {};
    GetJob params;
    params.job_id = job.job_id;
    params.limit = 1;
    std::string unused;
    TRY_ASSIGN(const GetJobReply whole,
               ask<GetJobReply>(client_, "get_job", to_json(params), unused));
    for (const ActionSnapshot& action : *actions_)
      if (of_session(action) &&
          std::ranges::find(whole.threads, action.thread_id) != whole.threads.end())
        holds_[job.job_id] = {"asks: " + subject_line(action), answer_commands(action.action_id)};
    return {};
  }
  Result<void> note_pause(const JobSummary& job) {
    GetTask params;
    params.task_id = job.task_id;
    params.limit = 1;
    std::string unused;
    TRY_ASSIGN(const TaskSnapshot task,
               ask<TaskSnapshot>(client_, "get_task", to_json(params), unused));
    if (task.status != TaskStatus::paused) return {};
    holds_[job.job_id] = {
        "paused" + (task.status_reason ? ": " + *task.status_reason : std::string()),
        fmt::format(R"(resume: agentrt call resume_task '{{"taskId":"{}"}}')", job.task_id.text())};
    return {};
  }

  const Client& client_;
  std::optional<SessionId> session_;
  std::optional<std::vector<ActionSnapshot>> actions_;
  JobHolds holds_;
};

class Jobs {
 public:
  Jobs(Context& context, const JobsArguments& arguments)
      : context_(context), arguments_(arguments) {}

  Result<Look> look(const Client& client) {
    return arguments_.job ? look_at_one(client) : look_at_all(client);
  }

  Result<int> print(const Client& client) {
    TRY_ASSIGN(const Look now, look(client));
    Output& output = context_.output;
    output.out(context_.form() == Form::json ? now.json + "\n" : now.seen.text);
    if (now.next_cursor && context_.form() == Form::text)
      output.hint(fmt::format("· more: agentrt jobs{} --cursor {}",
                              arguments_.job ? " " + *arguments_.job : "", *now.next_cursor));
    return kExitDone;
  }

  Result<Seen> seen(const Client& client) {
    TRY_ASSIGN(Look now, look(client));
    if (context_.form() == Form::json) now.seen.lines = {{"", now.json + "\n"}};
    return std::move(now.seen);
  }

 private:
  JobPaper paper() const {
    const Screen& screen = context_.output.screen();
    JobPaper out;
    if (screen.out_terminal) out.width = terminal_width(screen.width);
    out.colour = screen.out_colour;
    return out;
  }

  Result<Look> look_at_one(const Client& client) {
    GetJob params;
    if (!well_formed_id(*arguments_.job))
      return fail(Code::invalid_params,
                  *arguments_.job + " is not the id of a job; agentrt jobs lists them.");
    params.job_id = JobId(*arguments_.job);
    TRY_ASSIGN(params.session_id, session_of(client));
    TRY_ASSIGN(params.status, option_word<JobItemStatus>("--status", arguments_.status));
    params.limit = arguments_.limit;
    params.cursor = arguments_.cursor;
    Look out;
    TRY_ASSIGN(GetJobReply job, ask<GetJobReply>(client, "get_job", to_json(params), out.json));
    out.seen.over = job.status != JobStatus::running && job.status != JobStatus::queued;
    std::vector<JobItemView> items = job.items;
    if (!params.status && !params.cursor) {
      // The latest failures say more than the latest items.
      items.clear();
      params.status = JobItemStatus::failed;
      params.limit = arguments_.limit.value_or(kFailuresShown);
      std::string unused;
      TRY_ASSIGN(GetJobReply failed, ask<GetJobReply>(client, "get_job", to_json(params), unused));
      items = std::move(failed.items);
    } else {
      out.next_cursor = job.next_cursor;
    }
    const JobPace pace = arguments_.watch ? pace_.add(job.counts, now_of_clock().ms) : JobPace{};
    const JobSummary summary = summary_of(job);
    TRY_ASSIGN(const JobHolds holds, HoldReader(client, job.session_id).of({summary}));
    out.seen.text = job_text(job, items, holds, pace, now_of_clock(), paper());
    out.seen.lines.emplace_back(job.job_id.text(), job_line(summary, holds, now_of_clock()));
    for (const JobItemView& item : items)
      out.seen.lines.emplace_back("item " + item.job_item_id.text(), item_line(job.job_id, item));
    return out;
  }

  Result<Look> look_at_all(const Client& client) {
    ListJobs params;
    TRY_ASSIGN(params.session_id, session_of(client));
    TRY_ASSIGN(params.status, option_word<JobStatus>("--status", arguments_.status));
    params.limit = arguments_.limit;
    params.cursor = arguments_.cursor;
    Look out;
    TRY_ASSIGN(const JobPage page, ask<JobPage>(client, "list_jobs", to_json(params), out.json));
    out.next_cursor = page.next_cursor;
    TRY_ASSIGN(const JobHolds holds, HoldReader(client, params.session_id).of(page.data));
    out.seen.text = jobs_text(page.data, holds, now_of_clock(), paper());
    for (auto job = page.data.rbegin(); job != page.data.rend(); ++job)
      out.seen.lines.emplace_back(job->job_id.text(), job_line(*job, holds, now_of_clock()));
    return out;
  }

  Result<std::optional<SessionId>> session_of(const Client& client) const {
    if (!arguments_.session) return std::nullopt;
    TRY_ASSIGN(SessionId session, find_session(client, *arguments_.session));
    return session;
  }

  Context& context_;
  const JobsArguments& arguments_;
  PaceMeter pace_;
};

}  // namespace

int show_jobs(Context& context, const JobsArguments& arguments) {
  Jobs jobs(context, arguments);
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    if (!arguments.watch) return jobs.print(client);
    return watch(context, signals, [&] { return jobs.seen(client); });
  });
}

}  // namespace agentrt::cli
