#include "channels/handlers/metrics_text.h"

#include <array>

#include <fmt/format.h>

namespace agentrt::channels {
namespace {

using ports::Metrics;

enum class Kind { counter, gauge };

struct Row {
  std::string_view name;
  Kind kind;
  std::string_view help;
  Metrics::Counter Metrics::* value;
};

constexpr std::array kRows{
    Row{"core_steps_total", Kind::counter, "Steps run on the core thread", &Metrics::core_steps},
    Row{"core_steps_over_limit_total", Kind::counter, "Core steps longer than 1 ms",
        &Metrics::core_steps_over_limit},
    Row{"core_step_us_max", Kind::gauge, "Longest core step so far", &Metrics::core_step_us_max},
    Row{"core_step_cpu_us_max", Kind::gauge, "Largest processor time of a core step so far",
        &Metrics::core_step_cpu_us_max},
    Row{"commands_accepted_total", Kind::counter, "Commands accepted", &Metrics::commands_accepted},
    Row{"commands_repeated_total", Kind::counter, "Commands answered from an earlier reply",
        &Metrics::commands_repeated},
    Row{"commands_refused_total", Kind::counter, "Commands refused", &Metrics::commands_refused},
    Row{"commands_overloaded_total", Kind::counter, "Commands refused because of overload",
        &Metrics::commands_overloaded},
    Row{"reports_total", Kind::counter, "Outcomes reported to the core", &Metrics::reports},
    Row{"facts_appended_total", Kind::counter, "Facts stored", &Metrics::facts_appended},
    Row{"commits_total", Kind::counter, "Commits", &Metrics::commits},
    Row{"commit_appends_total", Kind::counter, "Appends in those commits",
        &Metrics::commit_appends},
    Row{"commit_failures_total", Kind::counter, "Commits that failed", &Metrics::commit_failures},
    Row{"commit_us_total", Kind::counter, "Microseconds spent committing", &Metrics::commit_us},
    Row{"sessions_loaded_total", Kind::counter, "Sessions loaded from disk",
        &Metrics::sessions_loaded},
    Row{"sessions_in_memory", Kind::gauge, "Sessions in memory", &Metrics::sessions_in_memory},
    Row{"sessions_blocked_total", Kind::counter, "Sessions whose facts cannot be stored",
        &Metrics::sessions_blocked},
    Row{"snapshots_stored_total", Kind::counter, "Snapshots stored", &Metrics::snapshots_stored},
    Row{"snapshots_repaired_total", Kind::counter, "Snapshots rebuilt from the log",
        &Metrics::snapshots_repaired},
    Row{"subscribers", Kind::gauge, "Open event streams", &Metrics::subscribers},
    Row{"subscribers_overflowed_total", Kind::counter,
        "Event streams closed because the client read too slowly",
        &Metrics::subscribers_overflowed},
    Row{"events_delivered_total", Kind::counter, "Events written to streams",
        &Metrics::events_delivered},
    Row{"events_damaged_total", Kind::counter, "Damaged events skipped in streams of all sessions",
        &Metrics::events_damaged},
    Row{"http_requests_total", Kind::counter, "HTTP requests", &Metrics::http_requests},
    Row{"http_connections", Kind::gauge, "Open connections", &Metrics::http_connections},
    Row{"http_connections_refused_total", Kind::counter, "Connections refused because of the limit",
        &Metrics::http_connections_refused},
    Row{"http_connections_reclaimed_total", Kind::counter,
        "Idle unauthenticated connections closed to make room",
        &Metrics::http_connections_reclaimed},
    Row{"http_reply_bytes", Kind::gauge, "Bytes of replies in memory", &Metrics::http_reply_bytes},
    Row{"http_replies_refused_total", Kind::counter,
        "Replies refused because of the limit on those bytes", &Metrics::http_replies_refused},
    Row{"websockets", Kind::gauge, "Open WebSocket connections", &Metrics::websockets},
    Row{"channels", Kind::gauge, "Connected channels", &Metrics::channels},
    Row{"rpc_responses_dropped_total", Kind::counter, "Responses of clients to unknown requests",
        &Metrics::rpc_responses_dropped},
    Row{"turns_completed_total", Kind::counter, "Turns completed", &Metrics::turns_completed},
    Row{"turns_failed_total", Kind::counter, "Turns failed", &Metrics::turns_failed},
    Row{"model_requests_total", Kind::counter, "Requests to models", &Metrics::model_requests},
    Row{"model_failures_total", Kind::counter, "Requests to models that failed",
        &Metrics::model_failures},
    Row{"output_bytes", Kind::gauge, "Bytes of stored outputs, as of the last sweep",
        &Metrics::output_bytes},
    Row{"outputs_expired_total", Kind::counter, "Outputs that expired", &Metrics::outputs_expired},
    Row{"blobs_removed_total", Kind::counter, "Stored bytes removed", &Metrics::blobs_removed},
};

}  // namespace

std::string metrics_text(const Metrics& metrics) {
  std::string out;
  for (const Row& row : kRows)
    fmt::format_to(std::back_inserter(out),
                   "# HELP agentrt_{0} {1}\n# TYPE agentrt_{0} {2}\nagentrt_{0} {3}\n", row.name,
                   row.help, row.kind == Kind::gauge ? "gauge" : "counter",
                   (metrics.*row.value).load(std::memory_order_relaxed));
  return out;
}

}  // namespace agentrt::channels
