// cli/tasks/jobs.cc: `agentrt jobs`: lists jobs, shows one, and watches them.
#include <algorithm>

#include <fmt/format.h>

#include "cli/tasks/job_view.h"
#include "cli/verbs.h"
#include "schema/commands.h"

namespace agentrt::cli {
namespace {

using namespace schema;

constexpr int kWatchEveryMs = 500;
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

template <class Enum>
Result<std::optional<Enum>> status_of(const std::optional<std::string>& word) {
  if (!word) return std::nullopt;
  if (const auto status = enum_of<Enum>(*word)) return status;
  std::string allowed;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
      [&](auto d) { allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", d.name); });
  return fail(Code::invalid_params, fmt::format("--status {} is not one of: {}.", *word, allowed));
}

// One look at what the command shows.
struct Look {
  std::string json;
  std::string text;  // what changes while it is watched
  bool running = false;
  std::optional<std::string> next_cursor;
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
    output.out(context_.form() == Form::json ? now.json + "\n" : now.text);
    if (now.next_cursor && context_.form() == Form::text)
      output.hint(fmt::format("· more: agentrt jobs{} --cursor {}",
                              arguments_.job ? " " + *arguments_.job : "", *now.next_cursor));
    return kExitDone;
  }

  Result<int> watch(const Client& client, Signals& signals) {
    const Screen& screen = context_.output.screen();
    const bool redraws = screen.out_terminal && context_.form() == Form::text;
    for (;;) {
      TRY_ASSIGN(const Look now, look(client));
      const std::string& shown = context_.form() == Form::json ? now.json : now.text;
      if (redraws) {
        if (!redraw(now.text)) return kExitDone;
      } else if (shown != last_) {
        const std::string line = context_.form() == Form::json ? shown : one_per_line(shown);
        if (!context_.output.out(line.ends_with('\n') ? line : line + "\n")) return kExitDone;
        last_ = shown;
      }
      if (arguments_.job && !now.running) return kExitDone;
      signals.wait(kWatchEveryMs);
      if (signals.count() > 0) return kExitInterrupted;
    }
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
    if (arguments_.session) params.session_id = SessionId(*arguments_.session);
    TRY_ASSIGN(params.status, status_of<JobItemStatus>(arguments_.status));
    params.limit = arguments_.limit;
    params.cursor = arguments_.cursor;
    Look out;
    TRY_ASSIGN(GetJobReply job, ask<GetJobReply>(client, "get_job", to_json(params), out.json));
    out.running = job.status == JobStatus::running || job.status == JobStatus::queued;
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
    out.text = job_text(job, items, pace, now_of_clock(), paper());
    return out;
  }

  Result<Look> look_at_all(const Client& client) {
    ListJobs params;
    if (arguments_.session) params.session_id = SessionId(*arguments_.session);
    TRY_ASSIGN(params.status, status_of<JobStatus>(arguments_.status));
    params.limit = arguments_.limit;
    params.cursor = arguments_.cursor;
    Look out;
    TRY_ASSIGN(const JobPage page, ask<JobPage>(client, "list_jobs", to_json(params), out.json));
    out.next_cursor = page.next_cursor;
    out.text = jobs_text(page.data, now_of_clock(), paper());
    return out;
  }

  // Replaces what was drawn before.
  bool redraw(const std::string& text) {
    std::string out;
    if (drawn_ > 0) out = fmt::format("\r\x1b[{}A\x1b[J", drawn_);
    out += text;
    drawn_ = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    return context_.output.out(out);
  }

  // In a pipe: the lines that changed.
  std::string one_per_line(const std::string& text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      if (!last_.contains(line + "\n")) out += line + "\n";
      at = end + 1;
    }
    return out;
  }

  Context& context_;
  const JobsArguments& arguments_;
  PaceMeter pace_;
  std::string last_;
  std::size_t drawn_ = 0;  // lines on the screen
};

}  // namespace

int show_jobs(Context& context, const JobsArguments& arguments) {
  Jobs jobs(context, arguments);
  return with_runtime(context, [&](const Client& client, Signals& signals) -> Result<int> {
    return arguments.watch ? jobs.watch(client, signals) : jobs.print(client);
  });
}

}  // namespace agentrt::cli
