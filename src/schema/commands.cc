#include "schema/commands.h"

#include <fmt/format.h>

#include "schema/text_limits.h"

namespace agentrt::schema {
namespace {

static_assert(text_limit("idempotencyKey") == kIdempotencyKeySizeMax);
static_assert(text_limit("input") == kStdinBytesMax);
static_assert(list_limit("subagentIds") == kWaitedSubagentsMax);

using Reader = Result<Command> (*)(std::string_view);

struct Row {
  CommandTraits traits;
  Reader read;
};

template <class C>
Result<Command> read_as(std::string_view params) {
  C command;
  TRY(from_json(params, command, Unknown::refuse));
  if constexpr (requires { command.idempotency_key; })
    if (command.idempotency_key && (command.idempotency_key->empty() ||
                                    command.idempotency_key->size() > kIdempotencyKeySizeMax))
      return fail(Code::invalid_params, fmt::format("idempotencyKey: expected 1 to {} characters",
                                                    kIdempotencyKeySizeMax));
  TRY(check_sizes(command, "", ""));
  return Command{std::move(command)};
}

const std::vector<Row>& rows() {
  static const auto kRows = [] {
    std::vector<Row> out;
    boost::mp11::mp_for_each<boost::mp11::mp_transform<boost::mp11::mp_identity, CommandTypes>>(
        [&]<class C>(boost::mp11::mp_identity<C>) { out.push_back({C::kTraits, &read_as<C>}); });
    return out;
  }();
  return kRows;
}

}  // namespace

const CommandTraits& traits_of(const Command& command) { return rows()[command.index()].traits; }

const std::vector<CommandTraits>& known_commands() {
  static const auto kKnown = [] {
    std::vector<CommandTraits> out;
    for (const Row& row : rows()) out.push_back(row.traits);
    return out;
  }();
  return kKnown;
}

const CommandTraits* find_command(std::string_view name) {
  for (const Row& row : rows())
    if (row.traits.name == name) return &row.traits;
  return nullptr;
}

Result<Command> read_command(std::string_view name, std::string_view params) {
  for (const Row& row : rows()) {
    if (row.traits.name != name) continue;
    TRY(check_json(params));
    return row.read(params);
  }
  return fail(Code::not_found,
              fmt::format("there is no command {}; `agentrt schema commands` lists them", name));
}

std::optional<SessionId> session_of(const Command& command) {
  return std::visit(
      [](const auto& c) -> std::optional<SessionId> {
        if constexpr (requires { c.session_id; })
          return c.session_id;
        else
          return std::nullopt;
      },
      command);
}

std::optional<std::string> idempotency_key_of(const Command& command) {
  return std::visit(
      [](const auto& c) -> std::optional<std::string> {
        if constexpr (requires { c.idempotency_key; })
          return c.idempotency_key;
        else
          return std::nullopt;
      },
      command);
}

std::string canonical_params(const Command& command) {
  return std::visit(
      [](auto c) {
        if constexpr (requires { c.idempotency_key; }) c.idempotency_key.reset();
        return to_json(c);
      },
      command);
}

}  // namespace agentrt::schema
