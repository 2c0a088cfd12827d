#include "kernel/read_commands.h"

#include <algorithm>

#include <fmt/format.h>

#include "kernel/action_reads.h"
#include "kernel/channels/channel_reads.h"
#include "kernel/job_reads.h"
#include "kernel/look_ups.h"
#include "kernel/models/models.h"
#include "kernel/reads.h"
#include "kernel/lists/session_list.h"
#include "kernel/session_reads.h"
#include "kernel/task_reads.h"
#include "kernel/tool_reads.h"
#include "state/index.h"
#include "state/read_models.h"

namespace agentrt::kernel {

using namespace schema;

void ReadCommands::answer(Command command, ports::ReplyTo reply_to) {
  std::visit(
      [&]<class Query>(Query& query) {
        if constexpr (Query::kTraits.effect == CommandEffect::reads) {
          static_assert(
              requires { this->read(std::move(query), std::move(reply_to)); },
              "every read command needs a read(): it would never answer its caller");
          read(std::move(query), std::move(reply_to));
        } else {
          stop("a command that changes something is decided, not read");
        }
      },
      command);
}

void ReadCommands::on_worker(std::move_only_function<ports::Reply()> read,
                             ports::ReplyTo reply_to) {
  auto shared = std::make_shared<ports::ReplyTo>(std::move(reply_to));
  const bool taken =
      parts_.readers.run([shared, read = std::move(read)]() mutable { (*shared)(read()); });
  if (!taken) (*shared)(fail(Code::overloaded, "too many reads are in progress: try again"));
}

void ReadCommands::in_past(ReadPast read, ports::ReplyTo reply_to) {
  if (past_reads_ >= parts_.limits.past_reads_max)
    return reply_to(
        fail(Code::overloaded,
             fmt::format("{} reads with atSequence are in progress: try again", past_reads_)));
  ++past_reads_;
  auto to = std::make_shared<ports::ReplyTo>(std::move(reply_to));
  const bool taken = parts_.past_readers.run([this, to, read = std::move(read)]() mutable {
    ports::Reply reply = read({parts_.store, parts_.settings, parts_.limits, past_stopped_});
    // Before the reply, so that its caller may read the past again.
    parts_.loop.post([this] { --past_reads_; });
    (*to)(std::move(reply));
  });
  if (taken) return;
  --past_reads_;
  (*to)(fail(Code::overloaded, "too many reads are in progress: try again"));
}

void ReadCommands::with_view(const SessionId& session, ports::ReplyTo reply_to, ReadView read) {
  parts_.lanes.put(
      session, ReadWork{[session, reply_to = std::move(reply_to),
                         read = std::move(read)](Result<const state::Session*> view) mutable {
        if (!view) return reply_to(std::unexpected(view.error()));
        if (!(*view)->exists())
          return reply_to(
              fail(Code::not_found, fmt::format("there is no session {}", session.text())));
        read(**view, std::move(reply_to));
      }});
}

void ReadCommands::with_rows(const SessionId& session, ports::ReplyTo reply_to, ReadRows read) {
  auto to = std::make_shared<ports::ReplyTo>(std::move(reply_to));
  auto look = [this, session, to, read = std::move(read)](auto view) mutable {
    if (!view) return (*to)(std::unexpected(view.error()));
    const auto release = [this, session] {
      parts_.loop.post([this, session] { parts_.lanes.release(session); });
    };
    if (!(*view)->exists()) {
      release();
      return (*to)(fail(Code::not_found, fmt::format("there is no session {}", session.text())));
    }
    on_worker([read = std::move(read), copy = std::make_shared<const state::Session>(
                                           **view)]() mutable { return read(*copy); },
              [to, release](ports::Reply reply) {
                release();
                (*to)(std::move(reply));
              });
  };
  parts_.lanes.put(session, ReadWork{.read = std::move(look), .holds = true});
}

void ReadCommands::read(ListSessions query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query), stale = parts_.unrecovered] {
        return list_sessions(parts_.store, query, parts_.limits,
                             [&](const SessionId& id) { return stale.contains(id); });
      },
      std::move(reply_to));
}

