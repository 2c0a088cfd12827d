#include "channels/stream_form.h"

#include <fmt/format.h>

#include "schema/json.h"

namespace agentrt::channels {
namespace {

class SseForm final : public StreamForm {
 public:
  explicit SseForm(bool quoted) : quoted_(quoted) {}

  void add(Pieces& out, const FramesPtr& frames, std::size_t from, std::size_t to) const override {
    out.push_back(
        {{frames, &frames->text}, frames->start_of(from), frames->start_of(to), to - from, true});
  }
  std::string overflow(std::string_view place) const override {
    const std::string_view quote = quoted_ ? "\"" : "";
    return fmt::format("event: stream.overflow\ndata: {{\"resumeAfter\":{0}{1}{0}}}\n\n", quote,
                       place);
  }
  std::string error(const Error& error) const override {
    std::string body;
    schema::write_error(body, error);
    std::string out = "event: stream.error\ndata: ";
    for (const char c : body) {
      if (c == '\n')
        out += "\ndata: ";
      else if (c != '\r')
        out += c;
    }
    return out + "\n\n";
  }
  std::string progress(std::string_view place) const override {
    return fmt::format("id: {}\n\n", place);
  }
  std::string keep_alive(const std::optional<std::string>& place) const override {
    return place ? fmt::format(": keep-alive\nid: {}\n\n", *place) : ": keep-alive\n\n";
  }

 private:
  const bool quoted_;
};

}  // namespace

Piece piece_of(std::string text) {
  const std::size_t size = text.size();
  return {std::make_shared<const std::string>(std::move(text)), 0, size, 0, true};
}

StreamFormPtr sse_form(const StreamKind& kind) {
  static const StreamFormPtr number = std::make_shared<SseForm>(false);
  static const StreamFormPtr cursor = std::make_shared<SseForm>(true);
  return kind.generation ? cursor : number;
}

}  // namespace agentrt::channels
