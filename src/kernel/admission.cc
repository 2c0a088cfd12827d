#include "kernel/admission.h"

#include <fmt/format.h>

#include "base/digest.h"
#include "kernel/reads.h"
#include "kernel/redaction.h"
#include "kernel/turn_ends.h"
#include "schema/outputs.h"
#include "state/index.h"

namespace agentrt::kernel {

using namespace schema;

// A mutating command between its arrival and its lane.
struct Admission::Pending {
  AdmissionPlan plan;
  SessionId session;  // whose lane it takes; of LaneChoice::owner: known after the look-up
  // The session that the named object must belong to; absent: any.
  std::optional<SessionId> owner;
  CommandWork work;
  std::optional<std::string> key;
  std::vector<std::string> claims;
  std::optional<ports::Reply> answer;  // given by the look-up: nothing is left to decide

  bool needs_look_up() const {
    return hashes() || plan.new_turn || plan.new_task || plan.new_subagent || plan.turn ||
           plan.object || plan.folders || !plan.outputs.empty() || plan.new_job ||
           plan.checks_items || plan.new_session || plan.new_channel;
  }
  // Whether a repetition must be told from another command with the same key or id.
  bool hashes() const { return key || plan.id_chosen; }
};

namespace {

// Where objects of one kind are found, and what a decision needs of one.
struct ObjectRow {
  std::string_view kind;   // of its index row
  std::string_view where;  // completes "there is no KIND ID"
  Result<void> (*keep)(const store::IndexEntry& found, control::Named& named);
};

Result<void> keep_action(const store::IndexEntry& found, control::Named& named) {
  ActionSnapshot action;
  TRY(from_json(found.row.record, action, Unknown::ignore));
  named.action = std::move(action);
  return {};
}

Result<void> keep_process(const store::IndexEntry& found, control::Named& named) {
  named.process = enum_of<ProcessStatus>(found.row.status).value_or(ProcessStatus::unknown);
  return {};
}

// The decision reads a task or job when its command is first in the lane.
Result<void> keep_nothing(const store::IndexEntry&, control::Named&) { return {}; }

Result<void> keep_subagent(const store::IndexEntry& found, control::Named& named) {
  SubagentSnapshot subagent;
  TRY(from_json(found.row.record, subagent, Unknown::ignore));
  named.subagent = std::move(subagent);
  return {};
}

ObjectRow row_of(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::action:
      return {state::kActionKind, "", keep_action};
    case ObjectKind::process:
      return {kProcessKind, " in the background", keep_process};
    case ObjectKind::task:
      return {state::kTaskKind, "", keep_nothing};
    case ObjectKind::job:
      return {kJobKind, "", keep_nothing};
    case ObjectKind::subagent:
      return {state::kSubagentKind, "", keep_subagent};
    case ObjectKind::channel:
      break;  // found by find_named_channel()
  }
  stop("an object has a kind");
}

SessionId lane_session(LaneChoice lane, const std::optional<SessionId>& named, Lanes& lanes) {
  if (lane == LaneChoice::system) return SessionId{std::string(kSystemSession)};
  return named ? *named : lanes.fresh_ids().next<SessionId>();
}

// The folders that must be judged: those that the command names, or that of the caller's token, or
// the one that the caller runs in.
std::optional<FolderChoice> folders_to_judge(std::optional<FolderChoice> named,
                                             const FolderGrant& grant) {
  const bool has_default = grant.folder || grant.started_in;
  if (named && !named->cwd && named->additional_roots.empty() && !has_default) return std::nullopt;
  return named;
}

// The refusal of the first ref that is not an output of the session. One of another session gets
// the same answer as one that does not exist.
Result<std::optional<Error>> refused_output(store::Store& store, const SessionId& session,
                                            const std::vector<std::string>& refs) {
  for (const std::string& ref : refs) {
    TRY_ASSIGN(const auto found, store.find(std::string(kOutputKind), ref));
    if (!found || found->session != session)
      return Error{Code::not_found, fmt::format("there is no output {} in this session", ref), {}};
    if (found->row.status != kOutputKept)
      return Error{Code::expired, fmt::format("output {} is no longer kept", ref), {}};
  }
  return std::nullopt;
}

std::unexpected<Error> too_many_reads() {
  return fail(Code::overloaded, "too many reads are in progress: try again");
}

}  // namespace

void Admission::admit(Command command, ports::Caller caller, ports::ReplyTo reply_to) {
  AdmissionPlan plan = plan_admission(command);
  if (plan.reads_folder && parts_.folders && !caller.folders.any)
    return admit_in_folder(*std::move(plan.reads_folder), std::move(command), std::move(caller),
                           std::move(reply_to));
  if (auto* acknowledgement = std::get_if<AckEvents>(&command))
    return parts_.channels.acknowledge(std::move(*acknowledgement), std::move(caller),
                                       std::move(reply_to));
  if (traits_of(command).effect == CommandEffect::reads)
    return parts_.reads.answer(std::move(command), std::move(reply_to));
  admit_mutation(std::move(plan), std::move(command), std::move(caller), std::move(reply_to));
}

