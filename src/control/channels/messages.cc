// control/channels/messages.cc: decides what peers say: messages, and the state of their tasks.
#include <fmt/format.h>

#include "control/channels/channels.h"
#include "control/tasks/task_facts.h"
#include "state/read_models.h"

namespace agentrt::control {

using namespace schema;

namespace {

constexpr std::size_t kKindBytesMax = 64;

std::optional<Error> wrong_message(const SendChannelMessage& command, const Inputs& inputs) {
  const auto wrong = [](Code code, std::string message) {
    return Error{code, std::move(message), {}};
  };
  if (command.kind.empty() || command.kind.size() > kKindBytesMax)
    return wrong(Code::invalid_params, fmt::format("kind: expected 1 to {} bytes", kKindBytesMax));
  if (command.direction == MessageDirection::out && !inputs.sender.adapter)
    return wrong(Code::forbidden,
                 "direction: out is for messages that the runtime sends to a peer");
  if (!command.text && !command.payload)
    return wrong(Code::invalid_params, "expected text or payload: the message is empty");
  const std::size_t bytes = (command.text ? command.text->size() : 0) +
                            (command.payload ? command.payload->text.size() : 0);
  if (bytes > kChannelMessageBytesMax)
    return wrong(Code::too_large,
                 fmt::format("a message has at most {} bytes: upload larger data with POST "
                             "/v1/outputs, and send its ref",
                             kChannelMessageBytesMax));
  return std::nullopt;
}

Decided not_connected(const ChannelId& channel) {
  return refuse(Code::conflict,
                fmt::format("channel {} is not connected: call reconnect_channel", channel.text()),
                R"({"status":"disconnected"})");
}

}  // namespace

Decided send_channel_message(const Session& view, const SendChannelMessage& command,
                             Inputs inputs) {
  const state::Channel* channel = state::find_channel(view, command.channel_id);
  if (!channel) return not_open(command.channel_id, inputs);
  if (!channel->connected) return not_connected(command.channel_id);
  if (auto error = wrong_message(command, inputs)) return *std::move(error);
  Facts facts{view, inputs};
  ChannelMessage message;
  message.direction = name_of(command.direction.value_or(MessageDirection::in));
  message.kind = command.kind;
  const std::string text = command.text.value_or("");
  message.preview = std::string(utf8_prefix(text, kChannelPreviewBytes));
  if (message.preview->size() < text.size()) message.text = text;
  message.payload = command.payload;
  if (message.text || message.payload) message.message_ref = state::log_ref(facts.last() + 1);
  const auto ref = message.message_ref;
  facts.add(ChannelScope{view.id, channel->id}, std::move(message));
  return accept(facts, ChannelMessageReply{channel->id, ref, 0});
}

Decided link_peer_task(const Session& view, const LinkPeerTask& command, Inputs inputs) {
  const state::Channel* channel = state::find_channel(view, command.channel_id);
  if (!channel) return not_open(command.channel_id, inputs);
  if (command.remote_task_id == command.task_id.text())
    return refuse(Code::invalid_params,
                  "remoteTaskId: expected the peer's own id: it must differ from taskId");
  if (command.remote_task_id.empty() || command.native_protocol.empty())
    return refuse(Code::invalid_params,
                  "expected a remoteTaskId and a nativeProtocol that are not empty");
  if (const auto task = named_task(view, command.task_id, inputs); !task) return task.error();
  const PeerTaskReply reply{channel->id, command.task_id, view.sequence};
  if (const auto& known = inputs.named.peer_task) {
    if (known->remote_task_id == command.remote_task_id &&
        known->native_protocol == command.native_protocol)
      return Unchanged{to_json(reply)};
    return refuse(Code::conflict,
                  fmt::format("task {} is already linked to task {} of this peer",
                              command.task_id.text(), known->remote_task_id),
                  fmt::format(R"({{"remoteTaskId":{}}})", to_json(known->remote_task_id)));
  }
  Facts facts{view, inputs};
  facts.add(PeerTaskScope{ChannelScope{view.id, channel->id}, command.task_id},
            ChannelPeerTaskLinked{.native_protocol = command.native_protocol,
                                  .remote_task_id = command.remote_task_id,
                                  .remote_context_id = command.remote_context_id,
                                  .agent_card_ref = command.agent_card_ref});
  return accept(facts, reply);
}

// Records the state of the peer's task and changes nothing about the local one.
Decided update_peer_task(const Session& view, const UpdatePeerTask& command, Inputs inputs) {
  const state::Channel* channel = state::find_channel(view, command.channel_id);
  if (!channel) return not_open(command.channel_id, inputs);
  const auto& known = inputs.named.peer_task;
  if (!known)
    return refuse(Code::not_found,
                  fmt::format("task {} is not linked to a task of this peer: call link_peer_task",
                              command.task_id.text()));
  ChannelPeerTaskUpdated updated;
  updated.native_protocol = known->native_protocol;
  updated.remote_task_id = known->remote_task_id;
  updated.remote_context_id = known->remote_context_id;
  updated.agent_card_ref = known->agent_card_ref;
  updated.linked_sequence = known->first_sequence;
  updated.remote_status = command.remote_status;
  updated.recovery =
      command.recovery ? std::optional(std::string(name_of(*command.recovery))) : known->recovery;
  updated.remote_artifact_refs =
      command.remote_artifact_refs ? command.remote_artifact_refs : known->remote_artifact_refs;
  updated.error = command.error;
  const PeerTaskReply reply{channel->id, command.task_id, view.sequence};
  if (updated.remote_status == known->remote_status && updated.recovery == known->recovery &&
      updated.remote_artifact_refs == known->remote_artifact_refs && updated.error == known->error)
    return Unchanged{to_json(reply)};
  Facts facts{view, inputs};
  facts.add(PeerTaskScope{ChannelScope{view.id, channel->id}, command.task_id}, std::move(updated));
  return accept(facts, reply);
}

}  // namespace agentrt::control
