#include "kernel/channels/channels.h"

#include <fmt/format.h>

#include "kernel/session_reads.h"
#include "state/index.h"

namespace agentrt::kernel {

using namespace schema;

namespace {

constexpr std::size_t kPage = 256;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::size_t kResumesKept = 4'096;  // channels whose resumptions are counted
constexpr std::size_t kSnapshotAttempts = 40;

std::unexpected<Error> too_many_reads() {
  return fail(Code::overloaded, "too many reads are in progress: try again");
}

Error closed(const ChannelSnapshot& channel) {
  return {Code::conflict,
          fmt::format("channel {} is closed ({}): call connect_channel for a new one",
                      channel.channel_id.text(), channel.reason.value_or("closed")),
          {}};
}

}  // namespace

// --- acknowledgements ---

struct Channels::Acknowledging {
  AckEvents command;
  ports::Caller caller;
  ports::ReplyTo reply_to;
  SessionId session;
  AckEventsReply reply;
};

void Channels::acknowledge(AckEvents command, ports::Caller caller, ports::ReplyTo reply_to) {
  std::vector<std::string> claim{acknowledgement_claim(command.channel_id)};
  auto released = [this, claim, reply_to = std::move(reply_to)](ports::Reply reply) mutable {
    reply_to(std::move(reply));
    parts_.loop.post([this, claim = std::move(claim)] { parts_.claims.release(claim); });
  };
  auto what = std::make_shared<Acknowledging>(
      Acknowledging{std::move(command), std::move(caller), std::move(released), {}, {}});
  parts_.claims.claim(std::move(claim), [this, what] { look_up(what); });
}

void Channels::look_up(const std::shared_ptr<Acknowledging>& what) {
  const bool taken = parts_.readers.run([this, what] {
    if (auto answer = check(*what)) return what->reply_to(*std::move(answer));
    parts_.loop.post([this, what] { store_ack(what); });
  });
  if (!taken) what->reply_to(too_many_reads());
}

std::optional<ports::Reply> Channels::check(Acknowledging& what) const {
  const AckEvents& command = what.command;
  const auto answer = [&]() -> Result<std::optional<std::string>> {
    TRY_ASSIGN(const FoundChannel found,
               find_channel(parts_.store, command.channel_id, what.caller));
    if (found.record.status == ChannelStatus::closed) return std::unexpected(closed(found.record));
    TRY_ASSIGN(const auto cursors, parts_.store.cursors({&command.channel_id, 1}));
    if (cursors.empty()) return std::unexpected(closed(found.record));
    const ChannelCursor& cursor = cursors.front();
    TRY_ASSIGN(const Sequence head, parts_.store.head(found.session));
    const bool other = command.generation && *command.generation != parts_.store.generation();
    if (other || cursor.generation != parts_.store.generation())
      return fail(Code::gone,
                  "the store was restored since this channel was connected: call "
                  "reconnect_channel",
                  fmt::format(R"({{"generation":{}}})", to_json(parts_.store.generation())));
    if (command.sequence > head)
      return fail(Code::gone,
                  fmt::format("sequence {} is beyond the end of this session, which is {}",
                              command.sequence, head),
                  fmt::format(R"({{"lastSequence":{}}})", head));
    what.session = found.session;
    what.reply = {command.channel_id, std::max(cursor.acknowledged, command.sequence), head};
    if (command.sequence > cursor.acknowledged) return std::nullopt;
    return to_json(what.reply);
  }();
  if (!answer) return std::unexpected(answer.error());
  if (!*answer) return std::nullopt;
  return **answer;
}

void Channels::store_ack(const std::shared_ptr<Acknowledging>& what) {
  store::Append append;
  append.session = what->session;
  append.acknowledged = {{what->command.channel_id, parts_.store.generation(),
                          what->command.sequence, parts_.loop.now()}};
  parts_.committer.append(std::move(append),
                          [what](Result<store::Position> stored, const store::Append&) {
                            if (!stored) return what->reply_to(std::unexpected(stored.error()));
                            what->reply_to(to_json(what->reply));
                          });
}

// --- connect and reconnect ---

bool Channels::may_resume(const ChannelId& channel) {
  const auto old = [this](Timestamp at) { return parts_.loop.since(at) >= kMinuteMs; };
  if (resumes_.size() >= kResumesKept)
    std::erase_if(resumes_, [&](const auto& each) { return old(each.second.back()); });
  std::deque<Timestamp>& newest = resumes_[channel];
  while (!newest.empty() && old(newest.front())) newest.pop_front();
  if (newest.size() >= parts_.limits.resumes_per_minute) return false;
  newest.push_back(parts_.loop.now());
  return true;
}

Error Channels::resumed_too_often(const ChannelId& channel) const {
  return {Code::limit_exceeded,
          fmt::format("channel {} was resumed {} times within a minute (resumes_per_minute in "
                      "[channels]): wait and try again",
                      channel.text(), parts_.limits.resumes_per_minute),
          {}};
}

ports::ReplyTo Channels::with_snapshot(SessionId session, ports::ReplyTo reply_to) {
  return [this, session = std::move(session),
          reply_to =
              std::make_shared<ports::ReplyTo>(std::move(reply_to))](ports::Reply reply) mutable {
    if (!reply) return (*reply_to)(std::move(reply));
    StartedChannel started;
    if (auto read = from_json(*reply, started, Unknown::ignore); !read)
      return (*reply_to)(std::unexpected(read.error()));
    add_snapshot(session, std::move(started), std::move(reply_to), 0);
  };
}

void Channels::add_snapshot(const SessionId& session, StartedChannel started,
                            std::shared_ptr<ports::ReplyTo> reply_to, std::size_t attempt) {
  auto read = [this, session, started = std::move(started), reply_to,
               attempt](Result<const state::Session*> view) mutable {
    const auto release = [this, session] {
      parts_.loop.post([this, session] { parts_.lanes.release(session); });
    };
    if (!view) return (*reply_to)(std::unexpected(view.error()));
    auto copy = std::make_shared<const state::Session>(**view);
    auto kept = std::make_shared<StartedChannel>(std::move(started));
    const bool taken = parts_.readers.run([this, copy, kept, reply_to, release] {
      auto reply = completed(*copy, std::move(*kept));
      release();
      (*reply_to)(std::move(reply));
    });
    if (taken) return;
    release();
    // The channel exists: an error now would leave the client without its resume token.
    if (attempt >= kSnapshotAttempts) return (*reply_to)(too_many_reads());
    parts_.loop.after(parts_.limits.storage_retry_ms, [this, session, kept, reply_to, attempt] {
      add_snapshot(session, std::move(*kept), reply_to, attempt + 1);
    });
  };
  parts_.lanes.put_next(session, ReadWork{.read = std::move(read), .holds = true});
}

Result<std::string> Channels::completed(const state::Session& view, StartedChannel started) const {
  TRY_ASSIGN(
      SessionSnapshot snapshot,
      read_session(parts_.store, view, GetSession{.session_id = view.id, .cursor = {}, .limit = {}},
                   parts_.limits));
  if (started.from_snapshot) started.after_sequence = snapshot.as_of_sequence;
  if (!started.resumed) {
    ConnectChannelReply reply;
    static_cast<ChannelStart&>(reply) = std::move(started);
    reply.snapshot = std::move(snapshot);
    return to_json(reply);
  }
  ReconnectChannelReply reply;
  reply.gap = std::move(started.gap);
  TRY_ASSIGN(const PeerTasks tasks,
             peer_tasks_of(parts_.store, view.id, started.channel_id, parts_.limits));
  static_cast<ChannelStart&>(reply) = std::move(started);
  for (const PeerTaskSnapshot& task : tasks.newest)
    reply.peer_tasks.push_back(
        {task.task_id, task.remote_task_id, task.remote_status, task.recovery});
  reply.peer_task_count = tasks.count;
  reply.snapshot = std::move(snapshot);
  return to_json(reply);
}

// --- notices ---

void Channels::listen(std::function<void(const ports::ChannelNotice&)> listener) {
  listener_ = std::move(listener);
}

void Channels::published(const ports::FeedBatch& batch) {
  if (!listener_) return;
  for (const ports::FeedEvent& each : *batch) {
    if (!each.event.type.starts_with("channel.")) continue;
    const auto fact = decode(each.event);
    if (!fact) continue;
    ports::ChannelNotice notice;
    notice.session = fact->ids.session;
    notice.channel = fact->ids.channel_id;
    notice.sequence = fact->sequence;
    if (const auto* ended = std::get_if<ChannelDisconnected>(&fact->payload)) {
      notice.what = ports::ChannelNotice::What::disconnected;
      notice.reason = enum_of<ChannelEnd>(ended->reason.value_or("")).value_or(ChannelEnd::closed);
    } else if (!std::holds_alternative<ChannelPermissionForwarded>(fact->payload) &&
               !std::holds_alternative<ChannelPermissionReturned>(fact->payload)) {
      continue;
    }
    listener_(notice);
  }
}

// --- the end of channels without a connection ---

void Channels::start() {
  close_old();
  parts_.loop.after(parts_.limits.channel_sweep_ms, [this] { start(); });
}

void Channels::close_old() {
  for_each(std::string(state::kDisconnectedTerm),
           [this](const ChannelSnapshot& channel) -> std::optional<Report> {
             if (!channel.disconnected_at ||
                 parts_.loop.since(*channel.disconnected_at) < parts_.settings.channel_expire_ms)
               return std::nullopt;
             return ReportChannelDue{channel.channel_id};
           });
}

void Channels::close_of(const std::string& token) {
  for_each(state::token_term(token), [](const ChannelSnapshot& channel) -> std::optional<Report> {
    return ReportChannelLost{.channel = channel.channel_id,
                             .since = 0,
                             .reason = ChannelEnd::token_revoked,
                             .last_seen_at = {}};
  });
}

void Channels::for_each(std::string term, Of report_of, std::optional<store::IndexEntry> after) {
  auto again = [this, term, report_of, after] {
    parts_.loop.after(parts_.limits.storage_retry_ms,
                      [this, term, report_of, after] { for_each(term, report_of, after); });
  };
  const bool taken = parts_.readers.run([this, term, report_of, after, again] {
    store::IndexQuery rows{.kind = std::string(state::kChannelKind)};
    rows.term = term;
    rows.limit = kPage;
    if (after) {
      rows.before = after->session_order;
      rows.before_first = after->row.first;
      rows.before_id = after->row.id;
    }
    auto page = parts_.store.list(rows);
    parts_.loop.post([this, term, report_of, again, page = std::move(page)]() mutable {
      if (!page) return may_pass(page.error()) ? again() : void();
      for (const store::IndexEntry& entry : *page) {
        ChannelSnapshot channel;
        if (!from_json(entry.row.record, channel, Unknown::ignore)) continue;
        if (auto report = report_of(channel))
          parts_.lanes.put(entry.session, ReportWork{*std::move(report), {}, {}, {}});
      }
      if (page->size() == kPage) for_each(term, report_of, std::move(page->back()));
    });
  });
  if (!taken) again();
}

}  // namespace agentrt::kernel
