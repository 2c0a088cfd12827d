#include "config/config_file.h"

#include <array>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "config/layer_checks.h"
#include "config/mcp_servers.h"
#include "config/models.h"
#include "policy/hooks.h"
#include "schema/codec.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace agentrt::config {

std::unexpected<Error> wrong_at(const std::string& path, std::size_t line, const std::string& key,
                                const std::string& rest) {
  const std::string place = line > 0 ? fmt::format("{}:{}", path, line) : path;
  return fail(Code::invalid_params, fmt::format("{}: {} {}", place, key, rest));
}

namespace {

std::size_t line_of(const toml::node& node) { return node.source().begin.line; }
std::size_t line_of(const toml::key& key) { return key.source().begin.line; }

// One [section] of a file. take() reads a key and marks it as known; finish() rejects the rest.
class Section {
 public:
  Section(const toml::table& table, std::string name, const std::string& path)
      : table_(table), name_(std::move(name)), path_(path) {}

  const toml::node* node(std::string_view key) {
    known_.insert(std::string(key));
    return table_.get(key);
  }

  template <class T>
  Result<void> take(std::string_view key, std::optional<Given<T>>& out) {
    const toml::node* found = node(key);
    if (found == nullptr) return {};
    TRY_ASSIGN(T value, read<T>(key, *found));
    out = Given<T>{std::move(value), line_of(*found)};
    return {};
  }

  template <class T>
  Result<std::optional<T>> value(std::string_view key) {
    std::optional<Given<T>> given;
    TRY(take(key, given));
    if (!given) return std::nullopt;
    return std::move(given->value);
  }

  Result<void> finish() const {
    for (const auto& [key, unused] : table_)
      if (!known_.contains(std::string(key.str())))
        return wrong_at(path_, line_of(key), full(key.str()),
                        "is not a known key; docs/configuration.md lists the keys.");
    return {};
  }

  std::unexpected<Error> wrong(std::string_view key, const toml::node& found,
                               const std::string& rest) const {
    return wrong_at(path_, line_of(found), full(key), rest);
  }

 private:
  std::string full(std::string_view key) const { return fmt::format("{}.{}", name_, key); }

  template <class T>
  Result<T> read(std::string_view key, const toml::node& found) const {
    if constexpr (std::is_same_v<T, bool>) {
      if (const auto* value = found.as_boolean()) return value->get();
      return wrong(key, found, "must be true or false.");
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (const auto* value = found.as_string(); value && !value->get().empty())
        return value->get();
      return wrong(key, found, "must be a string that is not empty.");
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
      if (const auto* value = found.as_integer(); value && value->get() >= 0)
        return static_cast<std::uint64_t>(value->get());
      return wrong(key, found, "must be a whole number, 0 or more.");
    } else if constexpr (std::is_same_v<T, double>) {
      if (const auto* value = found.as_floating_point()) return value->get();
      if (const auto* value = found.as_integer()) return static_cast<double>(value->get());
      return wrong(key, found, "must be a number.");
    } else if constexpr (std::is_enum_v<T>) {
      return read_word<T>(key, found);
    } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
      return read_named_texts(key, found);
    } else {
      return read_texts(key, found);
    }
  }

  template <class T>
  Result<T> read_word(std::string_view key, const toml::node& found) const {
    if (const auto* value = found.as_string())
      if (const auto word = schema::enum_of<T>(value->get())) return *word;
    std::string words;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>([&](auto d) {
      words +=
          fmt::format("{}\"{}\"", words.empty() ? "" : ", ", schema::codec::enum_wire_name(d.name));
    });
    return wrong(key, found, fmt::format("must be one of {}.", words));
  }

  Result<std::vector<std::string>> read_texts(std::string_view key, const toml::node& found) const {
    const toml::array* array = found.as_array();
    if (array == nullptr) return wrong(key, found, "must be a list of strings.");
    std::vector<std::string> texts;
    for (const toml::node& element : *array) {
      const auto* text = element.as_string();
      if (text == nullptr || text->get().empty())
        return wrong(key, element, "must be a list of strings that are not empty.");
      texts.push_back(text->get());
    }
    return texts;
  }

