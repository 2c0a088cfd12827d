#include "kernel/kernel.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "conversation/history/history.h"
#include "kernel/action_reads.h"
#include "kernel/reads.h"
#include "kernel/redaction.h"
#include "kernel/tool_reads.h"
#include "state/read_models.h"

namespace agentrt::kernel {

using namespace schema;

// A mutating command between its arrival and its lane.
struct Kernel::Admission {
  SessionId session;
  CommandWork work;
  std::optional<std::string> key;
  std::optional<TurnId> turn;
  std::optional<TaskId> task;
  std::optional<ActionId> action;
  std::optional<ProcessId> process;
  std::optional<FolderChoice> folders;
  bool session_named = false;
  std::vector<std::string> claims;
  std::optional<Result<std::string>> answer;  // found by the look-up: nothing is left to decide

  bool names_something() const { return key || turn || task || action || process || folders; }
};

namespace {

// What `pick` finds in the command; nothing in one that has no such member.
template <class AnyId, class Pick>
std::optional<AnyId> named(const Command& command, Pick pick) {
  return std::visit(
      [&](const auto& c) -> std::optional<AnyId> {
        if constexpr (requires { pick(c); })
          return pick(c);
        else
          return std::nullopt;
      },
      command);
}

std::optional<TurnId> named_turn(const Command& command) {
  const auto queued = [](const auto& c) -> decltype(c.queued_turn_id) { return c.queued_turn_id; };
  const auto own = [](const auto& c) -> decltype(c.turn_id) { return c.turn_id; };
  const auto found = named<TurnId>(command, queued);
  return found ? found : named<TurnId>(command, own);
}
std::optional<ActionId> named_action(const Command& command) {
  return named<ActionId>(command,
                         [](const auto& c) -> decltype(c.action_id) { return c.action_id; });
}
std::optional<ProcessId> named_process(const Command& command) {
  return named<ProcessId>(command,
                          [](const auto& c) -> decltype(c.process_id) { return c.process_id; });
}

// The folders of the session that the command may create; nothing where it names none and the
// caller's token does not either.
std::optional<FolderChoice> named_folders(const Command& command, const FolderGrant& grant) {
  FolderChoice out;
  const auto take = [&out](const auto& from) {
    out = {from.cwd, from.additional_roots.value_or(std::vector<std::string>{})};
  };
  if (const auto* create = std::get_if<CreateSession>(&command))
    take(*create);
  else if (const auto* submit = std::get_if<SubmitTurn>(&command))
    take(submit->options.value_or(TurnOptions{}));
  else
    return std::nullopt;
  if (!out.cwd && out.additional_roots.empty() && !grant.folder) return std::nullopt;
  return out;
}
// The folder whose files the command reads to answer.
std::optional<std::string> folder_read_by(const Command& command) {
  if (const auto* trust = std::get_if<GetTrust>(&command)) return trust->cwd;
  const auto* evaluate = std::get_if<EvaluatePermission>(&command);
  return evaluate && !evaluate->session_id ? evaluate->cwd : std::nullopt;
}

std::unexpected<Error> no_thread(const ThreadId& thread) {
  return fail(Code::not_found, fmt::format("there is no thread {} in this session", thread.text()));
}

bool reserved(const std::optional<SessionId>& session) {
  return session && session->text() == kSystemSession;
}

}  // namespace

Kernel::Kernel(Parts parts)
    : parts_(std::move(parts)),
      committer_(parts_.store, parts_.loop, parts_.writer, parts_.metrics, parts_.limits),
      claims_(parts_.loop),
      lanes_({.store = parts_.store,
              .loop = parts_.loop,
              .readers = parts_.readers,
              .entropy = parts_.entropy,
              .metrics = parts_.metrics,
              .committer = committer_,
              .settings = parts_.settings,
              .limits = parts_.limits,
              .redactor = parts_.redactor,
              .boot = parts_.boot,
              .history = kept_history_,
              .observers = observers_,
              .publish = [this](const ports::FeedBatch& batch) {
                if (listener_) listener_(batch);
                pack_after(parts_.limits.pack_after_ms);
              }}) {}

void Kernel::observe(Observers observers) { observers_ = std::move(observers); }

void Kernel::listen(std::function<void(const ports::FeedBatch&)> listener) {
  parts_.loop.post([this, listener = std::move(listener)] { listener_ = listener; });
}

void Kernel::call(Command command, ports::Caller caller, ports::ReplyTo reply_to) {
  if (in_flight_.fetch_add(1) >= parts_.limits.commands_in_flight_max) {
    --in_flight_;
    ++parts_.metrics.commands_overloaded;
    parts_.loop.post([reply_to = std::move(reply_to)]() mutable {
      reply_to(fail(Code::overloaded, "the runtime has too many commands in hand: try again"));
    });
    return;
  }
  auto counted = [this, reply_to = std::move(reply_to)](ports::Reply reply) mutable {
    --in_flight_;
    reply_to(std::move(reply));
  };
  parts_.loop.post([this, command = std::move(command), caller = std::move(caller),
                    counted = std::move(counted)]() mutable {
    admit(std::move(command), std::move(caller), std::move(counted));
  });
}

void Kernel::report(SessionId session, Report report, ports::Step taken) {
  parts_.loop.post([this, session = std::move(session),
                    work = ReportWork{std::move(report), std::move(taken), {}, {}}]() mutable {
    lanes_.put(session, std::move(work));
  });
}

void Kernel::answer(std::move_only_function<ports::Reply()> read, ports::ReplyTo reply_to) {
  auto shared = std::make_shared<ports::ReplyTo>(std::move(reply_to));
  const bool taken =
      parts_.readers.run([shared, read = std::move(read)]() mutable { (*shared)(read()); });
  if (!taken) (*shared)(fail(Code::overloaded, "too many reads are under way: try again"));
}

bool Kernel::read(Command& command, ports::ReplyTo& reply_to) {
  return std::visit(
      [&]<class Query>(Query& query) {
        store::Store& store = parts_.store;
        const Limits& limits = parts_.limits;
        if constexpr (std::is_same_v<Query, ListSessions>)
          answer(
              [&store, &limits, query, stale = unrecovered_] {
                return list_sessions(store, query, limits,
                                     [&](const SessionId& id) { return stale.contains(id); });
              },
              std::move(reply_to));
        else if constexpr (std::is_same_v<Query, ListEvents>)
          answer([&store, &limits, query] { return list_events(store, query, limits); },
                 std::move(reply_to));
        else if constexpr (std::is_same_v<Query, ListActions>)
          answer([&store, &limits, query] { return list_actions(store, query, limits); },
                 std::move(reply_to));
        else if constexpr (std::is_same_v<Query, GetTrust>)
          answer([this, query] { return read_trust(parts_.policies, query); }, std::move(reply_to));
        else if constexpr (std::is_same_v<Query, GetSession>)
          read_session(std::move(query), std::move(reply_to));
        else if constexpr (std::is_same_v<Query, GetThreadRead>)
          read_thread(std::move(query), std::move(reply_to));
        else if constexpr (std::is_same_v<Query, GetExecutionEnvironment>)
          read_environment(std::move(query), std::move(reply_to));
        else if constexpr (std::is_same_v<Query, GetToolInventory>)
          read_tools(query, std::move(reply_to));
        else if constexpr (std::is_same_v<Query, EvaluatePermission>)
          evaluate(std::move(query), std::move(reply_to));
        return Query::kTraits.effect == schema::Effect::reads;
      },
      command);
}

void Kernel::admit_look(std::string folder, Command command, ports::Caller caller,
                        ports::ReplyTo reply_to) {
  struct Waiting {
    Command command;
    ports::Caller caller;
    ports::ReplyTo reply_to;
  };
  auto waiting =
      std::make_shared<Waiting>(std::move(command), std::move(caller), std::move(reply_to));
  const bool taken = parts_.readers.run([this, waiting, folder = std::move(folder)] {
    const FolderFinding finding =
        parts_.folders->judge({.cwd = folder, .additional_roots = {}}, waiting->caller.folders);
    if (finding.refusal) return waiting->reply_to(std::unexpected(*finding.refusal));
    waiting->caller.folders.any = true;
    parts_.loop.post([this, waiting] {
      admit(std::move(waiting->command), std::move(waiting->caller), std::move(waiting->reply_to));
    });
  });
  if (!taken) waiting->reply_to(fail(Code::overloaded, "too many reads are under way: try again"));
}

void Kernel::admit(Command command, ports::Caller caller, ports::ReplyTo reply_to) {
  if (auto folder = folder_read_by(command); folder && parts_.folders && !caller.folders.any)
    return admit_look(*std::move(folder), std::move(command), std::move(caller),
                      std::move(reply_to));
  if (read(command, reply_to)) return;
  const std::optional<SessionId> session = session_of(command);
  if (reserved(session))
    return reply_to(fail(Code::invalid_params, "sessionId: sess_runtime is reserved"));
  if (parts_.redactor && names_secret(*parts_.redactor, command))
    return reply_to(
        fail(Code::invalid_params, "an id or idempotencyKey must not hold the value of a secret"));
  if (parts_.redactor && parts_.redactor->holds(caller.request.text())) caller.request = {};
  auto admission = std::make_unique<Admission>();
  admission->session = session ? *session : lanes_.fresh_ids().next<SessionId>();
  if (std::holds_alternative<TrustWorkspace>(command))
    admission->session = SessionId{std::string(kSystemSession)};
  admission->action = named_action(command);
  admission->key = idempotency_key_of(command);
  admission->turn = named_turn(command);
  admission->process = named_process(command);
  if (parts_.folders) admission->folders = named_folders(command, caller.folders);
  admission->session_named = session.has_value();
  if (const auto* submit = std::get_if<SubmitTurn>(&command)) admission->task = submit->task_id;
  const bool chosen_id = std::holds_alternative<SubmitTurn>(command) ? admission->turn.has_value()
                                                                     : session.has_value();
  if (admission->key || chosen_id)
    admission->work.params_hash =
        hex(bytes_of(hmac_sha256(parts_.store.hash_key(), canonical_params(command))));
  if (admission->key)
    admission->claims.push_back(fmt::format("key {} {}", caller.principal, *admission->key));
  if (std::holds_alternative<SubmitTurn>(command)) {
    if (admission->turn) admission->claims.push_back("turn " + admission->turn->text());
    if (admission->task) admission->claims.push_back("task " + admission->task->text());
  }
  admission->work.command = std::move(command);
  admission->work.caller = std::move(caller);
  admission->work.reply_to = std::move(reply_to);
  if (!admission->names_something())
    return lanes_.put(admission->session, std::move(admission->work));
  std::vector<std::string> names = admission->claims;
  claims_.claim(std::move(names), [this, admission = std::move(admission)]() mutable {
    look_up(std::move(admission));
  });
}

// Reads what the store knows of the names, off the core.
void Kernel::look_up(std::unique_ptr<Admission> admission) {
  auto* raw = admission.get();
  if (!raw->claims.empty())
    raw->work.reply_to = [this, claims = raw->claims,
                          reply_to = std::move(raw->work.reply_to)](ports::Reply reply) mutable {
      reply_to(std::move(reply));
      parts_.loop.post([this, claims = std::move(claims)] { claims_.release(claims); });
    };
  auto shared = std::make_shared<std::unique_ptr<Admission>>(std::move(admission));
  const bool taken = parts_.readers.run([this, shared] {
    Admission& a = **shared;
    const std::string command(traits_of(a.work.command).name);
    if (a.key) {
      auto record = parts_.store.idempotency(a.work.caller.principal, *a.key);
      if (!record)
        a.answer = std::unexpected(record.error());
      else if (*record && (*record)->command == command &&
               (*record)->params_hash == a.work.params_hash)
        a.answer = std::move((*record)->reply);
      else if (*record)
        a.answer = fail(Code::idempotency_conflict,
                        "this idempotencyKey was used before with another command or other params");
    }
    if (!a.answer && a.turn) {
      auto found = find_turn(parts_.store, *a.turn);
      const bool submits = std::holds_alternative<SubmitTurn>(a.work.command);
      if (!found)
        a.answer = std::unexpected(found.error());
      else if (*found && (submits || (*found)->submitted.ids.session == a.session))
        a.work.named.turn = {std::move((*found)->submitted), (*found)->status};
    }
    if (!a.answer && a.task) {
      auto entry = parts_.store.find("task", a.task->text());
      if (!entry)
        a.answer = std::unexpected(entry.error());
      else
        a.work.named.task = entry->has_value();
    }
    if (!a.answer && a.action) {
      auto found = find_action(parts_.store, *a.action);
      if (!found) {
        a.answer = std::unexpected(found.error());
      } else if (!*found) {
        a.answer = fail(Code::not_found, fmt::format("there is no action {}", a.action->text()));
      } else {
        a.session = (*found)->session_id;
        a.work.named.action = *std::move(*found);
      }
    }
    if (!a.answer && a.process) look_up_process(a);
    if (!a.answer && a.folders)
      a.work.named.folders = parts_.folders->judge(*a.folders, a.work.caller.folders);
    parts_.loop.post([this, shared] { looked_up(std::move(*shared)); });
  });
  if (!taken)
    (*shared)->work.reply_to(fail(Code::overloaded, "too many reads are under way: try again"));
}

// A process is found by its id alone; a session that is named has to be its own.
void Kernel::look_up_process(Admission& admission) {
  auto entry = parts_.store.find(std::string(kProcessKind), admission.process->text());
  const auto mine = [&] {
    return !admission.session_named || (*entry)->session == admission.session;
  };
  if (!entry) {
    admission.answer = std::unexpected(entry.error());
  } else if (*entry && mine()) {
    admission.session = (*entry)->session;
    admission.work.named.process =
        enum_of<ProcessStatus>((*entry)->row.status).value_or(ProcessStatus::unknown);
  } else {
    admission.answer =
        fail(Code::not_found,
             fmt::format("there is no process {} in the background{}", admission.process->text(),
                         admission.session_named ? " of this session" : ""));
  }
}

void Kernel::looked_up(std::unique_ptr<Admission> admission) {
  if (!admission->answer) return lanes_.put(admission->session, std::move(admission->work));
  if (*admission->answer)
    ++parts_.metrics.commands_repeated;
  else
    ++parts_.metrics.commands_refused;
  admission->work.reply_to(std::move(*admission->answer));
}

void Kernel::with_view(const SessionId& session, ports::ReplyTo reply_to, ReadView read) {
  lanes_.put(session, ReadWork{[session, reply_to = std::move(reply_to), read = std::move(read)](
                                   Result<const state::Session*> view) mutable {
               if (!view) return reply_to(std::unexpected(view.error()));
               if (!(*view)->exists())
                 return reply_to(
                     fail(Code::not_found, fmt::format("there is no session {}", session.text())));
               read(**view, std::move(reply_to));
             }});
}

void Kernel::read_session(GetSession query, ports::ReplyTo reply_to) {
  const SessionId session = query.session_id;
  with_view(
      session, std::move(reply_to),
      [this, query = std::move(query)](const state::Session& view, ports::ReplyTo to) mutable {
        answer(
            [this, query = std::move(query),
             snapshot = state::session_snapshot(view)]() mutable -> ports::Reply {
              TRY(add_history(parts_.store, query, parts_.limits, snapshot));
              return to_json(snapshot);
            },
            std::move(to));
      });
}

void Kernel::read_thread(GetThreadRead query, ports::ReplyTo reply_to) {
  const SessionId session = query.session_id;
  with_view(
      session, std::move(reply_to),
      [this, query = std::move(query)](const state::Session& view, ports::ReplyTo to) mutable {
        const state::Thread* thread = state::find_thread(view, query.thread_id);
        if (!thread) return to(no_thread(query.thread_id));
        ThreadRead read = state::thread_read(view, *thread);
        read.generation = parts_.store.generation();
        to(to_json(read));
      });
}

void Kernel::evaluate(EvaluatePermission query, ports::ReplyTo reply_to) {
  if (!query.session_id) {
    state::Session none;
    none.cwd = query.cwd.value_or(parts_.settings.default_cwd);
    return evaluate_in(std::move(none), std::move(query), std::move(reply_to));
  }
  const SessionId session = *query.session_id;
  with_view(
      session, std::move(reply_to),
      [this, query = std::move(query)](const state::Session& view, ports::ReplyTo to) mutable {
        state::Session like;
        like.id = view.id;
        like.cwd = view.cwd;
        like.granted = view.granted;
        like.mode = view.mode;
        evaluate_in(std::move(like), std::move(query), std::move(to));
      });
}

void Kernel::evaluate_in(state::Session view, EvaluatePermission query, ports::ReplyTo reply_to) {
  answer(
      [this, view = std::move(view), query = std::move(query)]() mutable {
        return evaluate_permission(parts_.policies, std::move(view), query, parts_.settings);
      },
      std::move(reply_to));
}

void Kernel::read_tools(const GetToolInventory& query, ports::ReplyTo reply_to) {
  const auto read = [this](state::Session view, ports::ReplyTo to) {
    answer(
        [this, view = std::move(view)]() mutable {
          return tool_inventory(parts_.store, parts_.policies, std::move(view));
        },
        std::move(to));
  };
  if (!query.session_id) {
    state::Session none;
    none.cwd = parts_.settings.default_cwd;
    return read(std::move(none), std::move(reply_to));
  }
  with_view(*query.session_id, std::move(reply_to),
            [read](const state::Session& view, ports::ReplyTo to) {
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

void Kernel::read_environment(GetExecutionEnvironment query, ports::ReplyTo reply_to) {
  const SessionId session = query.session_id;
  with_view(
      session, std::move(reply_to),
      [this, query = std::move(query)](const state::Session& view, ports::ReplyTo to) mutable {
        if (query.thread_id && !state::find_thread(view, *query.thread_id))
          return to(no_thread(*query.thread_id));
        EnvironmentSnapshot read = state::environment_snapshot(view, query.thread_id, parts_.boot);
        read.generation = parts_.store.generation();
        to(to_json(read));
      });
}

void Kernel::read(ports::PageQuery query, ports::PageTo page_to) {
  auto shared = std::make_shared<ports::PageTo>(std::move(page_to));
  const bool taken = parts_.readers.run([this, shared, query = std::move(query)] {
    auto page = read_page(parts_.store, query);
    if (page) parts_.metrics.events_damaged += page->damaged;
    (*shared)(std::move(page));
  });
  if (!taken) (*shared)(fail(Code::overloaded, "too many reads are under way: try again"));
}

Result<ports::HistoryWindow> Kernel::window(const ports::HistoryQuery& query) {
  return conversation::history_window(parts_.store, parts_.limits.history, query, kept_history_);
}

void Kernel::recover(ports::Step done) {
  recovered_ = std::move(done);
  const bool taken = parts_.readers.run([this] {
    auto open = parts_.store.open_sessions();
    parts_.loop.post([this, open = std::move(open)]() mutable {
      if (!open && may_pass(open.error())) {
        parts_.loop.after(parts_.limits.storage_retry_ms,
                          [this] { recover(std::move(recovered_)); });
        return;
      }
      if (open) {
        to_recover_ = *std::move(open);
        unrecovered_.insert(to_recover_.begin(), to_recover_.end());
      }
      for (std::size_t i = 0; i < parts_.limits.recoveries_at_once_max; ++i) recover_next();
      forget_old_keys();
    });
  });
  if (!taken) parts_.loop.after(1, [this] { recover(std::move(recovered_)); });
}

void Kernel::recover_next() {
  if (to_recover_.empty()) {
    if (unrecovered_.empty() && recovered_) std::exchange(recovered_, {})();
    return;
  }
  SessionId next = std::move(to_recover_.back());
  to_recover_.pop_back();
  lanes_.recover(next, [this, next] {
    unrecovered_.erase(next);
    parts_.loop.post([this] { recover_next(); });
  });
}

// Off the commits' way: after a while, and a bounded piece at a time.
void Kernel::pack_after(std::int64_t delay_ms) {
  if (std::exchange(packing_, true)) return;
  parts_.loop.after(delay_ms, [this] {
    const bool taken = parts_.writer.run([this] {
      const auto more = parts_.store.pack(parts_.limits.pack_rows_max);
      parts_.loop.post([this, again = more && *more] {
        packing_ = false;
        if (again) pack_after(parts_.limits.pack_again_ms);
      });
    });
    if (taken) return;
    packing_ = false;
    pack_after(parts_.limits.pack_again_ms);
  });
}

void Kernel::forget_old_keys() {
  const Timestamp before = parts_.loop.older_than(parts_.limits.idempotency_keep_ms);
  (void)parts_.writer.run([this, before] {
    (void)parts_.store.forget_idempotency(before, parts_.limits.idempotency_sweep_max);
  });
  parts_.loop.after(parts_.limits.idempotency_sweep_ms, [this] { forget_old_keys(); });
}

}  // namespace agentrt::kernel
