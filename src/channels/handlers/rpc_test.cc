#include "channels/handlers/rpc.h"

#include <doctest/doctest.h>

#include <random>

#include "channels/limits.h"

namespace agentrt::channels {

TEST_CASE("a call is read with its id as it was sent") {
  const RpcMessage message =
      read_rpc(R"( {"jsonrpc":"2.0","id":12345678901234567890123,"method":"get_session",)"
               R"("params":{"sessionId":"s"}} )");
  REQUIRE(message.calls.size() == 1);
  CHECK(message.shape == RpcMessage::Shape::single);
  CHECK(message.calls[0].id == "12345678901234567890123");
  CHECK(message.calls[0].method == "get_session");
  CHECK(message.calls[0].params == R"({"sessionId":"s"})");
  CHECK(message.calls[0].fault.empty());
}

TEST_CASE("a call without params has none, and one without an id is a notification") {
  const RpcMessage message = read_rpc(R"({"jsonrpc":"2.0","method":"list_sessions"})");
  CHECK(message.calls[0].params == "{}");
  CHECK(message.calls[0].id.empty());
  CHECK(read_rpc(R"({"jsonrpc":"2.0","id":null,"method":"x"})").calls[0].id == "null");
}

TEST_CASE("what cannot be read is answered with JSON-RPC's own numbers") {
  const auto fault = [](std::string_view text) { return read_rpc(text).calls.at(0).fault; };
  CHECK(fault("{").contains(R"("id":null,"error":{"code":-32700)"));
  CHECK(fault("").contains("-32700"));
  CHECK(fault("[]").contains("-32600"));
  CHECK(fault("7").contains("-32600"));
  CHECK(fault(R"({"id":1,"method":"x"})").contains(R"("id":1,"error":{"code":-32600)"));
  CHECK(fault(R"({"jsonrpc":"1.0","id":1,"method":"x"})").contains("-32600"));
  CHECK(fault(R"({"jsonrpc":"2.0","id":{},"method":"x"})").contains(R"("id":null,"error")"));
  CHECK(fault(R"({"jsonrpc":"2.0","id":1,"method":7})").contains("-32600"));
  CHECK(fault(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})").contains("-32602"));
  CHECK(fault(R"({"jsonrpc":"2.0","id":1,"method":"x","params":[]})")
            .contains(R"("data":{"code":"invalid_params"})"));
}

TEST_CASE("a call that has a member twice is refused, alone and in a batch") {
  for (const char* text :
       {R"({"jsonrpc":"2.0","id":1,"method":"list_sessions","method":"create_session"})",
        R"({"jsonrpc":"2.0","id":1,"id":2,"method":"x"})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","params":{},"params":{}})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","\u006dethod":"y"})",
        R"({"jsonrpc":"2.0","id":1,"method":"x","other":1,"other":2})"}) {
    const std::string fault = read_rpc(text).calls.at(0).fault;
    CHECK_MESSAGE(fault.contains("-32600"), text);
    CHECK_MESSAGE(fault.contains("given twice"), text);
    const RpcMessage batch =
        read_rpc(std::string(R"([{"jsonrpc":"2.0","id":1,"method":"a"},)") + text + "]");
    CHECK(batch.calls.at(0).fault.empty());
    CHECK(batch.calls.at(1).fault.contains("given twice"));
  }
  CHECK(read_rpc(R"({"jsonrpc":"2.0","id":1,"method":"x","other":1})").calls.at(0).fault.empty());
}

TEST_CASE("a batch is read call by call, up to its limit") {
  const RpcMessage message = read_rpc(R"([{"jsonrpc":"2.0","id":1,"method":"a"},3,)"
                                      R"({"jsonrpc":"2.0","method":"b"}])");
  CHECK(message.shape == RpcMessage::Shape::batch);
  REQUIRE(message.calls.size() == 3);
  CHECK(message.calls[0].method == "a");
  CHECK(message.calls[1].fault.contains("-32600"));
  CHECK(message.calls[2].id.empty());
  std::string many = "[1";
  for (std::size_t i = 1; i < kRpcBatchMax; ++i) many += ",1";
  CHECK(read_rpc(many + "]").calls.size() == kRpcBatchMax);
  CHECK(read_rpc(many + ",1]").calls.size() == 1);
  CHECK(read_rpc(many + ",1]").calls[0].fault.contains("limit_exceeded"));
}

TEST_CASE("damaged texts end in calls with a method, or with a fault") {
  const std::string whole =
      R"([{"jsonrpc":"2.0","id":1,"method":"a","params":{"b":[1,"\u00e4"]}},{"jsonrpc":"2.0",)"
      R"("id":"q","result":{"decision":"allow"}},{"jsonrpc":"2.0","method":"c"}])";
  std::mt19937 random(7);
  for (int round = 0; round < 5'000; ++round) {
    std::string text = whole;
    for (int i = 0; i < 3; ++i) text[random() % text.size()] = static_cast<char>(random());
    if (round % 3 == 0) text.resize(random() % text.size());
    const RpcMessage message = read_rpc(text);
    REQUIRE_FALSE(message.calls.empty());
    for (const RpcCall& call : message.calls) REQUIRE(call.fault.empty() != call.method.empty());
    (void)read_rpc_response(text);
  }
}

TEST_CASE("replies are joined in order, and what is not sent leaves no trace") {
  using enum RpcMessage::Shape;
  CHECK(join_replies(single, {"{}"}) == "{}");
  CHECK(join_replies(single, {""}).empty());
  CHECK(join_replies(batch, {"1", "", "2"}) == "[1,2]");
  CHECK(join_replies(batch, {"", ""}).empty());
}

TEST_CASE("an error carries the protocol's code and details beside the number") {
  CHECK(rpc_error("7", {Code::conflict, "no", R"({"state":"done"})"}) ==
        R"({"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no",)"
        R"("data":{"code":"conflict","details":{"state":"done"}}}})");
  CHECK(rpc_error("7", {Code::invalid_params, "no", {}}).contains("-32602"));
}

}  // namespace agentrt::channels
