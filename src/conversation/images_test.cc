#include "conversation/images.h"

#include <doctest/doctest.h>

#include <map>

namespace agentrt::conversation {
namespace {

const std::string kGif("GIF89a\2\1\3\0 pixels;", 18);

ports::Message result(std::vector<std::string> refs, std::uint64_t size = 18) {
  ports::Message out{.role = ports::Role::tool, .text = "done"};
  for (std::string& ref : refs) out.images.push_back({std::move(ref), "image/gif", size});
  return out;
}

struct Stored {
  ReadImage reader() {
    return [this](const ports::StoredImage& image) -> Result<std::string> {
      ++reads;
      const auto found = bytes.find(image.ref);
      if (found == bytes.end()) return fail(Code::expired, "it has expired");
      return found->second;
    };
  }
  std::map<std::string, std::string> bytes = {{"a", kGif}, {"b", kGif}, {"c", kGif}};
  int reads = 0;
};

}  // namespace

TEST_CASE("images of results are attached from their refs, in order") {
  Stored stored;
  std::vector<ports::Message> messages{{.text = "look"}, result({"a", "b"}), result({})};
  attach_images(messages, ImagesSent::all, stored.reader());
  REQUIRE(messages[1].attachments.size() == 2);
  CHECK(messages[1].attachments[0] == ports::Attachment{"a", "image/gif", kGif});
  CHECK(messages[1].attachments[1].name == "b");
  CHECK(messages[1].images.empty());
  CHECK(messages[1].text == "done");
}

TEST_CASE("a model that takes no images gets a sentence, and nothing is read") {
  for (const ImagesSent sent : {ImagesSent::attached, ImagesSent::none}) {
    Stored stored;
    std::vector<ports::Message> messages{result({"a"})};
    attach_images(messages, sent, stored.reader());
    CHECK(messages[0].attachments.empty());
    CHECK(
        messages[0].text ==
        "done\n[The image output:a (image/gif, 18 bytes) is not shown: you cannot see images (the "
        "model's configuration lacks images = true).]");
    CHECK(stored.reads == 0);
  }
}

TEST_CASE("count and size are bounded, and the newest images are sent") {
  Stored stored;
  std::vector<ports::Message> messages{result({"a"}), result({"b"}), result({"c"})};
  attach_images(messages, ImagesSent::all, stored.reader(), {.count_max = 2});
  CHECK(messages[0].text.contains("only the newest 2 images"));
  CHECK(messages[1].attachments.size() == 1);
  CHECK(messages[2].attachments.size() == 1);
  messages = {result({"a"}), result({"b"}, 100)};
  attach_images(messages, ImagesSent::all, stored.reader(), {.image_bytes_max = 99});
  CHECK(messages[0].attachments.size() == 1);
  CHECK(messages[1].text.contains("the limit is 99 bytes"));
}

TEST_CASE("an image that a provider would reject, or that is gone, is named in words") {
  Stored stored;
  stored.bytes = {{"cut", kGif.substr(0, 17)},
                  {"other", "\x89PNG\r\n\x1a\n and so on"},
                  {"wide", std::string("GIF89a\x41\x1f\3\0 pixels;", 18)}};
  std::vector<ports::Message> messages{result({"cut"}), result({"other"}), result({"wide"}),
                                       result({"gone"})};
  attach_images(messages, ImagesSent::all, stored.reader());
  CHECK(messages[0].text.contains("its bytes are damaged"));
  CHECK(messages[1].text.contains("its bytes are damaged"));
  CHECK(messages[2].text.contains("it has 8001 x 3 pixels"));
  CHECK(messages[3].text.contains("it has expired"));
  for (const ports::Message& message : messages) CHECK(message.attachments.empty());
  messages = {result({"a"})};
  attach_images(messages, ImagesSent::all, {});
  CHECK(messages[0].text.contains("it cannot be read"));
}

}  // namespace agentrt::conversation