  Result<std::map<std::string, std::string>> read_named_texts(std::string_view key,
                                                              const toml::node& found) const {
    const toml::table* table = found.as_table();
    if (table == nullptr) return wrong(key, found, "must be a table { NAME = \"value\" }.");
    std::map<std::string, std::string> texts;
    for (const auto& [name, node] : *table) {
      const auto* text = node.as_string();
      if (text == nullptr) return wrong(key, node, "must be a table { NAME = \"value\" }.");
      texts.emplace(name.str(), text->get());
    }
    return texts;
  }

  const toml::table& table_;
  std::string name_;
  const std::string& path_;
  std::set<std::string> known_;
};

Result<std::int64_t> read_price(Section& section, std::string_view key) {
  const toml::node* found = section.node(key);
  if (found == nullptr) return 0;
  const std::optional<double> amount = found->value<double>();
  constexpr double kAmountMax = 1'000'000'000.0;
  if (!amount || !std::isfinite(*amount) || *amount < 0 || *amount > kAmountMax)
    return section.wrong(key, *found, "must be a price, 0 or more.");
  return static_cast<std::int64_t>(std::llround(*amount * 1'000'000.0));
}

// The settings of a model behind HTTP, other than its name.
Result<void> read_endpoint(Section& section, ModelConfig& model) {
  TRY_ASSIGN(model.base_url, section.value<std::string>("base_url"));
  if (model.base_url)
    if (const auto checked = check_base_url(*model.base_url); !checked)
      return section.wrong("base_url", *section.node("base_url"), checked.error().message);
  TRY_ASSIGN(model.api_key_env, section.value<std::string>("api_key_env"));
  TRY_ASSIGN(model.debug_payloads, section.value<bool>("debug_payloads"));
  for (const auto& [key, member] :
       {std::pair{"max_output_tokens", &ModelConfig::max_output_tokens},
        std::pair{"connect_timeout_ms", &ModelConfig::connect_timeout_ms},
        std::pair{"first_byte_timeout_ms", &ModelConfig::first_byte_timeout_ms},
        std::pair{"idle_timeout_ms", &ModelConfig::idle_timeout_ms},
        std::pair{"answer_timeout_ms", &ModelConfig::answer_timeout_ms}}) {
    TRY_ASSIGN(const auto number, section.value<std::uint64_t>(key));
    if (number && (*number == 0 || *number > kModelNumberMax))
      return section.wrong(key, *section.node(key),
                           fmt::format("must be a whole number from 1 to {}.", kModelNumberMax));
    model.*member = number;
  }
  return {};
}

Result<ModelConfig> read_model(const toml::table& table, const std::string& name,
                               const std::string& path) {
  const std::string section_name = "models." + name;
  Section section(table, section_name, path);
  ModelConfig model;
  model.name = name;
  TRY_ASSIGN(auto provider, section.value<std::string>("provider"));
  TRY_ASSIGN(auto model_id, section.value<std::string>("model"));
  TRY_ASSIGN(auto capabilities, section.value<std::vector<std::string>>("capabilities"));
  TRY_ASSIGN(const auto images, section.value<bool>("images"));
  TRY_ASSIGN(model.context_tokens, section.value<std::uint64_t>("context_tokens"));
  TRY(read_endpoint(section, model));
  TRY_ASSIGN(auto script, section.value<std::string>("script"));
  if (const toml::node* cost = section.node("cost_per_mtok")) {
    const toml::table* prices = cost->as_table();
    if (prices == nullptr)
      return section.wrong("cost_per_mtok", *cost, "must be a table {input = …, output = …}.");
    Section price_section(*prices, section_name + ".cost_per_mtok", path);
    Price price;
    TRY_ASSIGN(price.input_micros, read_price(price_section, "input"));
    TRY_ASSIGN(price.output_micros, read_price(price_section, "output"));
    TRY(price_section.finish());
    model.cost_per_mtok = price;
  }
  TRY(section.finish());
  const std::size_t line = line_of(table);
  if (!provider) return wrong_at(path, line, section_name + ".provider", "is missing.");
  model.provider = *provider;
  model.capabilities = capabilities.value_or(std::vector<std::string>{});
  if (model.provider == "script") {
    if (!script)
      return wrong_at(path, line, section_name + ".script",
                      "is missing; set it to the script file.");
    const std::filesystem::path file(*script);
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    model.script = (file.is_absolute() ? file : folder / file).lexically_normal().string();
    model.model = model_id.value_or(file.filename().string());
  } else {
    if (script)
      return wrong_at(path, line, section_name + ".script",
                      "is valid only for the provider \"script\".");
    if (!model_id) return wrong_at(path, line, section_name + ".model", "is missing.");
    model.model = *model_id;
    fill_in_endpoint(model, images);
  }
  return model;
}

