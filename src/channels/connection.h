// channels/connection.h: one client connection, from its first byte to its last.
//
// Requests are answered one at a time and in order; a client may pipeline. Every request is checked
// before any work is done: header size, Host, Origin, token, scope, content type, body size. A
// stream request turns the connection into a stream permanently, and an upgrade into something else
// than HTTP.
//
// A connection always waits for exactly one thing: bytes, a reply from the core, or the peer to
// read. All waits have a deadline, except for the reply, which always arrives.
//
// Network thread only. Pending operations keep a connection alive; close() ends them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "channels/exchange.h"
#include "channels/limits.h"
#include "channels/link.h"
#include "channels/request_reader.h"
#include "channels/routes.h"

namespace agentrt::channels {

class Connection;

// Shared by all connections of a server.
struct ConnectionContext {
  Services& services;
  const HttpLimits& limits;
  const std::vector<std::string>& host_names;
  const std::vector<std::string>& origins;
  std::function<void(Connection&)> closed;  // called once; may drop the last reference
};

class Connection final : public Exchange,
                         public UpgradedPipe,
                         public std::enable_shared_from_this<Connection> {
 public:
  Connection(LinkPtr link, const ConnectionContext& context);
  ~Connection();

  void start();
  // Closes the connection if its deadline has passed.
  void tick(Instant now);
  // Reads no further request; the current reply is still sent.
  void stop();
  void close();
  // Whether it waits for a request and has never presented a valid token.
  bool idle_stranger() const { return state_ == State::reading && !known_; }
  Instant since() const { return since_; }
  // Closes the connection if this token is used for something long: a stream, a WebSocket, an
  // upload, a large reply.
  void end_stream_of(const std::string& token_id);

  void respond(Response response) override;
  void send(Response head, std::shared_ptr<BodySource> body) override;
  void stream(std::shared_ptr<Subscriber> subscriber) override;
  void upgrade(std::string head, const MakeUpgraded& make) override;

  std::optional<std::size_t> write_now(std::span<const iovec> bytes) override;
  void wait_writable() override;
  void close_stream() override { close(); }
  void end_stream() override;
  void receive_more() override;

 private:
  enum class State {
    reading,
    spooling,  // part of an upload is being stored
    answering,
    writing,
    fetching,  // the next piece of a reply is being read
    streaming,
    upgraded,
    lingering,
    closed
  };
  enum class Phase { idle, head, body };  // of reading; selects the deadline

  void read_more();
  void set_deadline();
  void process();
  void process_request();
  Result<void> check_head();
  bool is_preflight();
  void answer_preflight();
  Result<void> begin_body();
  // Stores the received part of an upload. False: there is nothing to store.
  bool spool();
  void spooled(const Result<void>& stored);
  void dispatch();
  void refuse(const Error& error);
  void write_reply();
  void fetch_piece();
  void fetched(Result<std::string> piece);
  void reply_written();
  void linger();
  void watch_peer();
  void receive_upgraded(std::string_view bytes);

  const LinkPtr link_;
  const ConnectionContext& context_;
  RequestReader reader_;
  std::string input_;  // received, not parsed yet
  std::shared_ptr<Upgraded> upgraded_;
  RouteMatch match_;
  State state_ = State::reading;
  Phase phase_ = Phase::idle;
  Instant deadline_ = Instant::max();
  bool head_checked_ = false;
  bool processing_ = false;  // process() is on the stack
  bool read_pending_ = false;
  bool stopping_ = false;
  bool revoked_ = false;     // the request's token was revoked after its check
  bool served_ = false;      // an earlier request was answered
  bool known_ = false;       // a request of this connection had a valid token
  bool wants_room_ = false;  // the next piece waits until replies hold fewer bytes
  const Instant since_ = Clock::now();
  Keep keep_ = Keep::open;
  std::string reply_head_;
  std::string reply_body_;
  std::string_view reply_embedded_;  // sent instead of reply_body_
  HeldReply held_;                   // the bytes of reply_body_
  std::size_t reply_sent_ = 0;
  std::shared_ptr<BodySource> body_source_;
  std::uint64_t body_left_ = 0;  // bytes still to be requested from body_source_
  std::shared_ptr<Subscriber> subscriber_;
};

}  // namespace agentrt::channels
