#include "control/context/threads.h"

#include <fmt/format.h>

namespace agentrt::control {

using namespace schema;

namespace {

Error missing(const SessionId& session, std::string_view what) {
  return {Code::not_found,
          fmt::format("{}; agentrt show {} lists the threads and turns of the session", what,
                      session.text()),
          {}};
}

}  // namespace

Error no_open_thread(const SessionId& session, const ThreadId& thread) {
  return missing(session, fmt::format("there is no open thread {}", thread.text()));
}

Error no_turn(const SessionId& session, const ThreadId& thread, const TurnId& turn) {
  return missing(session, fmt::format("thread {} has no turn {}", thread.text(), turn.text()));
}

Error not_ended(const Turn& turn) {
  return {Code::conflict,
          fmt::format("turn {} has not ended, its status is {}: wait for its end, or interrupt it",
                      turn.ids.turn.text(), name_of(turn.status)),
          fmt::format(R"({{"status":"{}","turnId":{}}})", name_of(turn.status),
                      to_json(turn.ids.turn))};
}

}  // namespace agentrt::control