void ReadCommands::read(ListEvents query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query)] { return list_events(parts_.store, query, parts_.limits); },
      std::move(reply_to));
}

void ReadCommands::read(ListActions query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query)] { return list_actions(parts_.store, query, parts_.limits); },
      std::move(reply_to));
}

void ReadCommands::with_policy(const std::optional<SessionId>& session,
                               const std::optional<std::string>& cwd, ports::ReplyTo reply_to,
                               ReadPolicy read) {
  if (!session) {
    state::Session none;
    none.cwd = cwd.value_or(parts_.settings.default_cwd);
    return read(std::move(none), std::move(reply_to));
  }
  with_view(*session, std::move(reply_to),
            [read = std::move(read)](const state::Session& view, ports::ReplyTo to) mutable {
              state::Session like;
              like.id = view.id;
              like.sequence = view.sequence;
              like.cwd = view.cwd;
              like.granted = view.granted;
              like.mode = view.mode;
              like.catalog = view.catalog;
              read(std::move(like), std::move(to));
            });
}

void ReadCommands::read(GetRules query, ports::ReplyTo reply_to) {
  const auto session = query.session_id;
  const auto cwd = query.cwd;
  with_policy(session, cwd, std::move(reply_to),
              [this, query = std::move(query)](state::Session view, ports::ReplyTo to) {
                on_worker([this, view = std::move(view),
                           query] { return read_rules(parts_.policies, view, query); },
                          std::move(to));
              });
}

void ReadCommands::read(GetTrust query, ports::ReplyTo reply_to) {
  on_worker([this, query = std::move(query)] { return read_trust(parts_.policies, query); },
            std::move(reply_to));
}

void ReadCommands::read(GetSession query, ports::ReplyTo reply_to) {
  if (query.at_sequence)
    return in_past([query = std::move(query)](
                       const PastSource& source) { return past_session(source, query); },
                   std::move(reply_to));
  const SessionId session = query.session_id;
  with_rows(session, std::move(reply_to),
            [this, query = std::move(query)](const state::Session& view) -> ports::Reply {
              TRY_ASSIGN(const SessionSnapshot read,
                         read_session(parts_.store, view, query, parts_.limits));
              return to_json(read);
            });
}

void ReadCommands::read(GetThreadRead query, ports::ReplyTo reply_to) {
  if (query.at_sequence)
    return in_past(
        [query = std::move(query)](const PastSource& source) { return past_thread(source, query); },
        std::move(reply_to));
  const SessionId session = query.session_id;
  with_rows(session, std::move(reply_to),
            [this, query = std::move(query)](const state::Session& view) -> ports::Reply {
              TRY_ASSIGN(const ThreadRead read,
                         read_thread(parts_.store, view, query.thread_id, parts_.limits));
              return to_json(read);
            });
}

void ReadCommands::read(GetReadModel query, ports::ReplyTo reply_to) {
  if (auto wrong = models::wrong_query(query)) return reply_to(std::unexpected(*std::move(wrong)));
  if (query.at_sequence)
    return in_past(
        [query = std::move(query)](const PastSource& source) { return past_model(source, query); },
        std::move(reply_to));
  const SessionId session = query.session_id;
  with_rows(session, std::move(reply_to), [this, query = std::move(query)](const auto& view) {
    return models::read_model({.store = parts_.store,
                               .view = view,
                               .thread = query.thread_id,
                               .boot = parts_.boot,
                               .settings = parts_.settings,
                               .policies = parts_.policies,
                               .limits = parts_.limits},
                              query.name);
  });
}

void ReadCommands::read(GetTurn query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query)] { return get_turn(parts_.store, query, parts_.limits); },
      std::move(reply_to));
}

