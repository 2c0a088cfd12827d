#include "channels/websocket/rpc_form.h"

#include <fmt/format.h>

#include "base/websocket.h"
#include "channels/handlers/rpc.h"
#include "schema/json.h"

namespace agentrt::channels {
namespace {

using websocket::Opcode;

class RpcForm final : public StreamForm {
 public:
  RpcForm(bool quoted, std::string_view subscription) : quoted_(quoted) {
    schema::write_string(id_, subscription);
    before_ = fmt::format(
        R"({{"jsonrpc":"2.0","method":"event","params":{{"subscriptionId":{},"event":)", id_);
  }

  // Three pieces per event. Those around the events of a run share one text.
  void add(Pieces& out, const FramesPtr& frames, std::size_t from, std::size_t to) const override {
    const auto around = std::make_shared<std::string>();
    around->reserve((to - from) * (before_.size() + 64));
    for (std::size_t i = from; i < to; ++i) {
      const Frame& frame = frames->list[i];
      Piece event{{frames, &frames->text}, frame.data, frame.data_end, 0, false};
      if (frame.split) {
        event = piece_of(frames->unsplit(i));
        event.begins = false;
      }
      const std::string after =
          quoted_ ? fmt::format(R"(,"cursor":"{}"}}}})", frames->place_of(i)) : "}}";
      const std::size_t start = around->size();
      websocket::add_header(*around, Opcode::text,
                            before_.size() + (event.end - event.offset) + after.size());
      *around += before_;
      const std::size_t middle = around->size();
      *around += after;
      out.push_back({around, start, middle, 0, true});
      out.push_back(std::move(event));
      out.push_back({around, middle, around->size(), 1, false});
    }
  }
  std::string overflow(std::string_view place) const override {
    return notification("stream.overflow", fmt::format(R"("resumeAfter":{})", json_of(place)));
  }
  std::string error(const Error& error) const override {
    std::string member = R"("error":)";
    schema::write_error(member, error);
    return notification("stream.error", member);
  }
  std::string progress(std::string_view place) const override {
    return notification("stream.progress",
                        fmt::format(R"("{}":{})", quoted_ ? "cursor" : "after", json_of(place)));
  }
  std::string keep_alive(const std::optional<std::string>& place) const override {
    return place ? progress(*place) : "";  // pings keep the connection alive
  }

 private:
  std::string json_of(std::string_view place) const {
    return quoted_ ? fmt::format("\"{}\"", place) : std::string(place);
  }
  std::string notification(std::string_view method, std::string_view member) const {
    return websocket::frame(
        Opcode::text,
        rpc_notification(method, fmt::format(R"({{"subscriptionId":{},{}}})", id_, member)));
  }

  const bool quoted_;  // resume positions are cursors
  std::string id_;     // as JSON
  std::string before_;
};

}  // namespace

StreamFormPtr rpc_form(const StreamKind& kind, std::string_view subscription) {
  return std::make_shared<RpcForm>(kind.generation.has_value(), subscription);
}

}  // namespace agentrt::channels
