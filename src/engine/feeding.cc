#include "engine/feeding.h"

#include <deque>

#include "conversation/stored_parts.h"
#include "schema/arguments.h"

namespace agentrt::engine {

using namespace schema;

namespace {

constexpr std::int64_t kRetryMs = 1'000;  // after the input or the policy could not be read
constexpr std::int64_t kLookAgainMs = 100;
constexpr std::int64_t kTimerMaxMs = 3'600'000;  // a timer looks at the clock at least this often

// Why the model's answer does not match; nullopt: it does. A fence around the JSON is ignored.
std::optional<std::string> wrong_value(const Json& schema, std::string_view answer) {
  constexpr std::string_view kBlank = " \t\r\n";
  const auto trim = [&](std::string_view text) {
    const std::size_t from = text.find_first_not_of(kBlank);
    if (from == text.npos) return std::string_view();
    return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
  };
  std::string_view text = trim(answer);
  if (text.starts_with("```") && text.ends_with("```") && text.size() > 6) {
    text.remove_suffix(3);
    text.remove_prefix(std::min(text.find('\n'), text.size()));
    text = trim(text);
  }
  if (!check_json(text)) return "the answer is not one JSON value";
  if (!text.starts_with('{')) return "the answer is not a JSON object";
  return wrong_arguments(schema, Json{std::string(text)});
}

bool may_pass(const Error& error) {
  return error.code == Code::unavailable || error.code == Code::overloaded;
}

}  // namespace

struct Engine::Feeding::Shared {
  const Parts& parts;
  const SessionId session;
  const std::string cwd;
  FeedJob job;                // as of the last commit
  std::deque<JobLine> lines;  // read in advance; the first follows the cursor
  bool busy = false;          // reading, or a report is not stored yet
  bool wanted = true;
  std::optional<ports::Loop::TimerId> timer;
};

Engine::Feeding::Feeding(const Parts& parts, const state::Session& view, const FeedJob& what)
    : shared_(std::make_shared<Shared>(
          Shared{.parts = parts, .session = view.id, .cwd = view.cwd, .job = what})) {
  look(shared_);
}

void Engine::Feeding::called_again(const Effect& effect) {
  shared_->job = std::get<FeedJob>(effect.what);
  look(shared_);
}

Engine::Feeding::~Feeding() {
  shared_->wanted = false;
  if (shared_->timer) shared_->parts.loop.cancel(*shared_->timer);
}

void Engine::Feeding::look(const std::shared_ptr<Shared>& shared) {
  if (shared->busy || !shared->wanted || shared->job.room == 0) return;
  const Timestamp now = shared->parts.loop.now();
  const bool due = shared->job.due && *shared->job.due <= now;
  if (due || shared->job.more || shared->job.redo) return read(shared);
  if (shared->job.due) look_later(shared, std::min(*shared->job.due - now, kTimerMaxMs));
}

void Engine::Feeding::read(const std::shared_ptr<Shared>& shared) {
  shared->busy = true;
  const JobCursor& after = shared->job.after;
  while (!shared->lines.empty() && shared->lines.front().line <= after.line)
    shared->lines.pop_front();
  if (!shared->lines.empty() && shared->lines.front().line != after.line + 1) shared->lines.clear();
  const bool needs_lines = shared->job.more && shared->lines.empty();
  auto task = std::make_shared<ports::Step>([shared, needs_lines, after, job = shared->job,
                                             &parts = shared->parts] {
    Result<std::vector<JobItemRecord>> failed;
    if (job.redo)
      failed =
          parts.job_inputs->failed(shared->session, job.job, job.redo_before, kLinesPerReportMax);
    Result<std::vector<JobLine>> lines;
    if (needs_lines) lines = parts.job_inputs->lines(job.input_ref, after);
    auto policy = parts.policies.policy(shared->cwd);
    parts.loop.post([shared, redo = job.redo, failed = std::move(failed), lines = std::move(lines),
                     policy = std::move(policy)]() mutable {
      if (!shared->wanted) return;
      ReportJobItems items;
      items.job = shared->job.job;
      const Error* error = !failed   ? &failed.error()
                           : !lines  ? &lines.error()
                           : !policy ? &policy.error()
                                     : nullptr;
      if (error && may_pass(*error)) {
        shared->busy = false;
        return look_later(shared, kRetryMs);
      }
      if (error) {
        items.failure = Failure{Category::internal, error->message, false};
        return report(shared, std::move(items));
      }
      items.policy = *std::move(policy);
      items.failed = *std::move(failed);
      items.failed_ended = redo && items.failed.empty();
      for (JobLine& line : *lines) shared->lines.push_back(std::move(line));
      const std::size_t most = std::min<std::size_t>(shared->job.room, kLinesPerReportMax);
      for (std::size_t i = 0; i < std::min(most, shared->lines.size()); ++i)
        items.lines.push_back(shared->lines[i]);
      report(shared, std::move(items));
    });
  });
  run_soon(shared->parts.loop, shared->parts.worker, std::move(task));
}

// The commit of the report calls called_again(). A report that changed nothing has no commit.
void Engine::Feeding::report(const std::shared_ptr<Shared>& shared, ReportJobItems report) {
  shared->parts.reports.report(shared->session, std::move(report), [shared] {
    shared->busy = false;
    if (shared->wanted) look_later(shared, kLookAgainMs);
  });
}

void Engine::Feeding::look_later(const std::shared_ptr<Shared>& shared, std::int64_t delay_ms) {
  if (shared->timer) shared->parts.loop.cancel(*shared->timer);
  shared->timer = shared->parts.loop.after(delay_ms, [weak = std::weak_ptr(shared)] {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->timer.reset();
    look(alive);
  });
}

struct Engine::JudgingItem::Shared {
  const Parts& parts;
  const ports::HistoryQuery query;
  const Json schema;
  bool wanted = true;
};

Engine::JudgingItem::JudgingItem(const Parts& parts, const state::Session& view,
                                 const JudgeItem& what) {
  ports::HistoryQuery query = history_of(view, what.turn);
  query.catalog = 0;
  shared_ = std::make_shared<Shared>(
      Shared{.parts = parts, .query = std::move(query), .schema = what.schema});
  judge(shared_);
}

Engine::JudgingItem::~JudgingItem() { shared_->wanted = false; }

void Engine::JudgingItem::judge(const std::shared_ptr<Shared>& shared) {
  auto task = std::make_shared<ports::Step>([shared, &parts = shared->parts] {
    auto window = parts.history.window(shared->query);
    std::optional<std::string> wrong;
    if (window) {
      std::vector<ports::Message> last;
      if (window->answered) last.push_back(std::move(window->messages.back()));
      conversation::put_stored_parts(
          last, conversation::ImagesSent::none,
          parts.outputs ? conversation::reader_of(*parts.outputs) : conversation::ReadOutput{});
      wrong = wrong_value(shared->schema, last.empty() ? "" : last.front().text);
    }
    parts.loop.post([shared, read = window.has_value(), wrong = std::move(wrong)] {
      if (!shared->wanted) return;
      const Parts& all = shared->parts;
      if (read)
        return all.reports.report(shared->query.session,
                                  ReportItemJudged{shared->query.turn, wrong}, {});
      all.loop.after(kRetryMs, [weak = std::weak_ptr(shared)] {
        if (const auto alive = weak.lock(); alive && alive->wanted) judge(alive);
      });
    });
  });
  run_soon(shared->parts.loop, shared->parts.worker, std::move(task));
}

struct Engine::JobTimer::Shared {
  const Parts& parts;
  const SessionId session;
  const AwaitJob job;
  std::optional<ports::Loop::TimerId> timer;
};

Engine::JobTimer::JobTimer(const Parts& parts, const state::Session& view, const AwaitJob& what)
    : shared_(std::make_shared<Shared>(Shared{parts, view.id, what, {}})) {
  arm(shared_);
}

Engine::JobTimer::~JobTimer() {
  if (shared_->timer) shared_->parts.loop.cancel(*shared_->timer);
}

void Engine::JobTimer::arm(const std::shared_ptr<Shared>& shared) {
  ports::Loop& loop = shared->parts.loop;
  const std::int64_t left = shared->job.within_ms - loop.since(shared->job.since);
  shared->timer =
      loop.after(std::clamp<std::int64_t>(left, 0, kTimerMaxMs), [weak = std::weak_ptr(shared)] {
        const auto alive = weak.lock();
        if (!alive) return;
        alive->timer.reset();
        if (alive->parts.loop.since(alive->job.since) < alive->job.within_ms) return arm(alive);
        alive->parts.reports.report(alive->session, ReportJobDue{alive->job.job}, {});
      });
}

}  // namespace agentrt::engine