void Admission::admit_in_folder(std::string folder, Command command, ports::Caller caller,
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
    parts_.loop.post([this, waiting] {
      parts_.reads.answer(std::move(waiting->command), std::move(waiting->reply_to));
    });
  });
  if (!taken) waiting->reply_to(too_many_reads());
}

void Admission::admit_mutation(AdmissionPlan plan, Command command, ports::Caller caller,
                               ports::ReplyTo reply_to) {
  const std::optional<SessionId> named = session_of(command);
  for (const auto& [member, id] :
       {std::pair{"sessionId", named}, std::pair{"newSessionId", plan.new_session}})
    if (id && id->text() == kSystemSession)
      return reply_to(
          fail(Code::invalid_params, fmt::format("{}: sess_runtime is reserved", member)));
  if (parts_.redactor && names_secret(*parts_.redactor, command))
    return reply_to(
        fail(Code::invalid_params, "an id or idempotencyKey must not contain a secret"));
  if (parts_.redactor && parts_.redactor->holds(caller.request.text())) caller.request = {};

  auto pending = std::make_unique<Pending>();
  pending->session =
      plan.new_session ? *plan.new_session : lane_session(plan.lane, named, parts_.lanes);
  pending->owner = named ? named : caller.session;
  pending->plan = std::move(plan);
  std::optional<FolderChoice>& folders = pending->plan.folders;
  folders = parts_.folders ? folders_to_judge(std::move(folders), caller.folders) : std::nullopt;
  pending->key = idempotency_key_of(command);
  if (pending->key)
    pending->claims.push_back(fmt::format("key {} {}", caller.principal, *pending->key));
  if (pending->plan.new_turn) pending->claims.push_back("turn " + pending->plan.new_turn->text());
  if (pending->plan.new_task) pending->claims.push_back("task " + pending->plan.new_task->text());
  if (pending->plan.new_job) pending->claims.push_back("job " + pending->plan.new_job->text());
  // Its reply must not name less than an acknowledgement that was answered before.
  if (const auto* resumed = std::get_if<ReconnectChannel>(&command))
    pending->claims.push_back(acknowledgement_claim(resumed->channel_id));
  if (pending->plan.new_channel)
    pending->claims.push_back("channel " + pending->plan.new_channel->text());
  if (pending->plan.new_subagent)
    pending->claims.push_back("subagent " + pending->plan.new_subagent->text());
  pending->work.command = std::move(command);
  pending->work.caller = std::move(caller);
  pending->work.reply_to = std::move(reply_to);
  if (!pending->needs_look_up()) return put(std::move(pending));
  std::vector<std::string> claims = pending->claims;
  parts_.claims.claim(std::move(claims), [this, pending = std::move(pending)]() mutable {
    start_look_up(std::move(pending));
  });
}

void Admission::put(std::unique_ptr<Pending> pending) {
  CommandWork& work = pending->work;
  if (std::holds_alternative<ConnectChannel>(work.command) ||
      std::holds_alternative<ReconnectChannel>(work.command))
    work.reply_to = parts_.channels.with_snapshot(pending->session, std::move(work.reply_to));
  parts_.lanes.put(pending->session, std::move(work));
}

void Admission::start_look_up(std::unique_ptr<Pending> pending) {
  if (!pending->claims.empty())
    pending->work.reply_to = [this, claims = pending->claims,
                              reply_to =
                                  std::move(pending->work.reply_to)](ports::Reply reply) mutable {
      reply_to(std::move(reply));
      parts_.loop.post([this, claims = std::move(claims)] { parts_.claims.release(claims); });
    };
  auto shared = std::make_shared<std::unique_ptr<Pending>>(std::move(pending));
  const bool taken = parts_.readers.run([this, shared] {
    (*shared)->answer = look_up(**shared);
    parts_.loop.post([this, shared] { finish(std::move(*shared)); });
  });
  if (!taken) (*shared)->work.reply_to(too_many_reads());
}

void Admission::finish(std::unique_ptr<Pending> pending) {
  if (!pending->answer && pending->plan.new_session) return read_source(std::move(pending));
  if (const auto* resumed = std::get_if<ReconnectChannel>(&pending->work.command);
      resumed && !pending->answer && !parts_.channels.may_resume(resumed->channel_id))
    pending->answer = std::unexpected(parts_.channels.resumed_too_often(resumed->channel_id));
  if (!pending->answer) return put(std::move(pending));
  if (*pending->answer)
    ++parts_.metrics.commands_repeated;
  else
    ++parts_.metrics.commands_refused;
  pending->work.reply_to(*std::move(pending->answer));
}

