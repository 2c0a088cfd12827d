#include "channels/connection.h"

#include <array>

#include "channels/request_checks.h"

namespace agentrt::channels {
namespace {

constexpr std::size_t kReadBytes = 8 << 10;
constexpr std::size_t kReadBodyBytes = 64 << 10;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

iovec as_iovec(std::string_view text) {
  return {const_cast<char*>(text.data()), text.size()};  // sendmsg() only reads from it
}

}  // namespace

Connection::Connection(LinkPtr link, const ConnectionContext& context)
    : link_(std::move(link)), context_(context), reader_(context.limits) {}

Connection::~Connection() = default;

void Connection::start() {
  set_deadline();
  read_more();
}

// --- reading ---

void Connection::read_more() {
  if (read_pending_) return;
  read_pending_ = true;
  const std::size_t used = input_.size();
  const std::size_t wanted =
      reader_.stage() == RequestReader::Stage::body ? kReadBodyBytes : kReadBytes;
  input_.resize(used + wanted);
  link_->read_some({input_.data() + used, wanted},
                   [self = shared_from_this(), used](bool ok, std::size_t got) {
                     self->read_pending_ = false;
                     if (self->state_ != State::reading && self->state_ != State::upgraded)
                       return;  // refused
                     self->input_.resize(used + got);
                     if (!ok) return self->close();
                     if (self->state_ == State::reading) return self->process();
                     const std::string bytes = std::exchange(self->input_, {});
                     self->receive_upgraded(bytes);
                   });
}

void Connection::set_deadline() {
  const HttpLimits& limits = context_.limits;
  const auto enter = [&](Phase phase, Duration time) {
    if (phase_ == phase && deadline_ != Instant::max()) return;
    phase_ = phase;
    deadline_ = Clock::now() + time;
  };
  if (reader_.stage() == RequestReader::Stage::body)
    enter(Phase::body, limits.body);
  else if (!input_.empty())
    enter(Phase::head, limits.head);
  else
    enter(Phase::idle, served_ ? limits.idle : limits.head);
}

// Parses and answers requests until it needs more bytes or must wait.
void Connection::process() {
  if (processing_) return;
  processing_ = true;
  while (state_ == State::reading && !input_.empty()) {
    const auto used = reader_.put(input_);
    if (!used) {
      refuse(used.error());
      break;
    }
    input_.erase(0, *used);
    if (spool()) break;
    const RequestReader::Stage stage = reader_.stage();
    if (stage == RequestReader::Stage::head || stage == RequestReader::Stage::body) break;
    process_request();
  }
  processing_ = false;
  if (state_ != State::reading) return;
  if (stopping_ && phase_ == Phase::idle && input_.empty()) return close();
  set_deadline();
  read_more();
}

bool Connection::spool() {
  const RequestReader::Stage stage = reader_.stage();
  if (!request.upload || stage == RequestReader::Stage::head) return false;
  std::string part = reader_.take_part();
  if (part.empty()) return false;
  state_ = State::spooling;
  deadline_ = Instant::max();
  request.upload->put(std::move(part), [inbox = context_.services.inbox,
                                        self = weak_from_this()](Result<void> stored) mutable {
    inbox->post([self = std::move(self), stored = std::move(stored)] {
      if (const auto connection = self.lock()) connection->spooled(stored);
    });
  });
  return true;
}

// Each part restarts the body deadline: an upload may take long, but must not stall.
void Connection::spooled(const Result<void>& stored) {
  if (state_ != State::spooling) return;
  state_ = State::reading;
  if (!stored) return refuse(stored.error());
  if (reader_.stage() == RequestReader::Stage::done) return dispatch();
  if (!input_.empty()) return process();
  set_deadline();
  read_more();
}

// REQUIRES: a complete head, with or without the body.
void Connection::process_request() {
  if (!head_checked_) {
    if (is_preflight()) return answer_preflight();
    if (const auto good = check_head(); !good) return refuse(good.error());
    head_checked_ = true;
  }
  if (reader_.stage() == RequestReader::Stage::done) return dispatch();
  if (const auto begun = begin_body(); !begun) return refuse(begun.error());
}

// A browser asks before it calls from another site, without a token.
bool Connection::is_preflight() {
  Head& head = reader_.head();
  return head.method == Method::options && head.origin && !head.has_body &&
         check_origin(head, context_.host_names, context_.origins) && !head.foreign_origin.empty();
}

void Connection::answer_preflight() {
  context_.services.metrics.http_requests.fetch_add(1, std::memory_order_relaxed);
  request.head = std::move(reader_.head());
  keep_ = request.head.keep;
  state_ = State::answering;
  respond(preflight_response());
}

Result<void> Connection::check_head() {
  Head& head = reader_.head();
  TRY(check_origin(head, context_.host_names, context_.origins));
  TRY_ASSIGN(Target target, read_target(head.target));
  match_ = match_route(head.method, target.path);
  identity = nullptr;
  revoked_ = false;
  const auto token = head.authorization ? bearer_token(*head.authorization)
                                        : protocol_token(head.websocket_protocols);
  if (token) identity = context_.services.tokens.find(*token);
  known_ = known_ || identity != nullptr;
  TRY(check_access(match_, identity.get(), local));
  if (!head.channel.empty() && !well_formed_id(head.channel))
    return fail(Code::invalid_params, "Agentrt-Channel: expected the id of a channel");
  if (!local) head.client_folder.clear();  // a claim about folders of this machine
  request.query = std::move(target.query);
  request.upload = nullptr;
  if (match_.route->upload) {
    TRY_ASSIGN(request.upload,
               match_.route->upload(context_.services, head, request.query, *identity));
    return {};
  }
  if (head.method == Method::post && !is_json(head.content_type.value_or("")))
    return fail(Code::unsupported_media_type, "send the body with Content-Type: application/json");
  return {};
}

Result<void> Connection::begin_body() {
  if (request.upload) {
    reader_.accept_parts();
  } else {
    TRY(reader_.accept_body());
  }
  if (reader_.head().expects_continue && input_.empty()) {
    const iovec text = as_iovec(kContinue);
    (void)write_now({&text, 1});  // without it, a client sends its body after a timeout
  }
  return {};
}

void Connection::dispatch() {
  context_.services.metrics.http_requests.fetch_add(1, std::memory_order_relaxed);
  request.head = std::move(reader_.head());
  request.ids = std::move(match_.ids);
  request.body = reader_.take_body();
  keep_ = request.head.keep;
  state_ = State::answering;
  deadline_ = Instant::max();
  match_.route->handler(context_.services, shared_from_this());
}

// --- answering ---

void Connection::refuse(const Error& error) {
  context_.services.metrics.http_requests.fetch_add(1, std::memory_order_relaxed);
  request.head = std::move(reader_.head());
  // After a rejected head, the rest of the request cannot be told from the next one, so close.
  const bool whole = reader_.stage() == RequestReader::Stage::done;
  keep_ = whole ? request.head.keep : Keep::close;
  Response response = error_response(error);
  if (error.code == Code::method_not_allowed) response.fields.emplace_back("Allow", match_.allow);
  state_ = State::answering;
  respond(std::move(response));
}

void Connection::respond(Response response) {
  if (state_ != State::answering) return;
  if (stopping_) keep_ = Keep::close;
  const auto& budget = context_.services.replies;
  if (response.only_reads && !budget->has_room(response.body.capacity())) {
    context_.services.metrics.http_replies_refused.fetch_add(1, std::memory_order_relaxed);
    response = error_response(no_room_for_reply());
  }
  reply_head_ = response_head(response, request.head, keep_);
  reply_body_ = request.head.method == Method::head ? std::string{} : std::move(response.body);
  reply_embedded_ = request.head.method == Method::head ? std::string_view{} : response.embedded;
  held_ = HeldReply(budget, reply_body_.capacity());
  reply_sent_ = 0;
  state_ = State::writing;
  write_reply();
}

void Connection::send(Response head, std::shared_ptr<BodySource> body) {
  if (state_ != State::answering) return;
  if (request.head.method != Method::head) {
    body_left_ = head.length.value_or(0);
    body_source_ = std::move(body);
  }
  respond(std::move(head));
}

void Connection::fetch_piece() {
  state_ = State::fetching;
  reply_body_ = {};
  held_ = {};
  wants_room_ = !context_.services.replies->has_room(kOutputPieceBytes);
  deadline_ = wants_room_ ? Clock::now() + context_.limits.stall : Instant::max();
  if (wants_room_) return;  // tick() retries
  held_ = HeldReply(context_.services.replies, kOutputPieceBytes);
  body_source_->next([self = weak_from_this()](Result<std::string> piece) {
    if (const auto connection = self.lock()) connection->fetched(std::move(piece));
  });
}

// If a piece fails, close the connection: the peer sees that bytes are missing.
void Connection::fetched(Result<std::string> piece) {
  if (state_ != State::fetching) return;
  if (!piece || piece->empty() || piece->size() > body_left_) return close();
  body_left_ -= piece->size();
  reply_head_ = {};
  reply_body_ = *std::move(piece);
  reply_sent_ = 0;
  state_ = State::writing;
  write_reply();
}

void Connection::write_reply() {
  const std::string_view body = reply_embedded_.empty() ? reply_body_ : reply_embedded_;
  const std::size_t total = reply_head_.size() + body.size();
  while (reply_sent_ < total) {
    std::array<iovec, 2> pieces;
    std::size_t count = 0;
    if (reply_sent_ < reply_head_.size())
      pieces[count++] = as_iovec(std::string_view(reply_head_).substr(reply_sent_));
    const std::size_t body_sent = reply_sent_ - std::min(reply_sent_, reply_head_.size());
    pieces[count++] = as_iovec(body.substr(body_sent));
    const auto taken = write_now({pieces.data(), count});
    if (!taken) return close();
    reply_sent_ += *taken;
    if (reply_sent_ < total) {
      deadline_ = Clock::now() + context_.limits.stall;
      return wait_writable();
    }
  }
  if (body_left_ > 0) return fetch_piece();
  reply_written();
}

void Connection::reply_written() {
  reply_head_ = {};
  reply_body_ = {};
  reply_embedded_ = {};
  held_ = {};
  body_source_ = nullptr;
  request = {};
  const bool whole = reader_.stage() == RequestReader::Stage::done;
  if (keep_ == Keep::close) return whole ? close() : linger();
  reader_.reset();
  head_checked_ = false;
  served_ = true;
  state_ = State::reading;
  phase_ = Phase::idle;
  deadline_ = Instant::max();
  process();
}

// Closing with unread bytes would reset the connection, and the peer would lose our reply. So shut
// down our side first and discard what the peer still sends for a while.
void Connection::linger() {
  state_ = State::lingering;
  deadline_ = Clock::now() + context_.limits.linger;
  link_->shut_down();
  input_ = {};
  watch_peer();
}

// --- streaming ---

void Connection::stream(std::shared_ptr<Subscriber> subscriber) {
  if (state_ != State::answering || stopping_ || revoked_) {
    context_.services.hub.close(*subscriber);
    return close();
  }
  state_ = State::streaming;
  input_ = {};
  link_->set_send_buffer(context_.limits.stream.send_buffer_bytes);
  subscriber_ = std::move(subscriber);
  watch_peer();
  const auto keep = subscriber_;
  keep->attach(*this, stream_head(request.head, context_.services.hub.generation().text()));
}

// --- upgraded ---

void Connection::upgrade(std::string head, const MakeUpgraded& make) {
  if (state_ != State::answering || stopping_ || revoked_) return close();
  state_ = State::upgraded;
  link_->set_send_buffer(context_.limits.stream.send_buffer_bytes);
  const iovec text = as_iovec(head);
  // The socket's buffer is empty, so it takes a short text at once.
  if (write_now({&text, 1}) != head.size()) return close();
  upgraded_ = make(*this);
  receive_upgraded(std::exchange(input_, {}));
}

void Connection::receive_upgraded(std::string_view bytes) {
  const auto protocol = upgraded_;
  if (!bytes.empty()) protocol->received(bytes);
  if (state_ == State::upgraded && protocol->receives()) read_more();
}

void Connection::receive_more() {
  if (state_ == State::upgraded) read_more();
}

void Connection::end_stream() {
  if (state_ != State::upgraded) return;
  if (const auto protocol = std::exchange(upgraded_, nullptr)) protocol->closed();
  if (stopping_) return close();
  link_->cancel();  // the pending read must not touch input_ any more
  linger();
}

// --- the socket ---

// Detects that the peer has closed; discards what it sends.
void Connection::watch_peer() {
  const auto scratch = std::make_shared<std::array<char, 4096>>();
  link_->read_some(*scratch, [self = shared_from_this(), scratch](bool ok, std::size_t) {
    if (self->state_ == State::closed) return;
    if (!ok) return self->close();
    self->watch_peer();
  });
}

std::optional<std::size_t> Connection::write_now(std::span<const iovec> bytes) {
  return link_->write_now(bytes);
}

void Connection::wait_writable() {
  link_->when_writable([self = shared_from_this()](bool ok) {
    if (self->state_ == State::closed) return;
    if (!ok) return self->close();
    if (self->state_ == State::writing) return self->write_reply();
    if (const auto protocol = self->upgraded_) return protocol->on_writable();
    if (const auto subscriber = self->subscriber_) subscriber->on_writable();
  });
}

void Connection::end_stream_of(const std::string& token_id) {
  if (!identity || identity->id != token_id) return;
  if (const auto protocol = upgraded_) return protocol->end(Upgraded::End::token_revoked);
  if (state_ == State::streaming || body_source_ || request.upload) return close();
  revoked_ = true;  // also prevents a stream that is about to open
}

// --- ending ---

void Connection::tick(Instant now) {
  if (identity && identity->expires_at && context_.services.tokens.expired(*identity))
    end_stream_of(identity->id);
  if (state_ == State::closed) return;
  if (const auto subscriber = subscriber_) return subscriber->tick(now);
  if (const auto protocol = upgraded_) return protocol->tick(now);
  if (wants_room_ && state_ == State::fetching && now < deadline_) {
    const Instant until = deadline_;
    fetch_piece();
    if (wants_room_) deadline_ = until;
    return;
  }
  if (now < deadline_) return;
  if (state_ != State::reading || phase_ == Phase::idle) return close();
  link_->cancel();  // the pending read must not touch input_ any more
  refuse({Code::timeout, "the request did not arrive within the time limit", {}});
}

void Connection::stop() {
  stopping_ = true;
  if (state_ == State::streaming) {
    const auto subscriber = subscriber_;
    subscriber->end();
    close();
  } else if (const auto protocol = upgraded_) {
    protocol->end(Upgraded::End::server_stops);
  } else if (state_ == State::reading || state_ == State::lingering) {
    close();
  }
}

void Connection::close() {
  if (state_ == State::closed) return;
  state_ = State::closed;
  const auto self = shared_from_this();
  if (const auto subscriber = std::exchange(subscriber_, nullptr))
    context_.services.hub.close(*subscriber);
  if (const auto protocol = std::exchange(upgraded_, nullptr)) protocol->closed();
  request.upload = nullptr;
  body_source_ = nullptr;
  reply_body_ = {};
  held_ = {};
  link_->close();
  context_.closed(*this);
}

}  // namespace agentrt::channels
