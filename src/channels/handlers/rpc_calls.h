// channels/handlers/rpc_calls.h: runs the calls of one JSON-RPC message, on any transport.
//
// The calls end in any order; the reply has the order of the calls. Network thread only.
#pragma once

#include <functional>
#include <string>

#include "channels/authorization.h"
#include "channels/exchange.h"
#include "channels/handlers/rpc.h"

namespace agentrt::channels {

// Runs after the reply to the message that it belongs to was handed to the transport.
using AfterReply = std::move_only_function<void()>;
using OwnReply = std::move_only_function<void(ports::Reply, AfterReply)>;

// The transport that the calls came over.
class RpcCaller {
 public:
  virtual const Identity* identity() const = 0;
  virtual RequestOrigin origin() const = 0;
  // Passes a checked command to the core. `reply_to` may be called on any thread.
  virtual void command(ports::Authorized<schema::Command> command, ports::ReplyTo reply_to) = 0;
  // A method of the transport itself. False: it has none of this name. `reply` is called on the
  // network thread.
  virtual bool own_method(const RpcCall& call, OwnReply& reply) = 0;

 protected:
  ~RpcCaller() = default;
};

// The command of a call, with the scope of its token checked before its params. Errors: not_found:
// there is no such command; unauthenticated; forbidden; invalid_params.
Result<schema::Command> command_of(const Identity* identity, const RpcCall& call);

// Whether the command attaches a channel, and so has to pass ChannelDesk::start().
bool starts_channel(std::string_view method);

// `done` gets the reply to the message; empty: there is none. `caller` is used only within the
// call.
using RpcDone = std::move_only_function<void(std::string reply)>;
void answer_rpc(Services& services, RpcCaller& caller, RpcMessage message, RpcDone done);

}  // namespace agentrt::channels
