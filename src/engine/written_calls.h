// engine/written_calls.h: the calls that a model is still writing, as reports show them: a bounded
// beginning of the arguments, and how many bytes there are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/redaction.h"
#include "schema/reports.h"

namespace agentrt::engine {

class WrittenCalls {
 public:
  // `redactor`: null: there are no secrets.
  explicit WrittenCalls(const policy::Redactor* redactor) : redactor_(redactor) {}

  // Takes the next piece of the arguments. Pieces that are out of order are ignored.
  void add(std::size_t number, std::string_view name, std::string_view piece);
  bool has_news() const { return news_; }
  // The calls that have changed since the last take().
  std::vector<schema::ReportFragments::WrittenCall> take();

 private:
  struct Call {
    std::string name;
    std::string beginning;  // as JSON, at most twice the size of the preview
    std::uint64_t bytes = 0;
    bool changed = false;
  };

  std::string preview_of(const Call& call) const;

  const policy::Redactor* redactor_;
  std::vector<Call> calls_;
  bool news_ = false;
};

}  // namespace agentrt::engine
