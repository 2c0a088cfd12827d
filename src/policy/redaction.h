// policy/redaction.h: replaces secret values by [redacted:NAME] before data is stored.
//
// A Redactor knows the secret values and their encoded forms: JSON-escaped, and base64 in both
// alphabets at every alignment. It handles text and bytes (redact), JSON, where only strings are
// searched (redact_json), and bytes that arrive in pieces (RedactingStream), with the same result
// as redact() on the whole.
//
// Overlapping occurrences are replaced together, under the name of the first. Without secrets every
// call returns at once. A Redactor may be shared between threads, also while secrets are added. A
// RedactingStream belongs to one thread, and replaces the secrets that were known when it was
// made.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/snapshot.h"

namespace agentrt::policy {

struct Secret {
  std::string name;
  std::string value;
  bool passing = false;
};

// Shorter values are too likely to occur in ordinary text, so they are not redacted.
inline constexpr std::size_t kSecretBytesMin = 8;
inline constexpr std::size_t kPassingSecretsMax = 1'000;

// Searches for many patterns at once without reading every byte. Each pattern has at least
// kSecretBytesMin bytes.
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
  // All occurrences in order; overlapping ones are merged.
  std::vector<Match> find(std::string_view text) const;
  // The length of the longest suffix of `text` that is a proper prefix of a pattern.
  std::size_t open_end(std::string_view text) const;

 private:
  struct Pattern {
    std::string text;
    std::size_t secret = 0;
  };
  static constexpr std::size_t kSlots = 4'096;

  static std::size_t slot_of(const char* pair);
  // The first occurrence that begins at `from` or later; if several begin there, the longest.
  std::optional<Match> next(std::string_view text, std::size_t from) const;

  std::vector<Pattern> patterns_;
  std::size_t size_max_ = 0;
  std::array<bool, 256> begins_{};  // indexed by byte: whether a pattern begins with it
  // Indexed by the hash of the last two bytes of the search window: how far the window may move; 0:
  // compare the patterns of this slot.
  std::array<std::uint8_t, kSlots> shift_{};
  std::vector<std::vector<std::uint16_t>> at_;  // the patterns of each slot
};

class Redactor {
 public:
  Redactor() = default;
  // Ignores values shorter than kSecretBytesMin. Strips line ends from the end of each value.
  explicit Redactor(std::vector<Secret> secrets) { add(std::move(secrets)); }

  // Adds secrets; those that are known already are ignored.
  void add(std::vector<Secret> secrets);
  // Adds a secret of limited life, such as a token that is renewed often. Of these the newest
  // kPassingSecretsMax are known.
  void add_passing(Secret secret);

  bool empty() const { return known_.load()->plain.empty(); }
  // Whether plain text contains a secret.
  bool holds(std::string_view text) const { return known_.load()->plain.any(text); }

  // nullopt: there is nothing to replace.
  std::optional<std::string> redact(std::string_view text) const;
  // The same for one JSON value. `keep` (may be empty) is called with the index, from 0, of each
  // string that contains a secret; true keeps that string unchanged. Member names that consist only
  // of letters are never changed.
  using KeepString = std::function<bool(std::size_t)>;
  std::optional<std::string> redact_json(std::string_view json, const KeepString& keep = {}) const;

 private:
  friend class RedactingStream;
  struct Known {
    std::vector<Secret> secrets;
    Patterns plain;    // forms that occur in plain text
    Patterns escaped;  // forms that occur in JSON

    void add(Secret secret);
    std::string mark(std::size_t secret) const;
    std::optional<std::string> redact(std::string_view text) const;
    // A cheap test. False: the JSON certainly contains no secret.
    bool suspicious(std::string_view json) const;
  };

  Snapshot<Known> known_;
};

// Redacts a stream of bytes. A possible beginning of a secret is held back until the next piece; at
// most the length of the longest form is held.
class RedactingStream {
 public:
  // Null: all bytes pass unchanged.
  explicit RedactingStream(const Redactor* redactor)
      : known_(redactor ? redactor->known_.load() : nullptr) {}

  // Appends to `out` the bytes that are certain after this piece.
  void put(std::string_view bytes, std::string& out);
  // Appends the rest and resets the stream.
  void finish(std::string& out);
  // How many bytes are held back.
  std::size_t held() const { return held_.size(); }
  // The names of the secrets that were replaced, each once.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void emit(std::string_view text, std::size_t until, std::string& out);

  std::shared_ptr<const Redactor::Known> known_;
  std::string held_;
  std::size_t covered_ = 0;  // bytes of held_ that were already replaced with the preceding ones
  std::vector<std::string> names_;
};

}  // namespace agentrt::policy
