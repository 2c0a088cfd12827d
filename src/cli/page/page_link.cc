#include "cli/page/page_link.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "schema/codec.h"

namespace agentrt::cli {
namespace {

struct CodeParams {
  std::optional<std::vector<std::string>> scopes;
};
BOOST_DESCRIBE_STRUCT(CodeParams, (), (scopes))

struct CodeReply {
  std::string code;
  std::vector<std::string> scopes;
  Timestamp expires_at;
};
BOOST_DESCRIBE_STRUCT(CodeReply, (), (code, scopes, expires_at))

std::unexpected<Error> failed(std::string_view what, int error) {
  return fail(Code::unavailable, fmt::format("{}: {}; open the link yourself: agentrt open.", what,
                                             std::generic_category().message(error)));
}

}  // namespace

std::optional<std::string> page_address(const runtime::Owner& owner) {
  if (!owner.url) return std::nullopt;
  std::string address = *owner.url;
  for (const std::string_view wildcard : {"//0.0.0.0:", "//[::]:"}) {
    const std::size_t at = address.find(wildcard);
    if (at == address.npos) continue;
    address.replace(at, wildcard.size(),
                    fmt::format("//{}:", owner.host_name.value_or("127.0.0.1")));
  }
  return address;
}

Result<PageLink> make_page_link(const Client& client, const std::string& address,
                                const std::vector<std::string>& scopes,
                                const std::optional<std::string>& session) {
  TRY_ASSIGN(const HttpReply page, client.request("GET", "/", ""));
  if (page.status != 200)
    return fail(Code::unavailable,
                "The daemon has no page: its build was configured with AGENTRT_WEB=OFF; start "
                "agentrt serve of a build that has one.");
  CodeParams params;
  if (!scopes.empty()) params.scopes = scopes;
  TRY_ASSIGN(const std::string text,
             client.ask("POST", "/v1/login-codes", schema::to_json(params)));
  CodeReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  std::string url = fmt::format("{}/#login={}", address, reply.code);
  if (session) url += fmt::format("&session={}", url_escaped(*session));
  return PageLink{std::move(url), std::move(reply.scopes), reply.expires_at};
}

Result<void> open_in_browser(const std::string& url, const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return failed("cannot replace " + path, errno);
  const Descriptor file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return failed("cannot write " + path, errno);
  const std::string text = fmt::format(
      "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"
      "<meta http-equiv=\"refresh\" content=\"0;url={}\"><title>agentrt</title>\n",
      url);
  if (::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return failed("cannot write " + path, errno);
  std::string program = "xdg-open";
  std::string argument = path;
  char* const words[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, words[0], nullptr, nullptr, words, environ))
    return failed("cannot start xdg-open", error);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return fail(Code::unavailable, "xdg-open found no browser; open the link yourself.");
  return {};
}

}  // namespace agentrt::cli
