// cli/acp/editor.h: the editor at the other end of standard input and output: JSON-RPC 2.0, one
// message per line. Nothing else is written to standard output. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "schema/json.h"

namespace agentrt::cli {

// The numbers of JSON-RPC and of ACP.
inline constexpr int kAcpParseError = -32700;
inline constexpr int kAcpInvalidRequest = -32600;
inline constexpr int kAcpNoMethod = -32601;
inline constexpr int kAcpInvalidParams = -32602;
inline constexpr int kAcpInternal = -32603;
inline constexpr int kAcpCancelled = -32800;
inline constexpr int kAcpNotFound = -32002;

struct EditorMessage {
  std::optional<std::string> id;  // as JSON
  std::optional<std::string> method;
  schema::Json params{"{}"};
};

class EditorWire {
 public:
  static constexpr std::size_t kLineBytesMax = std::size_t{64} << 20;  // prompts contain images
  static constexpr std::size_t kRequestsMax = 1'000;                   // of ours, open at once

  using OnMessage = std::function<void(EditorMessage message)>;
  explicit EditorWire(OnMessage on_message) : on_message_(std::move(on_message)) {}

  // Bytes of standard input. Calls `on_message` for requests and notifications.
  void feed(std::string_view bytes);

  void respond(const std::string& id, std::string_view result);
  void refuse(const std::string& id, int number, std::string_view message,
              std::string_view data = {});
  void notify(std::string_view method, std::string_view params);
  // `done` gets the result, or nullopt for an error.
  using Answered = std::move_only_function<void(std::optional<schema::Json>)>;
  std::uint64_t request(std::string_view method, std::string_view params, Answered done);
  // Withdraws a request; its answer is ignored.
  void withdraw(std::uint64_t request);
  bool gone() const { return gone_; }

 private:
  void take_line(std::string_view line);
  void write(std::string line);

  OnMessage on_message_;
  std::string input_;
  bool skipping_ = false;  // the line in progress is too long
  bool gone_ = false;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Answered> open_;
};

std::string json_text(std::string_view text);

}  // namespace agentrt::cli
