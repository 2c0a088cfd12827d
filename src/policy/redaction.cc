#include "policy/redaction.h"

#include <algorithm>
#include <cstring>

#include "schema/json.h"

namespace agentrt::policy {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kWindow = kSecretBytesMin;  // size of the search window

// The base64 characters that depend only on `value` if `before` bytes precede it.
std::string base64_core(std::string_view value, std::size_t before) {
  std::string out;
  const std::size_t first = (8 * before + 5) / 6;
  const std::size_t last = 8 * (before + value.size()) / 6;
  for (std::size_t i = first; i < last; ++i) {
    unsigned bits = 0;
    for (std::size_t bit = 6 * i; bit < 6 * i + 6; ++bit) {
      const auto byte = static_cast<unsigned char>(value[bit / 8 - before]);
      bits = bits << 1 | (byte >> (7 - bit % 8) & 1u);
    }
    out += kBase64[bits];
  }
  return out;
}

std::string url_alphabet(std::string text) {
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

std::string json_inside(std::string_view text) {
  std::string out;
  schema::write_string(out, text);
  return out.substr(1, out.size() - 2);
}

std::vector<std::string> forms_of(const std::string& value) {
  std::vector<std::string> forms{value, json_inside(value)};
  for (std::size_t before = 0; before < 3; ++before) {
    forms.push_back(base64_core(value, before));
    forms.push_back(url_alphabet(forms.back()));
  }
  std::ranges::sort(forms);
  forms.erase(std::ranges::unique(forms).begin(), forms.end());
  return forms;
}

// The position of the closing quote of the string whose content begins at `from`.
std::size_t string_end(std::string_view json, std::size_t from) {
  while (from < json.size() && json[from] != '"') from += json[from] == '\\' ? 2 : 1;
  return std::min(from, json.size());
}

bool letters_only(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
}

}  // namespace

// --- patterns ---

std::size_t Patterns::slot_of(const char* pair) {
  const auto first = static_cast<unsigned char>(pair[0]);
  const auto second = static_cast<unsigned char>(pair[1]);
  return (static_cast<std::size_t>(first) << 4 ^ second) % kSlots;
}

void Patterns::add(std::string text, std::size_t secret) {
  if (text.size() < kWindow) return;  // a non-text value, written as text
  if (patterns_.empty()) {
    shift_.fill(kWindow - 1);
    at_.resize(kSlots);
  }
  for (std::size_t i = 0; i + 1 < kWindow; ++i) {
    std::uint8_t& shift = shift_[slot_of(text.data() + i)];
    shift = std::min(shift, static_cast<std::uint8_t>(kWindow - 2 - i));
  }
  at_[slot_of(text.data() + kWindow - 2)].push_back(static_cast<std::uint16_t>(patterns_.size()));
  size_max_ = std::max(size_max_, text.size());
  begins_[static_cast<unsigned char>(text[0])] = true;
  patterns_.push_back({std::move(text), secret});
}

std::optional<Patterns::Match> Patterns::next(std::string_view text, std::size_t from) const {
  if (patterns_.empty()) return std::nullopt;
  while (from + kWindow <= text.size()) {
    const std::size_t slot = slot_of(text.data() + from + kWindow - 2);
    if (const std::uint8_t shift = shift_[slot]; shift > 0) {
      from += shift;
      continue;
    }
    const Pattern* longest = nullptr;
    for (const std::uint16_t index : at_[slot]) {
      const Pattern& pattern = patterns_[index];
      if (text.substr(from).starts_with(pattern.text) &&
          (!longest || pattern.text.size() > longest->text.size()))
        longest = &pattern;
    }
    if (longest) return Match{from, from + longest->text.size(), longest->secret};
    ++from;
  }
  return std::nullopt;
}

bool Patterns::any(std::string_view text) const { return next(text, 0).has_value(); }

std::vector<Patterns::Match> Patterns::find(std::string_view text) const {
  std::vector<Match> found;
  for (auto match = next(text, 0); match; match = next(text, match->begin + 1)) {
    if (!found.empty() && match->begin < found.back().end)
      found.back().end = std::max(found.back().end, match->end);
    else
      found.push_back(*match);
  }
  return found;
}

std::size_t Patterns::open_end(std::string_view text) const {
  if (patterns_.empty()) return 0;
  for (std::size_t size = std::min(size_max_ - 1, text.size()); size > 0; --size) {
    const std::string_view end = text.substr(text.size() - size);
    if (!begins_[static_cast<unsigned char>(end[0])]) continue;
    for (const Pattern& pattern : patterns_)
      if (pattern.text.size() > size && pattern.text.starts_with(end)) return size;
  }
  return 0;
}

// --- the redactor ---

void Redactor::add(std::vector<Secret> secrets) {
  if (secrets.empty()) return;
  known_.update([&](Known known) {
    for (Secret& secret : secrets) known.add(std::move(secret));
    return known;
  });
}

void Redactor::add_passing(Secret secret) {
  secret.passing = true;
  known_.update([&](Known known) {
    known.add(std::move(secret));
    const auto passing = std::ranges::count_if(known.secrets, &Secret::passing);
    if (static_cast<std::size_t>(passing) <= kPassingSecretsMax) return known;
    known.secrets.erase(std::ranges::find_if(known.secrets, &Secret::passing));
    Known rebuilt;
    for (Secret& each : known.secrets) rebuilt.add(std::move(each));
    return rebuilt;
  });
}

void Redactor::Known::add(Secret secret) {
  while (secret.value.ends_with('\n') || secret.value.ends_with('\r')) secret.value.pop_back();
  const bool known = std::ranges::find(secrets, secret.value, &Secret::value) != secrets.end();
  if (secret.value.size() < kSecretBytesMin || known) return;
  for (const std::string& form : forms_of(secret.value)) {
    plain.add(form, secrets.size());
    escaped.add(json_inside(form), secrets.size());
  }
  secrets.push_back(std::move(secret));
}

std::string Redactor::Known::mark(std::size_t secret) const {
  return "[redacted:" + secrets[secret].name + "]";
}

std::optional<std::string> Redactor::redact(std::string_view text) const {
  return known_.load()->redact(text);
}

std::optional<std::string> Redactor::Known::redact(std::string_view text) const {
  const std::vector<Patterns::Match> found = plain.find(text);
  if (found.empty()) return std::nullopt;
  std::string out;
  std::size_t at = 0;
  for (const Patterns::Match& match : found) {
    out += text.substr(at, match.begin - at);
    out += mark(match.secret);
    at = match.end;
  }
  out += text.substr(at);
  return out;
}

bool Redactor::Known::suspicious(std::string_view json) const {
  if (escaped.any(json)) return true;
  // Foreign JSON may escape any character as \u… and the slash as \/; our writer never does.
  const char* at = json.data();
  const char* const end = at + json.size();
  while (at < end) {
    at = static_cast<const char*>(std::memchr(at, '\\', static_cast<std::size_t>(end - at)));
    if (!at || at + 1 >= end) return false;
    if (at[1] == 'u' || at[1] == '/') return true;
    at += 2;
  }
  return false;
}

std::optional<std::string> Redactor::redact_json(std::string_view json,
                                                 const KeepString& keep) const {
  const std::shared_ptr<const Known> known = known_.load();
  if (known->plain.empty() || !known->suspicious(json)) return std::nullopt;
  std::string out;
  std::size_t copied = 0;
  std::size_t hits = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (json[i] != '"') continue;
    const std::size_t end = string_end(json, i + 1);
    const std::string_view inside = json.substr(i + 1, end - i - 1);
    const std::size_t after = json.find_first_not_of(" \t\r\n", end + 1);
    const bool name = after != std::string_view::npos && json[after] == ':';
    if (inside.size() >= kSecretBytesMin && !(name && letters_only(inside))) {
      const auto redacted = known->redact(schema::unescaped(inside));
      if (redacted && !(keep && keep(hits++))) {
        out += json.substr(copied, i - copied);
        schema::write_string(out, *redacted);
        copied = end + 1;
      }
    }
    i = end;
  }
  if (copied == 0) return std::nullopt;
  out += json.substr(copied);
  return out;
}

// --- streams ---

// Emits text[0, until). Every match that begins there is completely known.
void RedactingStream::emit(std::string_view text, std::size_t until, std::string& out) {
  std::size_t at = covered_;
  for (const Patterns::Match& match : known_->plain.find(text)) {
    if (match.begin >= until) break;
    if (match.begin >= at) {
      out += text.substr(at, match.begin - at);
      out += known_->mark(match.secret);
    }
    const std::string& name = known_->secrets[match.secret].name;
    if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
    at = std::max(at, match.end);
  }
  if (at < until) out += text.substr(at, until - at);
  covered_ = at > until ? at - until : 0;
}

void RedactingStream::put(std::string_view bytes, std::string& out) {
  if (!known_ || known_->plain.empty()) {
    out += bytes;
    return;
  }
  held_ += bytes;
  const std::size_t until = held_.size() - known_->plain.open_end(held_);
  emit(held_, until, out);
  held_.erase(0, until);
}

void RedactingStream::finish(std::string& out) {
  if (!held_.empty()) emit(held_, held_.size(), out);
  held_.clear();
  covered_ = 0;
}

}  // namespace agentrt::policy
