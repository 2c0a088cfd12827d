// launcher/link_test.cc: what the parts of a launcher hear of each other.
#include "launcher/link.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace agentrt::launcher {
namespace {

struct Link {
  Link() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    outside = Fd(ends[0]);
    inside = Fd(ends[1]);
  }
  Fd outside, inside;
};

}  // namespace

TEST_CASE("a part that ends is heard to its last word, also when it left something unread") {
  Link link;
  tell(link.outside.get(), Say::prepared);
  tell(link.inside.get(), Say::placeholder, 1, 0, "/ws/.git");
  tell(link.inside.get(), Say::failed, 40, 0, "protect /ws/.git");
  link.inside.reset();
  Message message;
  REQUIRE(hear(link.outside.get(), message));
  CHECK(message.say == Say::placeholder);
  REQUIRE(hear(link.outside.get(), message));
  CHECK(message.say == Say::failed);
  CHECK(message.a == 40);
  CHECK(std::string_view(message.text) == "protect /ws/.git");
  CHECK_FALSE(hear(link.outside.get(), message));
}

TEST_CASE("descriptors come beside a message, and belong to whoever hears it") {
  Link link;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const Fd read(ends[0]);
  Fd write(ends[1]);
  const int given[] = {write.get(), write.get()};
  tell(link.inside.get(), Say::confined, 1, 1, "layers", given);
  write.reset();
  Message message;
  Beside beside;
  REQUIRE(hear(link.outside.get(), message, &beside));
  CHECK(std::string_view(message.text) == "layers");
  REQUIRE(beside.given.size() == 2);
  CHECK((::fcntl(beside.given[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(::write(beside.given[1].get(), "x", 1) == 1);
  beside.given.clear();
  char bytes[4];
  CHECK(::read(read.get(), bytes, sizeof(bytes)) == 1);
  CHECK(::read(read.get(), bytes, sizeof(bytes)) == 0);
}

}  // namespace agentrt::launcher
