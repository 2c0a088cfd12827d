// tests/sandbox/probe.cc: runs the launcher as the runtime does, but with selected layers disabled.
//
// For tests only: the product cannot disable a layer. Reports are appended to a file, one per line.
// Orders are read line by line from standard input, or the gate is opened at once.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "adapters/process/launch.h"
#include "adapters/process/sandbox.h"
#include "base/real_path.h"
#include "policy/sandbox_profile.h"

namespace agentrt {
namespace {

struct Wish {
  policy::SandboxInputs inputs;
  std::map<std::string, std::string> options;
  std::vector<std::string> protect;
  std::vector<std::string> command;

  bool has(const char* name) const { return options.contains(name); }
  std::string text(const char* name) const { return has(name) ? options.at(name) : ""; }
  std::uint64_t number(const char* name, std::uint64_t otherwise) const {
    return has(name) ? std::strtoull(options.at(name).c_str(), nullptr, 10) : otherwise;
  }
};

Wish wish_of(int count, char** words) {
  Wish wish;
  int at = 1;
  for (; at + 1 < count && std::string(words[at]) != "--"; at += 2) {
    const std::string name = words[at], value = words[at + 1];
    if (name == "--root")
      wish.inputs.roots.push_back(real_path(value));
    else if (name == "--root-as-it-is")
      wish.inputs.roots.push_back(value);
    else if (name == "--own")
      wish.inputs.own_paths.push_back(value);
    else if (name == "--hide")
      wish.inputs.denied.push_back(value);
    else if (name == "--protect")
      wish.protect.push_back(value);
    else if (name == "--home")
      wish.inputs.home = value;
    else
      wish.options[name] = value;
  }
  for (++at; at < count; ++at) wish.command.emplace_back(words[at]);
  if (!wish.inputs.roots.empty()) wish.inputs.cwd = wish.inputs.roots.front();
  for (const char* name : {"PATH", "HOME", "LANG"})
    if (const char* value = std::getenv(name)) wish.inputs.environment[name] = value;
  return wish;
}

launcher::Layers layers_in(const std::string& list) {
  launcher::Layers out = 0;
  std::istringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    bool known = false;
    for (std::size_t i = 0; i < launcher::kLayers; ++i)
      if (const auto layer = static_cast<launcher::Layer>(i); launcher::name_of(layer) == name) {
        out |= launcher::bit(layer);
        known = true;
      }
    if (!known) std::exit((std::cerr << "no layer is called " << name << "\n", 2));
  }
  return out;
}

launcher::Spec spec_of(const Wish& wish) {
  schema::SandboxProfile profile = policy::sandbox_profile(wish.inputs);
  if (wish.has("--mode")) profile.mode = *schema::enum_of<schema::SandboxMode>(wish.text("--mode"));
  if (wish.text("--network") == "host") profile.network = schema::CommandNetwork::host;
  profile.protected_paths.insert(profile.protected_paths.end(), wish.protect.begin(),
                                 wish.protect.end());
  launcher::Spec spec = adapters::spec_of(profile, wish.command);
  if (wish.has("--cwd")) spec.cwd = wish.text("--cwd");
  if (wish.text("--network") == "none") spec.network = launcher::Network::none;
  if (wish.has("--without")) {
    const launcher::Layers without = layers_in(wish.text("--without"));
    spec.wanted &= ~without;
    spec.required &= ~without;
  }
  if (wish.has("--require")) spec.required |= layers_in(wish.text("--require"));
  spec.run_folder = wish.text("--run");
  spec.tty = wish.has("--tty");
  spec.survive = wish.has("--survive");
  spec.watch_writes = wish.has("--watch");
  spec.memory_bytes = wish.number("--memory", spec.memory_bytes);
  spec.processes = wish.number("--processes", spec.processes);
  spec.open_files = wish.number("--files", spec.open_files);
  spec.tmp_bytes = wish.number("--tmp", spec.tmp_bytes);
  spec.file_bytes = wish.number("--file-bytes", spec.file_bytes);
  spec.spool_bytes = wish.number("--spool", spec.spool_bytes);
  return spec;
}

// Forwards lines of standard input as orders, until there are no more.
void pass_orders(const adapters::Launched& launched, bool& more) {
  std::string line;
  if (!std::getline(std::cin, line)) {
    more = false;
    return;
  }
  (void)launched.order(line);
}

int run(const Wish& wish) {
  auto launched = adapters::launch(spec_of(wish));
  if (!launched) {
    std::cerr << launched.error().message << "\n";
    return 125;
  }
  std::cin.rdbuf()->pubsetbuf(nullptr, 0);
  std::ios::sync_with_stdio(true);
  std::ofstream reports(wish.has("--reports") ? wish.text("--reports") : "/dev/null",
                        std::ios::app);
  bool orders = wish.has("--orders");
  for (;;) {
    pollfd waits[2] = {{launched->control(), POLLIN, 0}, {orders ? 0 : -1, POLLIN, 0}};
    if (::poll(waits, 2, -1) < 0) continue;
    if (waits[1].revents != 0) pass_orders(*launched, orders);
    if (waits[0].revents == 0) continue;
    const auto report = launched->report();
    if (!report || report->empty()) break;
    reports << *report << std::endl;
    if (!wish.has("--orders") && report->starts_with("{\"event\":\"ready\""))
      (void)launched->order("go");
  }
  return launched->wait();
}

}  // namespace
}  // namespace agentrt

int main(int count, char** words) { return agentrt::run(agentrt::wish_of(count, words)); }
