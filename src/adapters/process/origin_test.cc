// adapters/process/origin_test.cc: tests of the origin and its copies.
#include "adapters/process/origin.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "adapters/process/launch.h"
#include "adapters/process/memory_file.h"

namespace agentrt::adapters {
namespace {

launcher::Spec plain_spec(std::vector<std::string> argv) {
  launcher::Spec spec;
  spec.argv = std::move(argv);
  spec.cwd = "/";
  spec.wanted = 0;
  return spec;
}

struct Ended {
  int code = -1;
  bool started = false;  // reported before the end
};

// Runs the command in a new copy, waits for it and returns how it ended.
Ended end_of(Origin& origin, const launcher::Spec& spec, int out = STDOUT_FILENO) {
  const auto text = file_in_memory("spec", launcher::encode(spec));
  REQUIRE(text);
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  const Descriptor theirs(ends[1]);
  const int given[] = {text->get(), theirs.get(), out};
  const auto pid = origin.copy({.streams = 1u << STDOUT_FILENO}, given);
  REQUIRE(pid);
  Launched launched(*pid, ends[0]);
  Ended ended;
  for (;;) {
    const auto report = launched.report();
    REQUIRE(report);
    const auto is = [&](std::string_view event) {
      return report->starts_with("{\"event\":\"" + std::string(event) + "\"");
    };
    if (report->empty() || is("exited")) break;
    if (is("ready")) REQUIRE(launched.order("go"));
    ended.started |= is("started");
  }
  ended.code = launched.wait();
  return ended;
}

std::string space_at(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

// The network namespace that the origin has prepared. `held` keeps it open, so that the kernel does
// not reuse its number.
struct HeldNetwork {
  std::string name;
  Descriptor held;
};
HeldNetwork next_network_of(const Origin& origin, const std::string& host) {
  const std::string descriptors = fmt::format("/proc/{}/fd", origin.pid());
  for (int i = 0; i < 2'000; ++i) {
    for (const auto& each : std::filesystem::directory_iterator(descriptors))
      if (const std::string name = space_at(each.path()); name.starts_with("net:") && name != host)
        return {name, Descriptor(::open(each.path().c_str(), O_RDONLY | O_CLOEXEC))};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("the origin makes no network");
  return {};
}

// -1: no such child.
pid_t child_called(std::string_view name) {
  std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
  for (pid_t child = 0; children >> child;) {
    std::string found;
    std::getline(std::ifstream(fmt::format("/proc/{}/comm", child)) >> std::ws, found);
    if (found == name) return child;
  }
  return -1;
}

int run(Origin& origin, const launcher::Spec& spec) { return end_of(origin, spec).code; }

}  // namespace

TEST_CASE("a launcher's last message is received, even if it left an order unread") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  const Launched launched(-1, ends[0]);
  REQUIRE(launched.order("closeInput").has_value());
  for (const char* text : {"one", "two"}) REQUIRE(::send(ends[1], text, 3, 0) == 3);
  ::close(ends[1]);
  CHECK(launched.report().value_or("-") == "one");
  CHECK(launched.report().value_or("-") == "two");
  CHECK(launched.report().value_or("-").empty());
}

TEST_CASE("copies of an origin are children of this process, and each runs its own command") {
  Origin origin(launcher_program());
  CHECK(origin.pid() == -1);
  CHECK(run(origin, plain_spec({"/bin/sh", "-c", "exit 3"})) == 3);
  const pid_t first = origin.pid();
  CHECK(run(origin, plain_spec({"/bin/sh", "-c", "exit 4"})) == 4);
  CHECK(origin.pid() == first);
}

TEST_CASE("an origin that is gone takes nothing with it to the next one, which is asked again") {
  Origin origin(launcher_program());
  CHECK(run(origin, plain_spec({"/bin/true"})) == 0);
  const pid_t first = origin.pid();
  REQUIRE(::kill(first, SIGKILL) == 0);
  // The killed origin may have made a copy with these descriptors; they are not reused.
  const auto text = file_in_memory("spec", launcher::encode(plain_spec({"/bin/true"})));
  REQUIRE(text);
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  const Descriptor ours(ends[0]), theirs(ends[1]);
  const int given[] = {text->get(), theirs.get()};
  const auto made = origin.copy({}, given);
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Code::unavailable);
  CHECK(run(origin, plain_spec({"/bin/sh", "-c", "exit 5"})) == 5);
  CHECK(origin.pid() != first);
  CHECK((::waitpid(first, nullptr, WNOHANG) == -1 && errno == ECHILD));
}

TEST_CASE("a launch continues with another origin when the previous one is gone") {
  for (const int code : {3, 4}) {
    auto launched = launch(plain_spec({"/bin/sh", "-c", fmt::format("exit {}", code)}));
    REQUIRE(launched);
    for (;;) {
      const auto report = launched->report();
      REQUIRE(report);
      if (report->empty()) break;
      if (report->starts_with("{\"event\":\"ready\"")) REQUIRE(launched->order("go"));
    }
    CHECK(launched->wait() == code);
    const pid_t origin = child_called("agentrt-origin");
    REQUIRE(origin > 0);
    REQUIRE(::kill(origin, SIGKILL) == 0);
  }
}

TEST_CASE("signals of a terminal do not end an origin, and its copies hear them") {
  Origin origin(launcher_program());
  CHECK(run(origin, plain_spec({"/bin/true"})) == 0);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) REQUIRE(::kill(origin.pid(), signal) == 0);
  const pid_t first = origin.pid();
  CHECK(run(origin, plain_spec({"/bin/sh", "-c", "kill -TERM $$"})) == 128 + SIGTERM);
  CHECK(origin.pid() == first);
}

