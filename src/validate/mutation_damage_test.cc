// validate/mutation_damage_test.cc: mutates a stream, and conceals the mutation.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "schema/catalogue.h"
#include "validate/testing/mutation.h"

namespace agentrt::validate {
namespace {

constexpr std::size_t kCutMax = 12;        // facts removed at once
constexpr const char* kWrong = "wrongly";  // not in any closed list

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", text); }

// Id members, most specific first: the first one present names the fact's object.
constexpr std::string_view kOwners[] = {
    "processId", "actionId",   "toolCallId", "modelRequestId", "stepId",   "jobItemId",
    "jobId",     "subagentId", "channelId",  "artifactId",     "turnId",   "taskId",
    "threadId",  "evidenceId", "attemptId",  "runId",          "sessionId"};

bool begins_with_family(const Fact& fact, std::string_view family) {
  return fact.type().starts_with(family);
}

// The id of the object that a fact is about: the most specific one it names.
std::string owner_of(const Fact& fact) {
  if (begins_with_family(fact, "task.")) return fact.id("taskId");
  if (begins_with_family(fact, "turn.") || begins_with_family(fact, "queue."))
    return fact.id("turnId");
  for (const std::string_view name : kOwners)
    if (const std::string id = fact.id(name); !id.empty()) return id;
  return "";
}

bool mentions(const Fact& fact, std::string_view id) {
  return std::ranges::any_of(kOwners, [&](std::string_view name) { return fact.id(name) == id; });
}

bool together(const Fact& a, const Fact& b) {
  return mentions(a, owner_of(b)) || mentions(b, owner_of(a));
}

// Types that use such a member with an open list of words.
bool has_open_list(std::string_view type) {
  return type == "artifact.changed" || type == "policy.changed" || type == "channel.message" ||
         type == "task.profile.resolved" || type == "task.dependency.updated";
}

// Closed lists of words, by member.
const std::map<std::string, std::vector<std::string>, std::less<>>& words() {
  static const std::map<std::string, std::vector<std::string>, std::less<>> kWords{
      {"status", {"accepted", "queued", "running", "blocked", "completed", "failed", "cancelled"}},
      {"change", {"added", "removed", "promoted", "started", "cleared"}},
      {"kind", {"agent_message", "reasoning", "command", "file_change"}},
      {"decision", {"allow", "deny", "ask", "unavailable"}},
      {"point", {"pre_tool_use", "post_tool_use", "permission_request", "stop"}},
      {"onFailure", {"closed", "open"}},
      {"stream", {"stdout", "stderr", "pty"}},
      {"stopReason", {"end_turn", "max_tokens", "tool_use"}},
      {"visibility", {"internal", "foreground", "hidden"}},
      {"peerRole", {"client", "host", "worker"}},
  };
  return kWords;
}

bool drop(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t at = below(random, stream.size() - 1);  // dropping the last fact is harmless
  out.types = {stream[at].type()};
  out.facts.erase(out.facts.begin() + static_cast<std::ptrdiff_t>(at));
  return true;
}

bool twice(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t at = below(random, stream.size());
  out.types = {stream[at].type()};
  out.facts.insert(out.facts.begin() + static_cast<std::ptrdiff_t>(at), stream[at]);
  return true;
}

bool swap(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t at = below(random, stream.size() - 1);
  out.types = {stream[at].type(), stream[at + 1].type()};
  out.apart = !together(stream[at], stream[at + 1]);
  std::swap(out.facts[at], out.facts[at + 1]);
  return true;
}

bool cut(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t count = 2 + below(random, kCutMax - 1);
  const std::size_t at = below(random, 4) == 0 ? 0 : below(random, stream.size() - count);
  for (std::size_t i = at; i < at + count; ++i) out.types.push_back(stream[i].type());
  const auto first = out.facts.begin() + static_cast<std::ptrdiff_t>(at);
  out.facts.erase(first, first + static_cast<std::ptrdiff_t>(count));
  return at + count < stream.size();
}

bool retime(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t at = 1 + below(random, stream.size() - 2);
  static constexpr std::string_view kTimes[] = {"1999-01-01T00:00:00.000Z",
                                                "2099-01-01T00:00:00.000Z",
                                                "2026-05-08T00:00:00.000+02:00", "yesterday"};
  out.types = {stream[at].type()};
  put(out.facts[at].head, "timestamp", quoted(kTimes[below(random, std::size(kTimes))]));
  return true;
}

bool rename_type(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t at = below(random, stream.size());
  const std::string type = stream[at].type();
  const std::string family = type.substr(0, type.find('.') + 1);
  std::vector<std::string> kin{type + "ed", "acme." + type};
  for (const schema::EventType& other : schema::event_types())
    if (other.type.starts_with(family) && other.type != type) kin.emplace_back(other.type);
  const std::string& chosen = kin[below(random, kin.size())];
  out.types = {type, chosen};
  put(out.facts[at].head, "type", quoted(chosen));
  return true;
}

bool rename_id(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t at = below(random, stream.size());
  std::vector<std::string_view> there;
  for (const std::string_view name : kOwners)
    if (!stream[at].id(name).empty()) there.push_back(name);
  out.member = there[below(random, there.size())];
  const std::string old = stream[at].id(out.member);
  out.types = {stream[at].type()};
  out.unused =
      std::ranges::count_if(stream, [&](const Fact& fact) { return mentions(fact, old); }) == 1;
  std::vector<std::string> others{"zz_fresh"};
  for (const Fact& fact : stream)
    if (const std::string id = fact.id(out.member); !id.empty() && id != old) others.push_back(id);
  put(out.facts[at].head, out.member,
      quoted(others[below(random, 2) * below(random, others.size())]));
  return true;
}

bool rename_word(const Facts& stream, Random& random, Damaged& out) {
  const std::size_t at = below(random, stream.size());
  if (has_open_list(stream[at].type())) return false;
  for (auto& [name, value] : out.facts[at].payload) {
    const auto list = words().find(name);
    if (list == words().end() || !value.starts_with('"')) continue;
    const auto& all = list->second;
    const std::string other = below(random, 3) == 0 ? kWrong : all[below(random, all.size())];
    if (quoted(other) == value) return false;
    out.types = {stream[at].type()};
    out.member = name;
    out.listed = other != kWrong;
    value = quoted(other);
    return true;
  }
  return false;
}

}  // namespace

std::string Fact::id(std::string_view name) const {
  const auto found = std::ranges::find(head, name, &Members::value_type::first);
  if (found == head.end() || found->second.size() < 2) return "";
  return found->second.substr(1, found->second.size() - 2);
}

std::string Fact::type() const { return id("type"); }

Facts facts_of(const std::vector<std::string>& lines) {
  Facts facts;
  for (const std::string& line : lines) {
    Fact& fact = facts.emplace_back(members_of(line), Members{});
    fact.payload = members_of(fact.head.back().second);
    fact.head.pop_back();
  }
  return facts;
}

std::string line_of(const Fact& fact) {
  Members whole = fact.head;
  whole.emplace_back("payload", object_of(fact.payload));
  return object_of(whole);
}

bool damage(Damage kind, const Facts& stream, Random& random, Damaged& out) {
  out = {};
  out.kind = kind;
  out.facts = stream;
  switch (kind) {
    case Damage::drop:
      return drop(stream, random, out);
    case Damage::twice:
      return twice(stream, random, out);
    case Damage::swap:
      return swap(stream, random, out);
    case Damage::cut:
      return cut(stream, random, out);
    case Damage::retime:
      return retime(stream, random, out);
    case Damage::rename_type:
      return rename_type(stream, random, out);
    case Damage::rename_id:
      return rename_id(stream, random, out);
    case Damage::rename_word:
      return rename_word(stream, random, out);
  }
  return false;
}

void hide(Facts& facts) {
  std::map<std::string, std::uint64_t> last;  // by session
  for (Fact& fact : facts) {
    const std::string session = fact.id("sessionId");
    const std::uint64_t sequence = ++last[session];
    put(fact.head, "sequence", std::to_string(sequence));
    put(fact.head, "eventId", quoted(fmt::format("evt_{}_{}", session, sequence)));
    put(fact.head, "timestamp",
        quoted(fmt::format("2026-05-08T{:02}:{:02}:{:02}.000Z", sequence / 3600, sequence / 60 % 60,
                           sequence % 60)));
  }
}

}  // namespace agentrt::validate
