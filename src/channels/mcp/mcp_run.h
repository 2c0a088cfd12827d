// channels/mcp/mcp_run.h: one call of run_turn: submits the turn, waits for its end, and asks the
// client's user about its questions where the client shows forms.
//
// The turn belongs to the runtime: whatever happens to the call, the turn continues. Network thread
// only.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "channels/mcp/mcp_peers.h"
#include "channels/mcp/mcp_words.h"
#include "channels/protocols/protocols.h"
#include "channels/protocols/session_tap.h"
#include "channels/protocols/sse_out.h"
#include "channels/protocols/turn_result.h"

namespace agentrt::channels {

inline constexpr Duration kMcpProgressEvery{5'000};

struct McpCall {
  std::string id;  // of the request, as JSON
  McpPeerPtr peer;
  ActingAs as;
  std::optional<schema::Json> progress_token;
};

class McpRun final : public TapListener,
                     public Ticked,
                     public std::enable_shared_from_this<McpRun> {
 public:
  // Answers the exchange, with an event stream if `streams`.
  static void begin(Services& services, const ExchangePtr& exchange, McpCall call, RunTurnArgs args,
                    bool streams);
  ~McpRun();

  void on_event(Sequence sequence, std::string_view type, const std::string& event) override;
  void on_tap_ended(Error why) override;
  void tick(Instant now) override;

 private:
  McpRun(Services& services, McpCall call, RunTurnArgs args)
      : services_(services), call_(std::move(call)), args_(std::move(args)) {}

  void submit();
  void submitted(const Result<schema::SubmitTurnReply>& reply);
  void look();
  void found(Result<std::vector<schema::ActionSnapshot>> actions);
  bool can_ask(const schema::ActionSnapshot& action) const;
  void ask(const schema::ActionSnapshot& action);
  void answered(const schema::ActionSnapshot& action, const Result<schema::Json>& result);
  void respond(const schema::ActionSnapshot& action, std::string decision,
               std::optional<schema::Json> payload);
  void resolved(const ActionId& action);
  void finish();
  void reply(const std::string& message);
  void refuse(const Error& error);
  void stop();
  void send(const std::string& message);

  Services& services_;
  const McpCall call_;
  const RunTurnArgs args_;
  std::weak_ptr<Exchange> exchange_;
  std::shared_ptr<SseOut> out_;  // null: the reply is plain JSON
  std::shared_ptr<SessionTap> tap_;
  std::optional<schema::SubmitTurnReply> turn_;
  std::map<ActionId, std::uint64_t> asked_;  // questions to the client, with their request ids
  Instant began_ = Clock::now();
  Instant told_ = Clock::now();
  bool looking_ = false;
  bool look_again_ = false;
  bool ending_ = false;
};

}  // namespace agentrt::channels
