#include "config/config_digest.h"

#include <fstream>
#include <iterator>

#include "base/digest.h"
#include "schema/codec.h"

namespace agentrt::config {
namespace {

// Read by the HTTP client from the environment of its process.
constexpr std::string_view kNames[] = {"SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy",
                                       "https_proxy",   "HTTPS_PROXY",  "all_proxy",
                                       "ALL_PROXY",     "no_proxy",     "NO_PROXY"};

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Adds a name and a value so that no two lists of them give the same bytes.
void add(Sha256& digest, std::string_view name, std::string_view value) {
  std::string text;
  schema::write_string(text, name);
  schema::write_string(text, value);
  digest.add(text);
}

}  // namespace

std::string config_digest(const Config& config, const Environment& environment) {
  Sha256 digest;
  const ConfigSources& sources = config.sources;
  add(digest, sources.managed, contents_of(sources.managed));
  const auto add_file = [&](const std::optional<std::string>& path) {
    if (path) add(digest, *path, contents_of(*path));
  };
  add_file(sources.named);
  if (!sources.named) add_file(sources.user);
  if (!sources.named) add_file(sources.claude);
  for (const std::string_view name : kNames) add(digest, name, environment(name).value_or(""));
  return hex(bytes_of(digest.end()));
}

}  // namespace agentrt::config
