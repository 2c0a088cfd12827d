// channels/desk/permission_bridge.h: asks the peers of channels about open actions, and passes on
// their answers.
//
// The stored facts say that the open actions of a session concern a channel (see
// control/channels/channels.h). This part only keeps the peers up to date with them: after each
// notice it reads the open actions of the session, requests those that are new and withdraws those
// that are gone. A missed or repeated notice therefore changes nothing. Network thread only.
#pragma once

#include <functional>
#include <map>
#include <vector>

#include "channels/desk/attachment.h"
#include "channels/inbox.h"
#include "ports/control_plane.h"

namespace agentrt::channels {

// How often one connection is asked again about an action after an answer was refused.
inline constexpr int kAskedAgainMax = 3;

class PermissionBridge {
 public:
  // Returns the attached channels of a session that decide about permissions.
  using Deciding = std::function<std::vector<AttachmentPtr>(const SessionId&)>;

  PermissionBridge(ports::CommandSink& sink, std::shared_ptr<Inbox> inbox, Deciding deciding)
      : sink_(sink), inbox_(std::move(inbox)), deciding_(std::move(deciding)) {}

  // Brings all peers of the session up to date.
  void update(const SessionId& session);
  // The peer's answer: {decision, scope?, rule?, payload?, reason?}.
  void answer(const AttachmentPtr& attachment, const ActionId& action, std::string_view result);
  // The peer answers with a command, so it gets no cancel_action when the action is resolved.
  static void answering(Attachment& attachment, const ActionId& action);

 private:
  struct Reading {
    bool again = false;  // a notice arrived since the read began
  };

  void listed(const SessionId& session, const ports::Reply& reply);
  static void compare(const AttachmentPtr& attachment, const std::vector<ActionRequest>& open);
  static void ask(const AttachmentPtr& attachment, ActionRequest request);
  static void refused(const AttachmentPtr& attachment, const ActionId& action, const Error& error);

  ports::CommandSink& sink_;
  const std::shared_ptr<Inbox> inbox_;
  const Deciding deciding_;
  std::map<SessionId, Reading> reading_;
};

}  // namespace agentrt::channels