Result<void> read_models(const toml::table& table, ConfigLayer& layer) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const toml::table* model = node.as_table();
    if (model == nullptr)
      return wrong_at(layer.path, line_of(key), "models." + name, "must be a section of its own.");
    if (name.starts_with("script:"))
      return wrong_at(layer.path, line_of(key), "models." + name,
                      "is not a valid name; names that start with script: refer to files.");
    TRY_ASSIGN(ModelConfig read, read_model(*model, name, layer.path));
    layer.models.emplace(name, Given<ModelConfig>{std::move(read), line_of(*model)});
  }
  return {};
}

Result<McpOauthConfig> read_oauth(const toml::table& table, const std::string& section_name,
                                  const std::string& path) {
  Section section(table, section_name, path);
  McpOauthConfig out;
  TRY_ASSIGN(const auto enabled, section.value<bool>("enabled"));
  TRY_ASSIGN(auto scopes, section.value<std::vector<std::string>>("scopes"));
  TRY_ASSIGN(out.client_id, section.value<std::string>("client_id"));
  TRY_ASSIGN(out.client_secret_env, section.value<std::string>("client_secret_env"));
  TRY_ASSIGN(const auto grant, section.value<OauthGrant>("grant"));
  TRY_ASSIGN(out.private_key_file, section.value<std::string>("private_key_file"));
  TRY_ASSIGN(out.signing_algorithm, section.value<std::string>("signing_algorithm"));
  TRY_ASSIGN(out.authorization_server, section.value<std::string>("authorization_server"));
  TRY_ASSIGN(const auto port, section.value<std::uint64_t>("redirect_port"));
  TRY(section.finish());
  out.enabled = enabled.value_or(true);
  out.scopes = std::move(scopes).value_or(std::vector<std::string>{});
  out.grant = grant.value_or(out.grant);
  out.redirect_port = port.value_or(0);
  if (const auto wrong = wrong_oauth(out))
    return wrong_at(path, line_of(table), section_name, *wrong);
  return out;
}

Result<McpServerConfig> read_server(const toml::table& table, const std::string& section_name,
                                    const std::string& path) {
  using Texts = std::vector<std::string>;
  using NamedTexts = std::map<std::string, std::string>;
  Section section(table, section_name, path);
  McpServerConfig server;
  TRY_ASSIGN(auto command, section.value<Texts>("command"));
  TRY_ASSIGN(server.url, section.value<std::string>("url"));
  TRY_ASSIGN(server.type, section.value<std::string>("type"));
  TRY_ASSIGN(auto env, section.value<NamedTexts>("env"));
  TRY_ASSIGN(auto headers, section.value<NamedTexts>("headers"));
  TRY_ASSIGN(server.bearer_token_env, section.value<std::string>("bearer_token_env"));
  TRY_ASSIGN(server.cwd, section.value<std::string>("cwd"));
  TRY_ASSIGN(const auto enabled, section.value<bool>("enabled"));
  TRY_ASSIGN(server.sandbox, section.value<schema::SandboxMode>("sandbox"));
  TRY_ASSIGN(server.network, section.value<bool>("network"));
  TRY_ASSIGN(server.startup_ms, section.value<std::uint64_t>("startup_ms"));
  TRY_ASSIGN(const auto startup_before, section.value<std::uint64_t>("startup_timeout_ms"));
  if (!server.startup_ms) server.startup_ms = startup_before;  // the name until version 0.1
  TRY_ASSIGN(server.wait_ms, section.value<std::uint64_t>("wait_ms"));
  TRY_ASSIGN(server.tool_timeout_ms, section.value<std::uint64_t>("tool_timeout_ms"));
  TRY_ASSIGN(server.tools, section.value<Texts>("tools"));
  TRY_ASSIGN(auto disabled, section.value<Texts>("disabled_tools"));
  if (const toml::node* found = section.node("oauth")) {
    const toml::table* oauth = found->as_table();
    if (oauth == nullptr) return section.wrong("oauth", *found, "must be a section of its own.");
    TRY_ASSIGN(server.oauth, read_oauth(*oauth, section_name + ".oauth", path));
  }
  TRY(section.finish());
  server.command = std::move(command).value_or(Texts{});
  server.env = std::move(env).value_or(NamedTexts{});
  server.headers = std::move(headers).value_or(NamedTexts{});
  server.enabled = enabled.value_or(true);
  server.disabled_tools = std::move(disabled).value_or(Texts{});
  if (const auto wrong = wrong_server(server))
    return wrong_at(path, line_of(table), section_name, *wrong);
  return server;
}