TEST_CASE("a command that ends at once in a place of its own is said to have started") {
  Origin origin(launcher_program());
  launcher::Spec spec = plain_spec({"/bin/true"});
  spec.wanted = bit(launcher::Layer::user_namespace) | bit(launcher::Layer::pid_namespace);
  for (int i = 0; i < 100; ++i) {
    const Ended ended = end_of(origin, spec);
    REQUIRE(ended.code == 0);
    REQUIRE(ended.started);
  }
}

TEST_CASE(
    "every command has a network of its own, which under root is made before it is asked for") {
  Origin origin(launcher_program());
  const std::string host = space_at("/proc/self/ns/net");
  const auto network_of_command = [&](launcher::Network network) {
    launcher::Spec spec = plain_spec({"/usr/bin/readlink", "-n", "/proc/self/ns/net"});
    spec.wanted = bit(launcher::Layer::network_namespace);
    if (::geteuid() != 0) spec.wanted |= bit(launcher::Layer::user_namespace);
    spec.network = network;
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const Descriptor read(ends[0]), write(ends[1]);
    REQUIRE(end_of(origin, spec, write.get()).code == 0);
    std::array<char, 64> name{};
    const ssize_t size = ::read(read.get(), name.data(), name.size());
    REQUIRE(size > 0);
    return std::string(name.data(), static_cast<std::size_t>(size));
  };
  std::vector<HeldNetwork> before;
  for (int i = 0; i < 5; ++i) {
    if (i > 0) origin.get_ready();
    HeldNetwork next;
    if (i > 0 && ::geteuid() == 0) next = next_network_of(origin, host);
    const std::string found = network_of_command(launcher::Network::loopback);
    CHECK(found != host);
    CHECK(std::ranges::find(before, found, &HeldNetwork::name) == before.end());
    if (next.held) {
      CHECK(found == next.name);
      before.push_back(std::move(next));
    }
    CHECK(network_of_command(launcher::Network::host) == host);
  }
}

TEST_CASE("System V memory and the host name are a command's own, made before or with it") {
  Origin origin(launcher_program());
  launcher::Spec spec =
      plain_spec({"/bin/sh", "-c", "readlink /proc/self/ns/ipc /proc/self/ns/uts"});
  spec.wanted = bit(launcher::Layer::ipc_namespace);
  if (::geteuid() != 0) spec.wanted |= bit(launcher::Layer::user_namespace);
  for (const bool ready : {false, true, false}) {
    if (ready) origin.get_ready();
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const Descriptor read(ends[0]), write(ends[1]);
    REQUIRE(end_of(origin, spec, write.get()).code == 0);
    std::array<char, 128> names{};
    REQUIRE(::read(read.get(), names.data(), names.size()) > 0);
    const std::string_view found(names.data());
    CHECK(found.starts_with("ipc:"));
    CHECK(found.contains("uts:"));
    for (const char* kind : {"ipc", "uts"})
      CHECK_FALSE(found.contains(space_at(std::string("/proc/self/ns/") + kind)));
  }
  // A copy created in its own user namespace cannot enter namespaces made outside it.
  spec.wanted |= bit(launcher::Layer::user_namespace);
  origin.get_ready();
  CHECK(run(origin, spec) == 0);
}

TEST_CASE("a program that is none cannot be an origin") {
  Origin origin("no program");
  const auto made = origin.copy({}, {});
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Code::unavailable);
  CHECK(made.error().message.starts_with("The launcher cannot be started: "));
}

}  // namespace agentrt::adapters
