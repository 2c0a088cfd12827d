// policy/redaction.h: values of secrets are replaced by [redacted:NAME] before anything is stored.
//
// A Redactor knows the values, and for each the other forms in which it turns up: JSON-escaped, and
// base64 in both alphabets at every alignment. It looks at text and bytes (redact), at JSON, where
// only what stands within strings counts (redact_json), and at bytes that come in pieces
// (RedactingStream), which gives exactly what redact() gives of the whole.
//
// Occurrences that overlap are replaced together, under the name of the first. Without secrets
// every call returns at once. PURE; a Redactor never changes and may be shared by threads, a stream
// may not.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentrt::policy {

struct Secret {
  std::string name;
  std::string value;
};

// A shorter value is too likely to be a word of its own; it is not taken for a secret.
inline constexpr std::size_t kSecretBytesMin = 8;

// Finds any of many texts, each at least kSecretBytesMin long, looking at a fraction of the bytes.
class Patterns {
 public:
  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t secret = 0;
  };

  void add(std::string text, std::size_t secret);
  bool empty() const { return patterns_.empty(); }
  std::size_t size_max() const { return size_max_; }

  bool any(std::string_view text) const;
  // All occurrences in order, those that overlap joined into one.
  std::vector<Match> find(std::string_view text) const;
  // The length of the longest end of `text` that is the beginning of a pattern, and not all of it.
  std::size_t open_end(std::string_view text) const;

 private:
  struct Pattern {
    std::string text;
    std::size_t secret = 0;
  };
  static constexpr std::size_t kSlots = 4'096;

  static std::size_t slot_of(const char* pair);
  // The first occurrence that begins at `from` or later; the longest of those that begin there.
  std::optional<Match> next(std::string_view text, std::size_t from) const;

  std::vector<Pattern> patterns_;
  std::size_t size_max_ = 0;
  std::array<bool, 256> begins_{};  // by byte: a pattern begins with it
  // How far the search may go on when the last two bytes of its window are in this slot; 0: look.
  std::array<std::uint8_t, kSlots> shift_{};
  std::vector<std::vector<std::uint16_t>> at_;  // by slot, the patterns to look for
};

class Redactor {
 public:
  Redactor() = default;
  // Values shorter than kSecretBytesMin are left out; line ends after a value are not part of it.
  explicit Redactor(std::vector<Secret> secrets);

  bool empty() const { return plain_.empty(); }
  bool holds(std::string_view text) const { return plain_.any(text); }

  // Nothing when there is nothing to replace.
  std::optional<std::string> redact(std::string_view text) const;
  // The same for one JSON value. `keep` (may be empty) is asked about each string in which a secret
  // stands, by number from 0, and leaves it alone by saying true. Members' names that are made of
  // letters only are words of ours and stay.
  using KeepString = std::function<bool(std::size_t)>;
  std::optional<std::string> redact_json(std::string_view json, const KeepString& keep = {}) const;

 private:
  friend class RedactingStream;
  std::string mark(std::size_t secret) const;
  // Whether a secret may stand in it: cheap, and never wrong when it says no.
  bool suspicious(std::string_view json) const;

  std::vector<Secret> secrets_;
  Patterns plain_;    // as they stand in text
  Patterns escaped_;  // as they stand in JSON
};

// Bytes in pieces. What could be the beginning of a secret is held back until the next piece tells;
// at most the length of the longest form is held.
class RedactingStream {
 public:
  // Without a redactor everything passes as it is.
  explicit RedactingStream(const Redactor* redactor) : redactor_(redactor) {}

  // Appends to `out` what can be told of the bytes so far.
  void put(std::string_view bytes, std::string& out);
  // Appends the rest; the stream is as new.
  void finish(std::string& out);
  // How many bytes are held back.
  std::size_t held() const { return held_.size(); }
  // The names of the secrets that were replaced, each once.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void emit(std::string_view text, std::size_t until, std::string& out);

  const Redactor* redactor_;
  std::string held_;
  std::size_t covered_ = 0;  // of held_: replaced already, together with what went before
  std::vector<std::string> names_;
};

}  // namespace agentrt::policy
