#include "validate/judge.h"

#include <unordered_map>

#include "validate/call_rules.h"
#include "validate/channel_rules.h"
#include "validate/envelope_rules.h"
#include "validate/history_rules.h"
#include "validate/members.h"
#include "validate/model_rules.h"
#include "validate/process_rules.h"
#include "validate/task_rules.h"
#include "validate/turn_rules.h"
#include "validate/work_rules.h"

namespace agentrt::validate {

// The state of one judge: the current event and every rule family.
struct Judge::Court {
  explicit Court(const Options& options)
      : hearing(options.profile),
        envelope(hearing, options.after),
        turns(hearing),
        models(hearing),
        calls(hearing),
        processes(hearing),
        tasks(hearing),
        work(hearing),
        channels(hearing),
        history(hearing, turns, calls),
        profile(options.profile) {
    hearing.report().profile = options.profile;
  }

  void hear(std::string_view text);
  void payload_members(const std::vector<FixedMember>& fixed);

  // Decodes the payload as type P and passes it to the rule families that have rules for it.
  template <class P>
  static void hear_as(Court& court) {
    P payload;
    if (!schema::read_loosely(court.hearing.head().payload.text, payload,
                              court.hearing.event.met_payload))
      return;
    const auto show = [&](auto& family) {
      if constexpr (requires { family(payload); }) family(payload);
    };
    show(court.turns);
    show(court.models);
    show(court.calls);
    show(court.processes);
    show(court.tasks);
    show(court.work);
    show(court.channels);
    show(court.history);
  }

  RuleContext hearing;
  EnvelopeRules envelope;
  TurnRules turns;
  ModelRules models;
  CallRules calls;
  ProcessRules processes;
  TaskRules tasks;
  WorkRules work;
  ChannelRules channels;
  HistoryRules history;
  Profile profile;
  std::string why;
};

std::optional<std::string_view> event_in(std::string_view line) {
  constexpr std::string_view kData = "data:";
  if (line.starts_with(kData)) line.remove_prefix(kData.size());
  if (line.find_first_not_of(" \t\r") == line.npos || line.starts_with(':') ||
      line.starts_with("id:") || line.starts_with("event:") || line.starts_with("retry:"))
    return std::nullopt;
  return line;
}

Judge::Judge(Options options) : court_(std::make_unique<Court>(options)) {}
Judge::~Judge() = default;
Judge::Judge(Judge&&) noexcept = default;

void Judge::line(std::string_view text) {
  ++court_->hearing.event.line;
  if (const auto event = event_in(text)) court_->hear(*event);
}

void Judge::differs(std::string what) {
  Event& event = court_->hearing.event;
  event = {};
  court_->hearing.fail("replay.snapshot", std::move(what));
}

void Judge::skip_line() {
  ++court_->hearing.event.line;
  ++court_->hearing.report().skipped;
}

void Judge::Court::hear(std::string_view text) {
  struct Type {
    const schema::EventType* known;
    void (*hear)(Court&);
    std::vector<FixedMember> fixed;
  };
  static const auto kTypes = [] {
    std::unordered_map<std::string_view, Type> types;
    boost::mp11::mp_for_each<
        boost::mp11::mp_transform<boost::mp11::mp_identity, schema::StandardFacts>>(
        [&]<class P>(boost::mp11::mp_identity<P>) {
          types.emplace(P::kType, Type{schema::find_event_type(P::kType), &Court::hear_as<P>,
                                       fixed_members(P::kType)});
        });
    return types;
  }();
  Event& event = hearing.event;
  ++hearing.report().events;
  if (!read_head(text, event, why)) return hearing.fail("envelope.json", why);
  hearing.session = key_of(0, event.head.session_id);
  const auto type = kTypes.find(event.head.type);
  event.known = type == kTypes.end() ? nullptr : type->second.known;
  if (!envelope.any()) return;
  if (!event.known) {
    ++hearing.report().vendor_events;
    return;
  }
  turns.any();
  hearing.muted = profile == Profile::core && event.known->layer == schema::Layer::expanded;
  type->second.hear(*this);
  payload_members(type->second.fixed);
  hearing.muted = false;
}

void Judge::Court::payload_members(const std::vector<FixedMember>& fixed) {
  const schema::Met& met = hearing.event.met_payload;
  for (const FixedMember& member : fixed) {
    bool there = false;
    for (const std::string_view name : member.names) {
      there |= met.has(name);
      for (const schema::Misfit& misfit : met.misfits) {
        if (misfit.member != name) continue;
        there = true;
        hearing.fail("payload.shape", fmt::format("payload.{}{}", name, misfit.what));
      }
    }
    if (!there && member.need == Need::required)
      hearing.fail("payload.members",
                   fmt::format("{} has no {}", hearing.head().type, member.names.front()));
  }
}

const Report& Judge::finish() {
  Report& report = court_->hearing.report();
  report.sessions = court_->turns.sessions();
  report.unfinished = court_->turns.unfinished();
  return report;
}

}  // namespace agentrt::validate
