#include "kernel/kernel.h"

#include "conversation/history/history.h"
#include "kernel/history/changed_files.h"
#include "kernel/reads.h"

namespace agentrt::kernel {

using namespace schema;

Kernel::Kernel(Parts parts)
    : parts_(std::move(parts)),
      committer_(parts_.store, parts_.loop, parts_.writer, parts_.metrics, parts_.limits),
      claims_(parts_.loop),
      clock_({.store = parts_.store,
              .loop = parts_.loop,
              .readers = parts_.readers,
              .retry_ms = parts_.limits.storage_retry_ms,
              .report =
                  [this](const SessionId& session, Report about, ports::Step taken) {
                    report(session, std::move(about), std::move(taken));
                  }}),
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
              .conversations = conversations_,
              .observers = observers_,
              .clock = clock_,
              .file_digests = nullptr,
              .publish =
                  [this](const ports::FeedBatch& batch) {
                    if (listener_) listener_(batch);
                    waits_.published(batch);
                    channels_.published(batch);
                    pack_after(parts_.limits.pack_after_ms);
                  }}),
      waits_({.store = parts_.store,
              .loop = parts_.loop,
              .readers = parts_.readers,
              .limits = parts_.limits}),
      channels_({.store = parts_.store,
                 .loop = parts_.loop,
                 .readers = parts_.readers,
                 .metrics = parts_.metrics,
                 .claims = claims_,
                 .committer = committer_,
                 .lanes = lanes_,
                 .settings = parts_.settings,
                 .limits = parts_.limits}),
      reads_({.store = parts_.store,
              .readers = parts_.readers,
              .lanes = lanes_,
              .waits = waits_,
              .settings = parts_.settings,
              .limits = parts_.limits,
              .boot = parts_.boot,
              .policies = parts_.policies,
              .unrecovered = unrecovered_,
              .loop = parts_.loop,
              .job_inputs = nullptr,
              .past_readers = parts_.past_readers ? *parts_.past_readers : parts_.readers}),
      admission_({.store = parts_.store,
                  .loop = parts_.loop,
                  .readers = parts_.readers,
                  .metrics = parts_.metrics,
                  .claims = claims_,
                  .lanes = lanes_,
                  .reads = reads_,
                  .channels = channels_,
                  .redactor = parts_.redactor,
                  .folders = parts_.folders,
                  .job_inputs = nullptr}) {}

void Kernel::set_job_inputs(ports::JobInputs& inputs) {
  admission_.set_job_inputs(inputs);
  reads_.set_job_inputs(inputs);
}

void Kernel::observe(Observers observers) { observers_ = std::move(observers); }

void Kernel::listen(std::function<void(const ports::FeedBatch&)> listener) {
  parts_.loop.post([this, listener = std::move(listener)] { listener_ = listener; });
}

void Kernel::listen_channels(std::function<void(const ports::ChannelNotice&)> listener) {
  parts_.loop.post([this, listener = std::move(listener)] { channels_.listen(listener); });
}

void Kernel::channel_lost(SessionId session, ReportChannelLost report, ports::Step stored) {
  this->report(std::move(session), Report{std::move(report)}, std::move(stored));
}

void Kernel::close_channels_of(std::string token) {
  parts_.loop.post([this, token = std::move(token)] { channels_.close_of(token); });
}

void Kernel::call(ports::Authorized<Command> command, ports::ReplyTo reply_to) {
  if (in_flight_.fetch_add(1) >= parts_.limits.commands_in_flight_max) {
    --in_flight_;
    ++parts_.metrics.commands_overloaded;
    parts_.loop.post([reply_to = std::move(reply_to)]() mutable {
      reply_to(fail(Code::overloaded, "the runtime is processing too many commands: try again"));
    });
    return;
  }
  parts_.loop.post([this, command = std::move(command), reply_to = std::move(reply_to)]() mutable {
    auto [request, caller] = std::move(command).take();
    // A wait has its own limit and does not keep other commands out.
    const bool waits = std::holds_alternative<WaitSubagents>(request);
    if (waits) --in_flight_;
    auto counted = [this, waits, reply_to = std::move(reply_to)](ports::Reply reply) mutable {
      if (!waits) --in_flight_;
      reply_to(std::move(reply));
    };
    admission_.admit(std::move(request), std::move(caller), std::move(counted));
  });
}

void Kernel::report(SessionId session, Report report, ports::Step taken) {
  parts_.loop.post([this, session = std::move(session),
                    work = ReportWork{std::move(report), std::move(taken), {}, {}}]() mutable {
    lanes_.put(session, std::move(work));
  });
}

void Kernel::read(ports::PageQuery query, ports::PageTo page_to) {
  auto shared = std::make_shared<ports::PageTo>(std::move(page_to));
  const bool taken = parts_.readers.run([this, shared, query = std::move(query)] {
    auto page = read_page(parts_.store, query, parts_.limits);
    if (page) parts_.metrics.events_damaged += page->damaged;
    (*shared)(std::move(page));
  });
  if (!taken) (*shared)(fail(Code::overloaded, "too many reads are in progress: try again"));
}

Result<ports::HistoryWindow> Kernel::window(const ports::HistoryQuery& query) {
  return conversation::history_window(parts_.store, query, conversations_);
}

Result<std::vector<FileRestore>> Kernel::restores(const ports::RestoreQuery& query) {
  TRY_ASSIGN(auto changed, changed_files(parts_.store, query.session, query.thread, query.range));
  std::vector<FileRestore> out;
  std::uint64_t place = 0;
  for (ChangedFile& file : changed) {
    if (file.state != EffectState::restorable || place++ < query.skip) continue;
    if (out.size() == query.max) break;
    out.push_back(std::move(file.restore));
  }
  return out;
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
      clock_.start();
      channels_.start();
    });
  });
  if (!taken) parts_.loop.after(1, [this] { recover(std::move(recovered_)); });
}

void Kernel::recover_next() {
  if (to_recover_.empty()) {
    if (unrecovered_.empty() && recovered_) {
      std::exchange(recovered_, {})();
      refold_after(0);
    }
    return;
  }
  SessionId next = std::move(to_recover_.back());
  to_recover_.pop_back();
  lanes_.recover(next, [this, next] {
    unrecovered_.erase(next);
    parts_.loop.post([this] { recover_next(); });
  });
}

// Replaces the snapshots of another fold version, one session after the other, so that opening such
// a session later costs no more than any other. Loading does it; only the session's lane waits.
void Kernel::refold_after(std::uint64_t order) {
  const bool taken = parts_.readers.run([this, order] {
    const auto old = parts_.store.old_snapshots(state::kFoldVersion, order, 1);
    if (!old || old->empty()) return;
    parts_.loop.post([this, next = old->front()] {
      lanes_.recover(next.session, [this, next] {
        parts_.loop.after(parts_.limits.refold_again_ms,
                          [this, next] { refold_after(next.session_order); });
      });
    });
  });
  if (!taken)
    parts_.loop.after(parts_.limits.storage_retry_ms, [this, order] { refold_after(order); });
}

// Packs later and in bounded steps, so that commits are not delayed.
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
