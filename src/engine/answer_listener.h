// engine/answer_listener.h: receives one model answer and reports it to the log.
//
// Text fragments are batched. The first batch is reported in the next step; each later one waits
// until the previous report is stored and kGatherMs have passed. Secrets are redacted before
// anything is reported. A call that the model is still writing is reported once it has taken
// kWritingShownMs, and then every kWritingEveryMs.
#pragma once

#include <map>
#include <memory>

#include "engine/engine.h"
#include "engine/written_calls.h"
#include "policy/redaction.h"

namespace agentrt::engine {

class AnswerListener final : public ports::ModelListener,
                             public std::enable_shared_from_this<AnswerListener> {
 public:
  AnswerListener(const Engine::Parts& parts, SessionId session, ModelRequestId request);

  // The request is sent. `tools`: those offered to the model. Calls of MCP tools are validated
  // against their schemas; built-in tools validate their own arguments.
  void begin(const std::vector<ports::OfferedTool>& tools);
  void forget() { wanted_ = false; }
  bool wanted() const { return wanted_; }

  void on_text(std::string_view text) override;
  void on_reasoning(std::string_view text) override;
  void on_call_piece(std::size_t number, std::string_view name, std::string_view piece) override;
  void on_call(std::string name, schema::Json args) override;
  void on_state(schema::Json state) override;
  void on_raw(std::string request, std::string response) override;
  void on_completed(schema::StopReason reason, const schema::Usage& usage) override;
  void on_failed(const ports::ModelFault& fault) override;

 private:
  // The text or the reasoning of the answer, as its facts will contain it.
  struct Said {
    explicit Said(const policy::Redactor* redactor) : redaction(redactor) {}
    void add(std::string_view told);

    policy::RedactingStream redaction;  // a secret may span two fragments
    std::string text;                   // at most `text_max` bytes
    std::uint64_t bytes = 0;
    std::size_t text_max = schema::kTextInlineMax;
  };
  struct Raw {
    std::string request, response;
  };

  void note_first();
  void take(Said& said, std::string_view text);
  void take_rest(Said& said);
  void add_piece(const Said& said, std::string_view text);
  void flush_soon();
  void flush();
  void gathered();
  void show_writing_after(std::int64_t ms);
  void fail(schema::Category category, std::string why, bool ended_by_provider);
  bool too_long_for_a_fact() const;
  template <class Report>
  void end(Report report);

  const Engine::Parts& parts_;
  SessionId session_;
  ModelRequestId request_;
  bool wanted_ = true;
  Timestamp sent_at_;
  std::optional<std::int64_t> first_token_ms_;
  Said answer_, reasoning_;
  std::vector<schema::ReportFragments::Piece> pieces_;  // not reported yet
  std::map<std::string, schema::Json> offered_;         // input schemas by tool name
  WrittenCalls written_;
  std::vector<schema::AskedCall> calls_;
  std::size_t args_bytes_ = 0;
  std::optional<schema::Json> state_;
  std::optional<Raw> raw_;
  std::string long_text_;  // of a complete answer, to be stored as an output
  bool flush_posted_ = false, gathering_ = false, stored_ = false, elapsed_ = false;
  bool writing_timed_ = false;  // a timer for the report of the written calls runs
  bool writing_due_ = false;    // it has ended
};

}  // namespace agentrt::engine
