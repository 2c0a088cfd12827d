#include "cli/acp/editor.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>

#include <fmt/format.h>

#include "schema/json_loose.h"

namespace agentrt::cli {
namespace {

struct Incoming {
  std::optional<schema::Json> jsonrpc;
  std::optional<schema::Json> id;
  std::optional<std::string> method;
  std::optional<schema::Json> params;
  std::optional<schema::Json> result;
  std::optional<schema::Json> error;
};
BOOST_DESCRIBE_STRUCT(Incoming, (), (jsonrpc, id, method, params, result, error))

}  // namespace

std::string json_text(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out;
}

void EditorWire::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    bytes.remove_prefix(end == bytes.npos ? bytes.size() : end + 1);
    if (!skipping_) input_ += part;
    if (input_.size() > kLineBytesMax) {
      skipping_ = true;
      input_ = {};
      refuse("null", kAcpInvalidRequest,
             fmt::format("a message is longer than {} bytes", kLineBytesMax));
    }
    if (end == std::string_view::npos) return;
    if (!std::exchange(skipping_, false)) take_line(input_);
    input_.clear();
  }
}

void EditorWire::take_line(std::string_view line) {
  if (line.find_first_not_of(" \t\r") == line.npos) return;
  if (const auto valid = schema::check_json(line); !valid)
    return refuse("null", kAcpParseError, valid.error().message);
  Incoming message;
  schema::Met met;
  if (!schema::read_loosely(line, message, met) || !message.jsonrpc ||
      message.jsonrpc->text != R"("2.0")")
    return refuse("null", kAcpInvalidRequest, "expected one JSON-RPC 2.0 message per line");
  if (message.method) {
    EditorMessage out;
    if (message.id) out.id = message.id->text;
    out.method = std::move(message.method);
    if (message.params) out.params = *std::move(message.params);
    return on_message_(std::move(out));
  }
  if (!message.id) return;
  std::uint64_t id = 0;
  const std::string& text = message.id->text;
  std::from_chars(text.data(), text.data() + text.size(), id);
  auto found = open_.extract(id);
  if (found) found.mapped()(std::move(message.result));
}

void EditorWire::write(std::string line) {
  for (char& c : line)
    if (c == '\n' || c == '\r') c = ' ';  // only between tokens of JSON
  line += '\n';
  std::string_view rest = line;
  while (!rest.empty() && !gone_) {
    const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) gone_ = true;
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void EditorWire::respond(const std::string& id, std::string_view result) {
  write(fmt::format(R"({{"jsonrpc":"2.0","id":{},"result":{}}})", id, result));
}

void EditorWire::refuse(const std::string& id, int number, std::string_view message,
                        std::string_view data) {
  write(fmt::format(R"({{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}{}{}}}}})", id,
                    number, json_text(message), data.empty() ? "" : R"(,"data":)", data));
}

void EditorWire::notify(std::string_view method, std::string_view params) {
  write(fmt::format(R"({{"jsonrpc":"2.0","method":"{}","params":{}}})", method, params));
}

std::uint64_t EditorWire::request(std::string_view method, std::string_view params, Answered done) {
  if (open_.size() >= kRequestsMax) open_.erase(open_.begin());
  const std::uint64_t id = ++last_;
  open_.emplace(id, std::move(done));
  write(
      fmt::format(R"({{"jsonrpc":"2.0","id":{},"method":"{}","params":{}}})", id, method, params));
  return id;
}

void EditorWire::withdraw(std::uint64_t request) {
  if (open_.erase(request) == 0) return;
  notify("$/cancel_request", fmt::format(R"({{"requestId":{}}})", request));
}

}  // namespace agentrt::cli