Result<void> read_servers(const toml::table& table, ConfigLayer& layer) {
  for (const auto& [key, node] : table) {
    const std::string name = fmt::format("mcp_servers.{}", key.str());
    const toml::table* server = node.as_table();
    if (server == nullptr)
      return wrong_at(layer.path, line_of(key), name, "must be a section of its own.");
    TRY_ASSIGN(McpServerConfig read, read_server(*server, name, layer.path));
    layer.mcp_servers.emplace(std::string(key.str()),
                              Given<McpServerConfig>{std::move(read), line_of(*server)});
  }
  return {};
}

Result<schema::HookSpec> read_hook(const toml::table& table, schema::HookPoint point,
                                   const std::string& path) {
  const std::string section_name = fmt::format("hooks.{}", schema::name_of(point));
  Section section(table, section_name, path);
  schema::HookSpec hook;
  hook.point = point;
  std::optional<Given<std::string>> matcher;
  std::optional<Given<std::uint64_t>> timeout;
  TRY(section.take("matcher", matcher));
  TRY_ASSIGN(const auto command, section.value<std::string>("command"));
  TRY(section.take("timeout_ms", timeout));
  TRY_ASSIGN(const auto on_failure, section.value<schema::OnFailure>("on_failure"));
  TRY(section.finish());
  const std::size_t line = line_of(table);
  if (!command) return wrong_at(path, line, section_name + ".command", "is missing.");
  if (command->size() > schema::kHookCommandBytesMax)
    return wrong_at(
        path, line, section_name + ".command",
        fmt::format("is too long: the limit is {} bytes; put the command into a script.",
                    schema::kHookCommandBytesMax));
  if (matcher && !policy::concerns_a_tool(point))
    return wrong_at(path, matcher->line, section_name + ".matcher",
                    "is not allowed at this hook point, which concerns no tool; remove it.");
  if (matcher && !policy::is_matcher(matcher->value))
    return wrong_at(path, matcher->line, section_name + ".matcher",
                    "must be tool names separated by |; * matches any characters.");
  if (timeout && (timeout->value == 0 || timeout->value > schema::kHookTimeoutMaxMs))
    return wrong_at(path, timeout->line, section_name + ".timeout_ms",
                    fmt::format("must be from 1 to {}.", schema::kHookTimeoutMaxMs));
  if (matcher) hook.matcher = matcher->value;
  if (timeout) hook.timeout_ms = timeout->value;
  hook.command = *command;
  hook.on_failure = on_failure.value_or(hook.on_failure);
  return hook;
}

Result<void> read_hooks(const toml::table& table, ConfigLayer& layer) {
  for (const auto& [key, node] : table) {
    const std::string name = fmt::format("hooks.{}", key.str());
    const auto point = schema::enum_of<schema::HookPoint>(key.str());
    if (!point)
      return wrong_at(layer.path, line_of(key), name,
                      "is not a hook point; docs/hooks.md lists the hook points.");
    const toml::array* list = node.as_array();
    if (list == nullptr)
      return wrong_at(layer.path, line_of(key), name,
                      "must be a list of tables [{ command = \"…\" }].");
    for (const toml::node& element : *list) {
      const toml::table* hook = element.as_table();
      if (hook == nullptr)
        return wrong_at(layer.path, line_of(element), name,
                        "must be a list of tables [{ command = \"…\" }].");
      TRY_ASSIGN(schema::HookSpec read, read_hook(*hook, *point, layer.path));
      layer.hooks.push_back(std::move(read));
    }
  }
  return {};
}

