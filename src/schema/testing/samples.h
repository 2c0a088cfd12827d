// schema/testing/samples.h: sample values of every described type, for tests that cover the whole
// vocabulary.
//
// whole<T>() sets every optional member and puts two elements in every list, with texts that need
// escaping. The values differ between members, so that tests detect swapped members.
#pragma once

#include "schema/commands.h"
#include "schema/facts.h"

namespace agentrt::schema::samples {

template <class T>
void fill(T& out, unsigned& count);

template <codec::DescribedEnum E>
E nth_enumerator(unsigned n) {
  using All = boost::describe::describe_enumerators<E>;
  E out{};
  unsigned i = 0;
  boost::mp11::mp_for_each<All>([&](auto d) {
    if (i++ == n % boost::mp11::mp_size<All>::value) out = d.value;
  });
  return out;
}

template <class T>
void fill(T& out, unsigned& count) {
  ++count;
  if constexpr (std::is_same_v<T, bool>) {
    out = true;
  } else if constexpr (std::is_same_v<T, Json>) {
    out.text = R"({"n":[1.10,18446744073709551615,1e400],"s":"\ud83d\ude00"})";
  } else if constexpr (std::is_same_v<T, Timestamp>) {
    out.ms = 1'780'000'000'000 + count;
  } else if constexpr (codec::kIsId<T>) {
    out = T{std::string(T::kPrefix) + "_" + std::to_string(count)};
  } else if constexpr (std::is_same_v<T, std::string>) {
    out = "text " + std::to_string(count) + " \"\\\n\x01 \xc3\xa9";
  } else if constexpr (codec::DescribedEnum<T>) {
    out = nth_enumerator<T>(count);
  } else if constexpr (std::is_integral_v<T>) {
    out = static_cast<T>(std::numeric_limits<T>::max() - count);
  } else if constexpr (codec::kIs<T, std::optional>) {
    fill(out.emplace(), count);
  } else if constexpr (codec::kIs<T, std::vector>) {
    out.resize(2);
    for (auto& element : out) fill(element, count);
  } else if constexpr (codec::kIs<T, std::map>) {
    fill(out[typename T::key_type{std::string("key")}], count);
  } else {
    boost::mp11::mp_for_each<codec::Members<T>>([&](auto d) { fill(out.*d.pointer, count); });
  }
}

template <class T>
T whole() {
  T out{};
  unsigned count = 0;
  fill(out, count);
  return out;
}

// A scope with only its required ids, plus trace and span.
template <class Scope>
Scope scope() {
  const SessionId session{"sess_1"};
  const TaskScope task{session, TaskId{"task_1"}};
  const TurnScope turn{
      session, TurnIds{ThreadId{"thread_1"}, TurnId{"turn_1"}, TaskId{"task_1"}, RunId{"run_1"},
                       AttemptId{"attempt_1"}, TraceId{"4bf92f3577b34da6a3ce929d0e0e4736"}}};
  if constexpr (std::is_same_v<Scope, SessionScope>)
    return SessionScope{session};
  else if constexpr (std::is_same_v<Scope, ThreadScope>)
    return ThreadScope{session, ThreadId{"thread_1"}};
  else if constexpr (std::is_same_v<Scope, TaskScope>)
    return task;
  else if constexpr (std::is_same_v<Scope, AttemptScope>)
    return AttemptScope{task, RunId{"run_1"}, AttemptId{"attempt_1"}};
  else if constexpr (std::is_same_v<Scope, TurnScope>)
    return turn;
  else if constexpr (std::is_same_v<Scope, JobScope>)
    return JobScope{session,
                    {JobId{"job_1"}, TaskId{"task_1"}, RunId{"run_1"}, AttemptId{"attempt_1"}}};
  else if constexpr (std::is_same_v<Scope, JobItemScope>)
    return JobItemScope{TurnScope{
        session, TurnIds{ThreadId{"thread_1"}, TurnId{"turn_1"}, TaskId{"task_1"}, RunId{"run_1"},
                         AttemptId{"attempt_1"}, TraceId{"4bf92f3577b34da6a3ce929d0e0e4736"},
                         JobId{"job_1"}, JobItemId{"item_1"}}}};
  else if constexpr (std::is_same_v<Scope, StepScope>)
    return StepScope{turn, StepId{"step_1"}};
  else if constexpr (std::is_same_v<Scope, ToolScope>)
    return ToolScope{turn, StepId{"step_1"}, ToolCallId{"call_1"}};
  else if constexpr (std::is_same_v<Scope, ActionScope>)
    return ActionScope{turn, ActionId{"action_1"}};
  else if constexpr (std::is_same_v<Scope, ArtifactScope>)
    return ArtifactScope{ToolScope{turn, StepId{"step_1"}, ToolCallId{"call_1"}},
                         ArtifactId{"artifact_1"}};
  else if constexpr (std::is_same_v<Scope, ProcessScope>)
    return ProcessScope{ToolScope{turn, StepId{"step_1"}, ToolCallId{"call_1"}},
                        ProcessId{"proc_1"}};
  else if constexpr (std::is_same_v<Scope, SubagentScope>)
    return SubagentScope{turn, SubagentId{"sub_1"}};
  else if constexpr (std::is_same_v<Scope, ChannelScope>)
    return ChannelScope{session, ChannelId{"chan_1"}};
  else if constexpr (std::is_same_v<Scope, ChannelActionScope>)
    return ChannelActionScope{ChannelScope{session, ChannelId{"chan_1"}}, ActionId{"action_1"}};
  else if constexpr (std::is_same_v<Scope, PeerTaskScope>)
    return PeerTaskScope{ChannelScope{session, ChannelId{"chan_1"}}, TaskId{"task_1"}};
  else if constexpr (std::is_same_v<Scope, HookScope>)
    return HookScope{turn, "hook_1"};
  else
    return ModelScope{turn, ModelRequestId{"mreq_1"}};
}

// Calls f with each fact type as std::type_identity.
template <class F>
void for_each_fact_type(F f) {
  using Known = boost::mp11::mp_pop_front<PayloadTypes>;
  boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, Known>>(f);
}

template <class F>
void for_each_command_type(F f) {
  boost::mp11::mp_for_each<boost::mp11::mp_transform<std::type_identity, CommandTypes>>(f);
}

// One draft of every fact type, in the order of known_types().
inline std::vector<Draft> drafts() {
  std::vector<Draft> out;
  for_each_fact_type([&]<class P>(std::type_identity<P>) {
    out.emplace_back(scope<typename P::Scope>(), whole<P>());
  });
  return out;
}

}  // namespace agentrt::schema::samples
