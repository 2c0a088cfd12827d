// validate/hearing.h: the event that is being judged, and where what is found goes.
//
// Every family of rules holds the same hearing; the judge puts one event after another into it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "validate/report.h"
#include "validate/table.h"
#include "validate/wire.h"

namespace agentrt::validate {

class Hearing {
 public:
  explicit Hearing(Profile profile) : profile_(profile) {}

  Event event;           // the one being judged
  Key session = 0;       // of it
  bool muted = false;    // it is outside the profile: heard for what it tells about others
  bool partial = false;  // earlier facts of the session are not in the stream

  Key key(std::string_view id) const { return key_of(session, id); }
  const Head& head() const { return event.head; }
  bool has(std::string_view payload_member) const { return event.met_payload.has(payload_member); }

  // An id that is not in the table may have been: then the event is not judged by it.
  template <class T>
  bool excuses(const Table<T>& table) {
    if (!partial && table.forgot()) ++report_.unjudged;
    return partial || table.forgot();
  }

  // The event breaks a rule. Rules outside the profile are not judged.
  void fail(std::string_view rule, std::string what);

  Report& report() { return report_; }

 private:
  Profile profile_;
  Report report_;
};

}  // namespace agentrt::validate