Result<void> read_channels(Section& section, ConfigLayer& layer) {
  for (const ChannelLimit& limit : kChannelLimits) {
    std::optional<Given<std::uint64_t>> given;
    TRY(section.take(limit.key, given));
    if (!given) continue;
    if (given->value < limit.least || given->value > limit.most)
      return wrong_at(layer.path, given->line, fmt::format("channels.{}", limit.key),
                      fmt::format("must be from {} to {}.", limit.least, limit.most));
    layer.channels[limit.key] = given->value;
  }
  return {};
}

Result<void> read_listening(Section& section, ConfigLayer& layer) {
  TRY(section.take("listen", layer.listen));
  TRY(section.take("tls_cert", layer.tls_cert));
  TRY(section.take("tls_key", layer.tls_key));
  TRY(section.take("host_names", layer.host_names));
  TRY(section.take("origins", layer.origins));
  return check_origins(layer);
}

Result<void> read_mcp(Section& section, ConfigLayer& layer) {
  TRY(section.take("client_metadata_url", layer.client_metadata_url));
  return check_mcp(layer);
}

Result<void> read_context(Section& section, ConfigLayer& layer) {
  TRY(section.take("compact", layer.compact));
  TRY(section.take("compact_at", layer.compact_at));
  TRY(section.take("compact_model", layer.compact_model));
  TRY(section.take("compact_timeout_ms", layer.compact_timeout_ms));
  return check_context(layer);
}

Result<void> read_remotes(const toml::table& table, ConfigLayer& layer) {
  for (const auto& [key, node] : table) {
    const std::string name = fmt::format("remotes.{}", key.str());
    const toml::table* remote = node.as_table();
    if (remote == nullptr)
      return wrong_at(layer.path, line_of(key), name,
                      fmt::format("must be a section: [{}].", name));
    Section section(*remote, name, layer.path);
    RemoteConfig read;
    TRY_ASSIGN(const auto url, section.value<std::string>("url"));
    TRY_ASSIGN(read.token_env, section.value<std::string>("token_env"));
    TRY_ASSIGN(read.ca_file, section.value<std::string>("ca_file"));
    TRY(section.finish());
    if (!url) return wrong_at(layer.path, line_of(key), name + ".url", "is missing.");
    read.url = *url;
    layer.remotes[std::string(key.str())] = std::move(read);
  }
  return {};
}

// The section has the name of a tool, but is not about the tool: it has no descriptor to ask.
std::string shell_section() {
  constexpr std::string_view kHeading = "[shell]";
  return std::string(kHeading.substr(1, kHeading.size() - 2));
}

