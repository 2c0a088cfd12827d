// engine/answer_listener.h: hears one answer of a model and reports what it says.
//
// Fragments are gathered: the first goes in the next step, later ones while a report is being
// stored or for kGatherMs, whichever is longer. Secrets are taken out before anything is reported.
#pragma once

#include <map>
#include <memory>

#include "engine/engine.h"
#include "policy/redaction.h"

namespace agentrt::engine {

class AnswerListener final : public ports::ModelListener,
                             public std::enable_shared_from_this<AnswerListener> {
 public:
  AnswerListener(const Engine::Parts& parts, SessionId session, ModelRequestId request);

  // The tools of servers, whose schemas stand nowhere else; the runtime's own know theirs.
  void offer(const std::vector<ports::OfferedTool>& tools);
  void forget() { wanted_ = false; }
  bool wanted() const { return wanted_; }

  void on_text(std::string_view text) override;
  void on_reasoning(std::string_view text) override;
  void on_call(std::string name, schema::Json args) override;
  void on_state(schema::Json state) override;
  void on_raw(std::string request, std::string response) override;
  void on_completed(schema::StopReason reason, const schema::Usage& usage) override;
  void on_failed(const ports::ModelFault& fault) override;

 private:
  // What was said on one of the two ways, as facts have it.
  struct Said {
    explicit Said(const policy::Redactor* redactor) : redaction(redactor) {}
    void add(std::string_view told);

    policy::RedactingStream redaction;  // a secret may come in two fragments
    std::string text;                   // at most kTextInlineMax
    std::uint64_t bytes = 0;
  };
  struct Raw {
    std::string request, response;
  };

  void take(Said& said, std::string_view text);
  void take_rest(Said& said);
  void add_piece(const Said& said, std::string_view text);
  void flush();
  void gathered();
  void fail(schema::Category category, std::string why, bool ended_by_provider);
  template <class Report>
  void end(Report report);

  const Engine::Parts& parts_;
  SessionId session_;
  ModelRequestId request_;
  bool wanted_ = true;
  Said answer_, reasoning_;
  std::vector<schema::ReportFragments::Piece> pieces_;  // not reported yet
  std::map<std::string, schema::Json> offered_;         // schemas by name
  std::vector<schema::AskedCall> calls_;
  std::size_t args_bytes_ = 0;
  std::optional<schema::Json> state_;
  std::optional<Raw> raw_;
  bool flush_posted_ = false, gathering_ = false, stored_ = false, elapsed_ = false;
};

}  // namespace agentrt::engine