void ReadCommands::read(FindObject query, ports::ReplyTo reply_to) {
  on_worker([this, query = std::move(query)] { return find_object(parts_.store, query); },
            std::move(reply_to));
}

void ReadCommands::read(ListChannels query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query)] {
        return list_channels(parts_.store, query, parts_.boot, parts_.limits);
      },
      std::move(reply_to));
}

void ReadCommands::read(EvaluatePermission query, ports::ReplyTo reply_to) {
  const auto session = query.session_id;
  const auto cwd = query.cwd;
  with_policy(session, cwd, std::move(reply_to),
              [this, query = std::move(query)](state::Session view, ports::ReplyTo to) {
                on_worker(
                    [this, view = std::move(view), query]() mutable {
                      return evaluate_permission(parts_.policies, std::move(view), query,
                                                 parts_.settings);
                    },
                    std::move(to));
              });
}

void ReadCommands::read(GetToolInventory query, ports::ReplyTo reply_to) {
  with_policy(query.session_id, std::nullopt, std::move(reply_to),
              [this](state::Session view, ports::ReplyTo to) {
                on_worker(
                    [this, view = std::move(view)]() mutable {
                      return tool_inventory(parts_.store, parts_.policies, std::move(view),
                                            parts_.settings);
                    },
                    std::move(to));
              });
}

void ReadCommands::read(GetTask query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query)] { return get_task(parts_.store, query, parts_.limits); },
      std::move(reply_to));
}

void ReadCommands::read(ListTasks query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query)] { return list_tasks(parts_.store, query, parts_.limits); },
      std::move(reply_to));
}

void ReadCommands::read(ListSubagents query, ports::ReplyTo reply_to) {
  on_worker([this, query = std::move(
                       query)] { return list_subagents(parts_.store, query, parts_.limits); },
            std::move(reply_to));
}

void ReadCommands::read(WaitSubagents query, ports::ReplyTo reply_to) {
  parts_.waits.wait(std::move(query), std::move(reply_to));
}

void ReadCommands::read(GetExecutionEnvironment query, ports::ReplyTo reply_to) {
  const SessionId session = query.session_id;
  with_view(
      session, std::move(reply_to),
      [this, query = std::move(query)](const state::Session& view, ports::ReplyTo to) mutable {
        if (query.thread_id && !state::find_thread(view, *query.thread_id))
          return to(no_thread(view.id, *query.thread_id));
        EnvironmentSnapshot read = state::environment_snapshot(view, query.thread_id, parts_.boot);
        read.generation = parts_.store.generation();
        to(to_json(read));
      });
}

// The row says which session owns the job; its view has the current counts of a running one.
void ReadCommands::read(GetJob query, ports::ReplyTo reply_to) {
  auto to = std::make_shared<ports::ReplyTo>(std::move(reply_to));
  const bool taken = parts_.readers.run([this, query = std::move(query), to]() mutable {
    auto found = find_job_row(parts_.store, query);
    if (!found) return (*to)(std::unexpected(std::move(found).error()));
    parts_.loop.post([this, query = std::move(query), to, found = *std::move(found)]() mutable {
      with_view(
          found.session, std::move(*to),
          [this, query = std::move(query), record = std::move(found.record)](
              const state::Session& view, ports::ReplyTo reply) mutable {
            const auto running = view.jobs.find(query.job_id);
            if (running != view.jobs.end()) record = running->second.record;
            on_worker(
                [this, query = std::move(query), record = std::move(record), session = view.id] {
                  return read_job(parts_.store, parts_.job_inputs, session, record, query);
                },
                std::move(reply));
          });
    });
  });
  if (!taken) (*to)(fail(Code::overloaded, "too many reads are in progress: try again"));
}

void ReadCommands::read(ListJobs query, ports::ReplyTo reply_to) {
  on_worker(
      [this, query = std::move(query)] { return list_jobs(parts_.store, query, parts_.limits); },
      std::move(reply_to));
}

}  // namespace agentrt::kernel
