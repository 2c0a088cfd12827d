// adapters/models/wires/json_text.h: a writer for JSON with a provider's member names.
//
// It inserts commas automatically. The caller must match brackets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "schema/json.h"

namespace agentrt::adapters {

class JsonText {
 public:
  JsonText& open(char bracket) {
    separate();
    text_ += bracket;
    fresh_ = true;
    return *this;
  }
  JsonText& close(char bracket) {
    text_ += bracket;
    fresh_ = false;
    return *this;
  }
  JsonText& key(std::string_view name) {
    separate();
    schema::write_string(text_, name);
    text_ += ':';
    fresh_ = true;
    return *this;
  }
  JsonText& string(std::string_view value) {
    separate();
    schema::write_string(text_, value);
    return *this;
  }
  JsonText& number(std::uint64_t value) {
    separate();
    schema::write_number(text_, value);
    return *this;
  }
  // Appends a complete JSON value.
  JsonText& raw(std::string_view json) {
    separate();
    text_ += json;
    return *this;
  }
  // "name": "value"
  JsonText& member(std::string_view name, std::string_view value) {
    return key(name).string(value);
  }

  std::string take() { return std::move(text_); }

 private:
  void separate() {
    if (!fresh_) text_ += ',';
    fresh_ = false;
  }

  std::string text_;
  bool fresh_ = true;  // the next value needs no comma before it
};

}  // namespace agentrt::adapters
