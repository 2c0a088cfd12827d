// channels/authorization.h: the one check of token, scope and session binding.
//
// Every transport turns its requests into the values below. The kernel, the event streams and the
// outputs take only ports::Authorized values, and only this class can make one, so a transport that
// skips the check does not compile. Pure; nothing here depends on HTTP.
//
// A token that is bound to a session may
// - give commands that name that session,
// - give commands that name an object by its id alone (schema::LaneChoice::owner). The kernel then
//   looks the object up, and answers not_found if it belongs to another session, exactly as if it
//   did not exist.
// Every other command is forbidden: it concerns another session or more than one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "channels/subscriber.h"
#include "channels/tokens.h"
#include "ports/authorized.h"
#include "schema/commands.h"

namespace agentrt::channels {

// Where a request comes from, in the caller's own words; all may be empty.
struct RequestOrigin {
  RequestId request;
  std::optional<TraceContext> trace = {};
  std::optional<std::string> folder = {};  // that a client on this machine runs in
  schema::Transport transport = schema::Transport::in_process;
  ChannelId channel = {};  // that the caller names for the request
  // The channels of the connection; null: it has none.
  std::shared_ptr<ports::ConnectionChannels> connection = {};
  bool adapter = false;  // a part of the runtime that speaks another protocol
};

struct OutputQuery {
  std::string ref;
};

struct NewUpload {
  SessionId session;
  std::string media_type;
  std::optional<std::uint64_t> size = {};  // if known in advance
};

// In all functions `identity` is null if the caller sent no token or an unknown one. Errors:
// unauthenticated, forbidden.
class Authorization {
 public:
  // Whether the token has the scope. `what` begins the refusal: "WHAT needs a token with scope …".
  static Result<void> check_scope(const Identity* identity, TokenScope scope,
                                  std::string_view what = "this");

  static Result<ports::Authorized<schema::Command>> command(const Identity* identity,
                                                            schema::Command command,
                                                            RequestOrigin origin);
  static Result<ports::Authorized<StreamStart>> events(const Identity* identity, StreamStart start);
  static Result<ports::Authorized<OutputQuery>> output(const Identity* identity, OutputQuery query);
  static Result<ports::Authorized<NewUpload>> upload(const Identity* identity, NewUpload upload,
                                                     RequestOrigin origin);
};

}  // namespace agentrt::channels
