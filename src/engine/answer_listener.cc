#include "engine/answer_listener.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/effects.h"
#include "schema/arguments.h"
#include "schema/tools.h"

namespace agentrt::engine {

using namespace schema;

namespace {

constexpr const char* kCutOff =
    "the answer reached the output limit of the model within these arguments; use smaller "
    "arguments, for example write a long file in parts";

}  // namespace

AnswerListener::AnswerListener(const Engine::Parts& parts, SessionId session,
                               ModelRequestId request)
    : parts_(parts),
      session_(std::move(session)),
      request_(std::move(request)),
      answer_(parts.redactor),
      reasoning_(parts.redactor),
      written_(parts.redactor) {
  answer_.text_max = kModelOutputBytesMax;
}

void AnswerListener::begin(const std::vector<ports::OfferedTool>& tools) {
  sent_at_ = parts_.loop.now();
  for (const ports::OfferedTool& tool : tools)
    if (tool.name.starts_with(kServerToolPrefix)) offered_[tool.name] = tool.input_schema;
}

// --- receiving ---

void AnswerListener::Said::add(std::string_view told) {
  bytes += told.size();
  text += utf8_prefix(told, text_max - std::min(text.size(), text_max));
}

void AnswerListener::on_text(std::string_view text) { take(answer_, text); }
void AnswerListener::on_reasoning(std::string_view text) { take(reasoning_, text); }

void AnswerListener::note_first() {
  if (!first_token_ms_) first_token_ms_ = parts_.loop.since(sent_at_);
}

void AnswerListener::take(Said& said, std::string_view text) {
  if (!wanted_) return;
  note_first();
  std::string told;
  said.redaction.put(text, told);
  if (told.empty()) return;
  said.add(told);
  if (answer_.bytes + reasoning_.bytes > kModelOutputBytesMax) {
    parts_.models.cancel(request_);
    return fail(
        Category::provider,
        fmt::format("the model sent more than {} MiB in one answer", kModelOutputBytesMax >> 20),
        false);
  }
  add_piece(said, told);
  flush_soon();
}

// Posts a step, so that an answer that arrives whole is reported whole.
void AnswerListener::flush_soon() {
  if (gathering_ || flush_posted_) return;
  flush_posted_ = true;
  parts_.loop.post([self = shared_from_this()] { self->flush(); });
}

// Takes the text that was held back because it could be the beginning of a secret.
void AnswerListener::take_rest(Said& said) {
  std::string told;
  said.redaction.finish(told);
  if (told.empty()) return;
  said.add(told);
  add_piece(said, told);
}

void AnswerListener::add_piece(const Said& said, std::string_view text) {
  const bool reasoning = &said == &reasoning_;
  if (!pieces_.empty() && pieces_.back().reasoning == reasoning)
    pieces_.back().text += text;
  else
    pieces_.push_back({reasoning, std::string(text)});
}

void AnswerListener::on_call_piece(std::size_t number, std::string_view name,
                                   std::string_view piece) {
  if (!wanted_) return;
  note_first();
  written_.add(number, name, piece);
  if (!written_.has_news() || writing_timed_) return;
  if (writing_due_) return flush_soon();
  show_writing_after(kWritingShownMs);
}

void AnswerListener::show_writing_after(std::int64_t ms) {
  writing_timed_ = true;
  parts_.loop.after(ms, [self = shared_from_this()] {
    self->writing_timed_ = false;
    self->writing_due_ = true;
    self->flush();
  });
}

void AnswerListener::on_call(std::string name, Json args) {
  if (!wanted_ || calls_.size() > kToolCallsToldMax) return;
  note_first();
  // Omitted arguments do not count towards the limit.
  const bool omitted = args_bytes_ + args.text.size() > kToolArgsBytesMax;
  if (!omitted) args_bytes_ += args.text.size();
  AskedCall call{std::string(utf8_prefix(name, kToolNameBytesMax)),
                 omitted ? Json{"{}"} : std::move(args), omitted};
  const auto offered = offered_.find(call.name);
  if (offered != offered_.end() && !omitted)
    call.wrong = wrong_arguments(offered->second, call.args);
  if (calls_.size() >= kToolCallsMax)
    call.wrong =
        fmt::format("one answer can make at most {} calls; make this call again in the next answer",
                    kToolCallsMax);
  calls_.push_back(std::move(call));
}

// The state is useless if incomplete, so it is dropped if it is too long or contains a secret.
void AnswerListener::on_state(Json state) {
  const bool secret = parts_.redactor != nullptr && parts_.redactor->redact_json(state.text);
  if (state.text.size() <= kTextInlineMax && !secret) state_ = std::move(state);
}

void AnswerListener::on_raw(std::string request, std::string response) {
  if (wanted_ && parts_.keeper) raw_ = Raw{std::move(request), std::move(response)};
}

// --- reporting fragments ---

void AnswerListener::flush() {
  flush_posted_ = false;
  const bool shows_calls = writing_due_ && written_.has_news();
  if (!wanted_ || gathering_ || (pieces_.empty() && !shows_calls)) return;
  ReportFragments report{request_, std::move(pieces_)};
  pieces_.clear();
  if (shows_calls) {
    report.calls = written_.take();
    writing_due_ = false;
    show_writing_after(kWritingEveryMs);
  }
  gathering_ = true;
  stored_ = elapsed_ = false;
  auto self = shared_from_this();
  parts_.reports.report(session_, std::move(report), [self] {
    self->stored_ = true;
    self->gathered();
  });
  pieces_.clear();
  parts_.loop.after(kGatherMs, [self] {
    self->elapsed_ = true;
    self->gathered();
  });
}

void AnswerListener::gathered() {
  if (!stored_ || !elapsed_) return;
  gathering_ = false;
  flush();
}

// --- reporting the end ---

void AnswerListener::on_completed(StopReason reason, const Usage& usage) {
  if (!wanted_) return;
  if (calls_.size() > kToolCallsToldMax)
    return fail(Category::provider,
                fmt::format("the model asked for more than {} calls at once", kToolCallsToldMax),
                true);
  wanted_ = false;
  take_rest(reasoning_);
  take_rest(answer_);
  if (!calls_.empty()) {
    AskedCall& last = calls_.back();
    if (reason == StopReason::max_tokens && !last.args.text.starts_with('{')) last.wrong = kCutOff;
    reason = StopReason::tool_use;
  }
  std::string whole;
  if (too_long_for_a_fact()) {
    whole = std::move(answer_.text);
    answer_.text = std::string(utf8_prefix(whole, kPreviewBytes));
  }
  long_text_ = std::move(whole);
  end(ReportModelCompleted{.request = request_,
                           .calls = std::move(calls_),
                           .stop_reason = reason,
                           .usage = usage,
                           .pieces = std::move(pieces_),
                           .text = std::move(answer_.text),
                           .text_bytes = answer_.bytes,
                           .reasoning = std::move(reasoning_.text),
                           .reasoning_bytes = reasoning_.bytes,
                           .provider_state = std::move(state_),
                           .raw = {},
                           .first_token_ms = first_token_ms_});
}

void AnswerListener::on_failed(const ports::ModelFault& fault) {
  if (!wanted_) return;
  wanted_ = false;
  take_rest(reasoning_);
  take_rest(answer_);
  ++parts_.metrics.model_failures;
  if (answer_.bytes > kTextInlineMax)
    answer_.text = std::string(utf8_prefix(answer_.text, kPreviewBytes));
  end(ReportModelFailed{.request = request_,
                        .pieces = std::move(pieces_),
                        .error = fault.error,
                        .provider_status = fault.provider_status,
                        .ended_by_provider = fault.ended_by_provider,
                        .cause = fault.cause,
                        .retry_after_ms = fault.retry_after_ms,
                        .text = std::move(answer_.text),
                        .text_bytes = answer_.bytes,
                        .reasoning = std::move(reasoning_.text),
                        .reasoning_bytes = reasoning_.bytes,
                        .raw = {},
                        .first_token_ms = first_token_ms_});
}

void AnswerListener::fail(Category category, std::string why, bool ended_by_provider) {
  on_failed({.error = {category, std::move(why), false},
             .provider_status = {},
             .ended_by_provider = ended_by_provider,
             .retry_after_ms = {},
             .cause = FaultCause::malformed});
}

// Whether model.completed has no room for the text beside the arguments of the calls.
bool AnswerListener::too_long_for_a_fact() const {
  return parts_.keeper && answer_.bytes + args_bytes_ > kTextInlineMax;
}

// Stores a long text and the raw exchange before the facts that refer to them. If that fails, the
// facts refer to the fragments of the text, and omit the raw exchange.
template <class Report>
void AnswerListener::end(Report report) {
  if (!raw_ && long_text_.empty()) return parts_.reports.report(session_, std::move(report), {});
  auto task = std::make_shared<ports::Step>([&parts = parts_, session = session_,
                                             raw = std::move(raw_), text = std::move(long_text_),
                                             report = std::move(report)]() mutable {
    if (raw) {
      auto request = parts.keeper->keep_bytes(raw->request, {});
      auto response = parts.keeper->keep_bytes(raw->response, {});
      if (request && response) report.raw = KeptExchange{*std::move(request), *std::move(response)};
    }
    if constexpr (std::is_same_v<Report, ReportModelCompleted>)
      if (!text.empty())
        if (auto kept = parts.keeper->keep_bytes(text, {})) report.whole_text = *std::move(kept);
    parts.loop.post([&parts, session, report = std::move(report)]() mutable {
      parts.reports.report(session, std::move(report), {});
    });
  });
  run_soon(parts_.loop, parts_.worker, std::move(task));
}

}  // namespace agentrt::engine
