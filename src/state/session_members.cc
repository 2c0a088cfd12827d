// Special members of the largest structs and the codec of Session, compiled only here.
#include "state/session.h"

namespace agentrt::state {

Turn::Turn() = default;
Turn::Turn(const Turn&) = default;
Turn::Turn(Turn&&) noexcept = default;
Turn& Turn::operator=(const Turn&) = default;
Turn& Turn::operator=(Turn&&) noexcept = default;
Turn::~Turn() = default;
bool Turn::operator==(const Turn&) const = default;

Thread::Thread() = default;
Thread::Thread(const Thread&) = default;
Thread::Thread(Thread&&) noexcept = default;
Thread& Thread::operator=(const Thread&) = default;
Thread& Thread::operator=(Thread&&) noexcept = default;
Thread::~Thread() = default;
bool Thread::operator==(const Thread&) const = default;

Session::Session() = default;
Session::Session(const Session&) = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(const Session&) = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;
bool Session::operator==(const Session&) const = default;

}  // namespace agentrt::state

namespace agentrt::schema {

template std::string to_json(const state::Session& value);
template Result<void> from_json(std::string_view text, state::Session& out, Unknown unknown);

}  // namespace agentrt::schema
