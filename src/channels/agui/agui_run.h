// channels/agui/agui_run.h: one AG-UI run: POST /agui, answered by a stream of events.
//
// A run begins a turn, or answers the questions at which an earlier run ended and continues its
// turn. Repeating a run gives the same events. The turn belongs to the runtime: closing the stream
// does not stop it. Network thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channels/agui/agui_events.h"
#include "channels/agui/agui_sessions.h"
#include "channels/protocols/protocols.h"
#include "channels/protocols/session_tap.h"
#include "channels/protocols/sse_out.h"
#include "channels/protocols/turn_result.h"

namespace agentrt::channels {

class AguiRun final : public TapListener, public std::enable_shared_from_this<AguiRun> {
 public:
  static void begin(Services& services, const ExchangePtr& exchange, AguiInput input);
  ~AguiRun();

  void on_event(Sequence sequence, std::string_view type, const std::string& event) override;
  void on_tap_ended(Error why) override;
  bool takes_events() const override { return out_ && out_->has_room(); }

 private:
  AguiRun(Services& services, ActingAs as, AguiInput input);

  // Reads what the log says about the session, then calls `then`.
  void scan(std::function<void()> then);
  void scanned();
  void repeat(const AguiTurn& turn);
  void begin_turn();
  void create_session(std::vector<std::size_t> fresh);
  void store_part(std::size_t message, std::size_t part);
  void submit();
  void follow(Sequence after);
  void resume();
  void check_answers(std::vector<schema::ActionSnapshot> open);
  void locate(std::size_t answer);
  void answer(std::size_t answer);
  bool answers(const ActionId& action) const;
  void send(const std::vector<std::string>& events);
  void fail_with(const Error& error);
  void stop();

  Services& services_;
  const ActingAs as_;
  const AguiInput input_;
  const SessionId session_;
  const TurnId turn_;
  AguiEvents events_;
  std::shared_ptr<SseOut> out_;
  std::shared_ptr<SessionTap> tap_;
  std::vector<std::size_t> fresh_;        // messages that are new to the session
  std::vector<schema::InputPart> parts_;  // of the turn
  std::vector<schema::RespondAction> answers_;
  std::set<ActionId> awaited_;  // a resumed run begins with the first of these that is resolved
  Sequence since_ = 0;
  bool ended_ = false;
};

}  // namespace agentrt::channels
