// channels/protocols/calls.h: gives commands to the core on behalf of the caller of another
// protocol, with the same checks as every transport. Network thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "channels/authorization.h"
#include "channels/exchange.h"
#include "schema/codec.h"

namespace agentrt::channels {

// Who sent a request of another protocol.
struct ActingAs {
  std::shared_ptr<const Identity> identity;
  RequestOrigin origin;

  bool allows(TokenScope scope) const { return identity && identity->allows(scope); }
};
ActingAs acting_as(const Exchange& exchange);

// `done` gets the reply's JSON, or the refusal: within the call if the token does not suffice, else
// later.
using TextDone = std::move_only_function<void(Result<std::string>)>;
void call_text(Services& services, const ActingAs& as, schema::Command command, TextDone done);

template <class Reply>
Result<Reply> read_reply(const Result<std::string>& text) {
  if (!text) return std::unexpected(text.error());
  Reply reply;
  TRY(schema::from_json(*text, reply, schema::Unknown::ignore));
  return reply;
}

// The same with the decoded reply.
template <class C>
void call(Services& services, const ActingAs& as, C command,
          std::move_only_function<void(Result<typename C::Reply>)> done) {
  call_text(services, as, schema::Command(std::move(command)),
            [done = std::move(done)](Result<std::string> text) mutable {
              done(read_reply<typename C::Reply>(text));
            });
}

// The reply of a list: its rows as JSON texts.
struct ListPage {
  std::vector<schema::Json> data;
  std::optional<std::string> next_cursor;
};
BOOST_DESCRIBE_STRUCT(ListPage, (), (data, next_cursor))

}  // namespace agentrt::channels