void Admission::read_source(std::unique_ptr<Pending> pending) {
  const ForkThread command = std::get<ForkThread>(pending->work.command);
  auto shared = std::make_shared<std::unique_ptr<Pending>>(std::move(pending));
  const auto put = [this, shared] {
    parts_.lanes.put((*shared)->session, std::move((*shared)->work));
  };
  auto read = [this, shared, put, command](Result<const state::Session*> view) {
    control::Named& known = (*shared)->work.named;
    known.fork = view ? control::fork_source(**view, command) : std::unexpected(view.error());
    if (!*known.fork) return put();
    const bool taken = parts_.readers.run([this, shared, put, command] {
      control::Named& named = (*shared)->work.named;
      auto end = find_end(parts_.store, command.session_id, (*named.fork)->turn);
      if (end)
        named.fork_end = *std::move(end);
      else
        named.fork = std::unexpected(end.error());
      parts_.loop.post(put);
    });
    if (!taken) (*shared)->work.reply_to(too_many_reads());
  };
  parts_.lanes.put(command.session_id, ReadWork{.read = std::move(read), .after_reports = true});
}

std::optional<ports::Reply> Admission::look_up(Pending& pending) const {
  if (pending.hashes())
    pending.work.params_hash =
        hex(bytes_of(hmac_sha256(parts_.store.hash_key(), canonical_params(pending.work.command))));
  if (auto answer = repeated(pending)) return answer;
  if (auto found = find_ids(pending); !found) return std::unexpected(std::move(found).error());
  if (pending.plan.folders)
    pending.work.named.folders =
        parts_.folders->judge(*pending.plan.folders, pending.work.caller.folders);
  return std::nullopt;
}

std::optional<ports::Reply> Admission::repeated(const Pending& pending) const {
  if (!pending.key) return std::nullopt;
  auto record = parts_.store.idempotency(pending.work.caller.principal, *pending.key);
  if (!record) return std::unexpected(std::move(record).error());
  if (!*record) return std::nullopt;
  if ((*record)->command == traits_of(pending.work.command).name &&
      (*record)->params_hash == pending.work.params_hash)
    return std::move((*record)->reply);
  return fail(Code::idempotency_conflict,
              "this idempotencyKey was already used with another command or other params");
}

Result<void> Admission::find_ids(Pending& pending) const {
  const AdmissionPlan& plan = pending.plan;
  control::Named& named = pending.work.named;
  if (plan.new_turn) {
    TRY_ASSIGN(auto found, find_turn(parts_.store, *plan.new_turn));
    if (found) named.turn = {std::move(found->submitted), found->status};
  }
  if (plan.turn) {
    TRY_ASSIGN(auto found, find_turn(parts_.store, *plan.turn));
    if (found && found->submitted.ids.session == pending.session)
      named.turn = {std::move(found->submitted), found->status};
  }
  TRY_ASSIGN(named.output, refused_output(parts_.store, pending.session, plan.outputs));
  if (plan.new_subagent) {
    TRY_ASSIGN(named.spawned, find_spawned(parts_.store, *plan.new_subagent));
  }
  if (plan.new_channel) {
    TRY_ASSIGN(const auto known,
               parts_.store.find(std::string(state::kChannelKind), plan.new_channel->text()));
    if (known) TRY(from_json(known->row.record, named.channel.emplace(), Unknown::ignore));
  }
  if (plan.object) TRY(find_object(pending));
  if (!plan.checks_items) return {};
  // The items of a job that exists need no check: the decision repeats the reply.
  if (plan.new_job) {
    TRY_ASSIGN(const auto known, parts_.store.find(std::string(kJobKind), plan.new_job->text()));
    if (known) return {};
  }
  TRY(check_items(pending));
  return {};
}

Result<void> Admission::check_items(Pending& pending) const {
  const auto& command = std::get<CreateJob>(pending.work.command);
  if (command.items.has_value() == command.items_ref.has_value())
    return fail(Code::invalid_params, "expected either items or itemsRef");
  if (!parts_.job_inputs) return fail(Code::unavailable, "this runtime takes no jobs");
  TRY_ASSIGN(ports::CheckedItems checked,
             command.items ? parts_.job_inputs->store(*command.items)
                           : parts_.job_inputs->check(command.session_id, *command.items_ref));
  pending.work.named.items =
      control::Named::Items{std::move(checked.ref), checked.items, std::move(checked.stored)};
  return {};
}

// An object of another session than the one that is named, or that the caller's token is bound to,
// gets the same answer as one that does not exist.
Result<void> Admission::find_object(Pending& pending) const {
  const NamedObject& object = *pending.plan.object;
  if (object.kind == ObjectKind::channel) return find_named_channel(pending);
  const ObjectRow row = row_of(object.kind);
  TRY_ASSIGN(const auto found, parts_.store.find(std::string(row.kind), object.id));
  if (!found || (pending.owner && found->session != *pending.owner))
    return fail(Code::not_found, fmt::format("there is no {} {}{}{}", row.kind, object.id,
                                             row.where, pending.owner ? " of this session" : ""));
  pending.session = found->session;
  return row.keep(*found, pending.work.named);
}

Result<void> Admission::find_named_channel(Pending& pending) const {
  TRY_ASSIGN(FoundChannel found,
             find_channel(parts_.store, ChannelId{pending.plan.object->id}, pending.work.caller));
  pending.session = std::move(found.session);
  pending.work.named.channel = std::move(found.record);
  return {};
}

}  // namespace agentrt::kernel
