// validate/rule_context.h: the event being validated, and the report that findings are added to.
//
// All rule families share one RuleContext; the judge stores each event in it in turn.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "validate/report.h"
#include "validate/table.h"
#include "validate/wire.h"

namespace agentrt::validate {

class RuleContext {
 public:
  explicit RuleContext(Profile profile) : profile_(profile) {}

  Event event;      // the event being validated
  Key session = 0;  // of the event
  // the event is outside the profile: it updates state but causes no findings
  bool muted = false;
  bool partial = false;  // the stream lacks earlier facts of the session

  Key key(std::string_view id) const { return key_of(session, id); }
  const Head& head() const { return event.head; }
  bool has(std::string_view payload_member) const { return event.met_payload.has(payload_member); }

  // True if an id missing from the table may have been forgotten or lie before the stream; then the
  // rule does not apply. Forgotten ids are counted as unjudged.
  template <class T>
  bool excuses(const Table<T>& table) {
    if (!partial && table.forgot()) ++report_.unjudged;
    return partial || table.forgot();
  }

  // Adds a finding: the event breaks `rule`. Ignored if the rule is outside the profile.
  void fail(std::string_view rule, std::string what);

  Report& report() { return report_; }

 private:
  Profile profile_;
  Report report_;
};

}  // namespace agentrt::validate
