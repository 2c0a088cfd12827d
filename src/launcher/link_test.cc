// launcher/link_test.cc: tests the messages between the parts of a launcher.
#include "launcher/link.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "launcher/testing/link_fixture.h"

namespace agentrt::launcher {

TEST_CASE("the last message of a peer that ends is received, even if it left something unread") {
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

TEST_CASE("descriptors come with a message, and belong to its receiver") {
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

TEST_CASE("more descriptors than fit beside a message are refused, not cut") {
  Link link;
  const std::vector<int> given(kBesideMax + 1, link.inside.get());
  char byte = 'x';
  CHECK(send_beside(link.inside.get(), {&byte, 1}, given, MSG_NOSIGNAL) == -1);
  CHECK(send_beside(link.inside.get(), {&byte, 1}, std::span(given).first(kBesideMax),
                    MSG_NOSIGNAL) == 1);
  Message message;
  Beside beside;
  REQUIRE(hear(link.outside.get(), message, &beside));
  CHECK(beside.given.size() == kBesideMax);
}

TEST_CASE("what comes from elsewhere and is more than is expected is taken whole") {
  Link link;
  const std::vector<int> many(kBesideMax + 3, link.inside.get());
  std::vector<char> beside(CMSG_SPACE(many.size() * sizeof(int)));
  char byte = 'x';
  iovec from{&byte, 1};
  msghdr header{};
  header.msg_iov = &from;
  header.msg_iovlen = 1;
  header.msg_control = beside.data();
  header.msg_controllen = beside.size();
  cmsghdr* rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(many.size() * sizeof(int));
  std::memcpy(CMSG_DATA(rights), many.data(), many.size() * sizeof(int));
  REQUIRE(::sendmsg(link.inside.get(), &header, 0) == 1);
  Message message;
  Beside heard;
  REQUIRE(hear(link.outside.get(), message, &heard));
  CHECK(heard.given.size() >= kBesideMax);
  for (const Fd& each : heard.given) CHECK(::fcntl(each.get(), F_GETFD) >= 0);
}

}  // namespace agentrt::launcher
