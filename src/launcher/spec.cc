#include "launcher/spec.h"

#include <charconv>

namespace agentrt::launcher {
namespace {

constexpr std::string_view kNames[kLayers] = {"userNamespace",    "mountNamespace", "pidNamespace",
                                              "networkNamespace", "ipcNamespace",   "landlock",
                                              "seccomp",          "notify",         "capabilities",
                                              "limits",           "cgroup",         "identity"};

// Encodes each value as NAME NUL VALUE NUL, numbers in decimal. The last name is "end".
struct Writer {
  std::string out;

  void text(std::string_view name, std::string_view value) {
    out.append(name).push_back('\0');
    out.append(value).push_back('\0');
  }
  void texts(std::string_view name, const std::vector<std::string>& values) {
    for (const std::string& value : values) text(name, value);
  }
  template <class T>
  void number(std::string_view name, T value) {
    text(name, std::to_string(static_cast<std::uint64_t>(value)));
  }
};

struct Reader {
  std::string_view name, value;
  bool sound = true;

  bool text(std::string_view is, std::string& out) {
    if (name != is) return false;
    out = value;
    return true;
  }
  bool texts(std::string_view is, std::vector<std::string>& out) {
    if (name != is) return false;
    out.emplace_back(value);
    return true;
  }
  template <class T>
  bool number(std::string_view is, T& out) {
    if (name != is) return false;
    std::uint64_t read = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), read);
    sound = sound && error == std::errc{} && end == value.data() + value.size();
    out = static_cast<T>(read);
    return true;
  }
};

// Visits every member with its name; encode and decode share this list.
template <class Texts, class Text, class Number, class S>
void each_member(S& spec, Texts texts, Text text, Number number) {
  texts("argv", spec.argv);
  texts("env", spec.env);
  text("cwd", spec.cwd);
  number("mode", spec.mode);
  number("network", spec.network);
  texts("root", spec.roots);
  texts("protect", spec.protect);
  texts("guarded", spec.guarded);
  texts("written", spec.written);
  texts("hide", spec.hide);
  texts("frozen", spec.frozen);
  texts("heldSize", spec.held_sizes);
  texts("heldFile", spec.held_files);
  texts("heldPath", spec.held_paths);
  texts("heldFolder", spec.held_folders);
  texts("heldLink", spec.held_links);
  texts("heldTarget", spec.held_targets);
  text("cwdIdentity", spec.cwd_identity);
  text("runFolder", spec.run_folder);
  number("tty", spec.tty);
  number("noInput", spec.no_input);
  number("givenInput", spec.given_input);
  number("survive", spec.survive);
  number("nice", spec.nice);
  number("apart", spec.apart);
  number("watchWrites", spec.watch_writes);
  number("rows", spec.rows);
  number("columns", spec.columns);
  number("spoolBytes", spec.spool_bytes);
  number("processes", spec.processes);
  number("openFiles", spec.open_files);
  number("fileBytes", spec.file_bytes);
  number("addressBytes", spec.address_bytes);
  number("tmpBytes", spec.tmp_bytes);
  number("memoryBytes", spec.memory_bytes);
  texts("cgroup", spec.cgroups);
  number("wanted", spec.wanted);
  number("required", spec.required);
}

std::string_view take(std::string_view& bytes) {
  const std::size_t end = bytes.find('\0');
  const std::string_view part = bytes.substr(0, end);
  bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
  return part;
}

}  // namespace

std::string_view name_of(Layer layer) { return kNames[static_cast<std::size_t>(layer)]; }

std::string encode(const Spec& spec) {
  Writer writer;
  each_member(
      spec, [&](auto name, const auto& value) { writer.texts(name, value); },
      [&](auto name, const auto& value) { writer.text(name, value); },
      [&](auto name, const auto& value) { writer.number(name, value); });
  writer.text("end", "");
  return std::move(writer.out);
}

bool decode(std::string_view bytes, Spec& spec) {
  spec = {};
  if (!bytes.ends_with(std::string_view("\0end\0\0", 6))) return false;
  while (!bytes.empty()) {
    Reader reader;
    reader.name = take(bytes);
    reader.value = take(bytes);
    if (reader.name == "end") return bytes.empty() && !spec.argv.empty();
    bool known = false;
    each_member(
        spec, [&](auto name, auto& value) { known |= reader.texts(name, value); },
        [&](auto name, auto& value) { known |= reader.text(name, value); },
        [&](auto name, auto& value) { known |= reader.number(name, value); });
    if (!known || !reader.sound) return false;
  }
  return false;
}

}  // namespace agentrt::launcher