Result<void> read_section(const std::string& name, const toml::table& table, ConfigLayer& layer) {
  if (name == "models") return read_models(table, layer);
  if (name == "mcp_servers") return read_servers(table, layer);
  if (name == "hooks") return read_hooks(table, layer);
  if (name == "remotes") return read_remotes(table, layer);
  Section section(table, name, layer.path);
  if (name == "routing") {
    TRY(section.take("default", layer.routing_default));
    TRY(section.take("fallback", layer.routing_fallback));
    TRY(section.take("candidates", layer.routing_candidates));
  } else if (name == "permissions") {
    TRY(section.take("mode", layer.mode));
    TRY(section.take("allow", layer.allow));
    TRY(section.take("ask", layer.ask));
    TRY(section.take("deny", layer.deny));
    TRY(check_permissions(layer));
  } else if (name == "sandbox") {
    TRY(section.take("mode", layer.sandbox));
    TRY(section.take("network", layer.network));
    TRY(section.take("report_writes", layer.report_writes));
    TRY(section.take("roots", layer.roots));
    TRY(section.take("write", layer.write));
    TRY(check_roots(layer));
    TRY(check_write(layer));
  } else if (name == shell_section()) {
    TRY(section.take("env", layer.shell_env));
    TRY(check_shell_env(layer));
  } else if (name == "limits") {
    TRY(section.take("turn_steps", layer.turn_steps));
    TRY(section.take("queue_turns_max", layer.queue_turns_max));
    TRY(section.take("tasks_max", layer.tasks_max));
    TRY(section.take("task_edges_max", layer.task_edges_max));
    TRY(section.take("task_depth_max", layer.task_depth_max));
    TRY(section.take("model_retries_max", layer.model_retries_max));
    TRY(section.take("web_fetch_ms", layer.web_fetch_ms));
    TRY(section.take("web_fetch_bytes", layer.web_fetch_bytes));
    TRY(section.take("web_fetch_redirects", layer.web_fetch_redirects));
    TRY(section.take("jobs_running", layer.jobs_running));
    TRY(section.take("job_concurrency", layer.job_concurrency));
    TRY(section.take("subagent_depth", layer.subagent_depth));
    TRY(section.take("subagents_running", layer.subagents_running));
    if (const toml::node* cost = section.node("session_cost"))
      layer.beyond.push_back({"limits.session_cost", line_of(*cost)});
  } else if (name == "outputs") {
    TRY(section.take("keep_days", layer.keep_days));
    TRY(section.take("bytes_max", layer.output_bytes_max));
    TRY(section.take("upload_bytes_max", layer.upload_bytes_max));
  } else if (name == "context") {
    TRY(read_context(section, layer));
  } else if (name == "server") {
    TRY(read_listening(section, layer));
  } else if (name == "channels") {
    TRY(read_channels(section, layer));
  } else if (name == "mcp") {
    TRY(read_mcp(section, layer));
  } else if (name == "redact") {
    TRY(section.take("names", layer.redact));
  } else if (name == "terminal") {
    TRY(section.take("notify", layer.notify));
  } else {
    TRY(section.take("resume", layer.resume));
  }
  return section.finish();
}

Result<ConfigLayer> read_table(const toml::table& root, const std::string& path) {
  static const std::set<std::string> kSections = {
      "models",  "routing",  "permissions", "sandbox",     "limits",       "runtime",
      "outputs", "redact",   "hooks",       "mcp_servers", "terminal",     "context",
      "server",  "channels", "remotes",     "mcp",         shell_section()};
  ConfigLayer layer;
  layer.path = path;
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    if (!kSections.contains(name))
      return wrong_at(path, line_of(key), name,
                      "is not a known section; docs/configuration.md lists the sections.");
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return wrong_at(path, line_of(key), name, fmt::format("must be a section: [{}].", name));
    TRY(read_section(name, *table, layer));
  }
  return layer;
}

}  // namespace

Result<ConfigLayer> read_config_text(const std::string& text, const std::string& path) {
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    const auto& error = parsed.error();
    return wrong_at(path, error.source().begin.line,
                    "is not valid TOML:", fmt::format("{}.", error.description()));
  }
  return read_table(parsed.table(), path);
}

std::unexpected<Error> unreadable(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  if (is_shortage(error))
    return fail(Code::unavailable, fmt::format("{}: cannot be read: {}.", path, reason));
  return wrong_at(path, 0, "cannot be read:", reason + ".");
}

Result<std::optional<std::string>> read_config_file(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return std::nullopt;
  if (error) return wrong_at(path, 0, "cannot be read:", error.message() + ".");
  if (!std::filesystem::is_regular_file(status)) return wrong_at(path, 0, "is not", "a file.");
  std::ifstream file(path, std::ios::binary);
  if (!file) return unreadable(path, errno);
  // Read in pieces: this happens for every turn, and a buffer for the largest file would cost more
  // than the file.
  std::string text;
  std::array<char, 16 * 1024> piece{};
  while (file && text.size() <= kConfigBytesMax) {
    file.read(piece.data(), piece.size());
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (file.bad()) return wrong_at(path, 0, "cannot be read:", "reading from the disk failed.");
  if (text.size() > kConfigBytesMax)
    return wrong_at(path, 0,
                    "is too large:", fmt::format("the limit is {} bytes.", kConfigBytesMax));
  return text;
}

}  // namespace agentrt::config
