// cli/validate.cc: `agentrt validate`: validates a file, standard input or a server's event route.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "cli/verbs.h"
#include "cli/views/session_view.h"
#include "runtime/data_folder.h"
#include "validate/judge.h"
#include "validate/replay.h"

namespace agentrt::cli {
namespace {

using validate::Format;
using validate::Judge;
using validate::Replay;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunkBytes = 256 * 1024;
constexpr std::uint64_t kPageEvents = 1'000;
constexpr std::size_t kSnapshotBytesMax = 256 << 20;
constexpr auto kProgressEvery = std::chrono::seconds(1);

std::string reason(int error) { return std::generic_category().message(error); }

// Passes lines to the judge and, with a snapshot, to the replay. Shows progress on a terminal.
class Lines {
 public:
  Lines(Judge& judge, Replay* replay, Output& output)
      : judge_(judge), replay_(replay), output_(output), told_(Clock::now()) {}
  ~Lines() {
    if (shown_) output_.err("\r\033[K");
  }

  void take(std::string_view line) {
    judge_.line(line);
    if (const auto event = replay_ ? validate::event_in(line) : std::nullopt)
      replay_->event(*event);
    if (++count_ % 16'384 == 0 && output_.screen().err_terminal) progress();
  }
  void skip() { judge_.skip_line(); }

 private:
  void progress() {
    if (Clock::now() - told_ < kProgressEvery) return;
    told_ = Clock::now();
    shown_ = true;
    output_.err(fmt::format("\r· {} lines checked", count_));
  }

  Judge& judge_;
  Replay* replay_;
  Output& output_;
  Clock::time_point told_;
  std::uint64_t count_ = 0;
  bool shown_ = false;
};

// Calls lines.take() for each line from `fd`; a line beyond the limit is skipped.
Result<void> read_lines(int fd, Lines& lines) {
  std::string rest;  // an incomplete line
  bool too_long = false;
  std::string chunk(kChunkBytes, '\0');
  for (;;) {
    const ssize_t size = ::read(fd, chunk.data(), chunk.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      return fail(Code::invalid_params, fmt::format("Reading failed: {}.", reason(errno)));
    if (size == 0) break;
    std::string_view text(chunk.data(), static_cast<std::size_t>(size));
    for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      if (too_long)
        lines.skip();
      else if (rest.empty())
        lines.take(text.substr(0, end));
      else
        lines.take(rest.append(text.substr(0, end)));
      rest.clear();
      too_long = false;
      text.remove_prefix(end + 1);
    }
    too_long = too_long || rest.size() + text.size() > validate::kLineBytesMax;
    if (too_long)
      rest.clear();
    else
      rest += text;
  }
  if (too_long)
    lines.skip();
  else if (!rest.empty())
    lines.take(rest);
  return {};
}

Result<void> judge_file(const std::string& path, Lines& lines) {
  if (path == "-") return read_lines(STDIN_FILENO, lines);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0)
    return fail(Code::invalid_params, fmt::format("{} cannot be read: {}.", path, reason(errno)));
  return read_lines(file.get(), lines);
}

// The token given by the user, or that of the data folder if the URL is its own daemon.
std::string token_for(const Context& context, const ValidateArguments& arguments, const Url& url) {
  if (arguments.token) return *arguments.token;
  const auto data = data_folder_of(context);
  const auto owner = data ? runtime::read_owner(*data) : Result<std::optional<runtime::Owner>>();
  if (!owner || !*owner || !(*owner)->url) return "";
  const auto own = parse_url(*(*owner)->url);
  if (!own || own->endpoint.host != url.endpoint.host || own->endpoint.port != url.endpoint.port)
    return "";
  return read_token(*data).value_or("");
}

// The route without the query members that set the start and length of a page.
std::string route_of(const std::string& target) {
  if (target == "/") return "/v1/events?";
  const std::size_t question = target.find('?');
  std::string out = target.substr(0, question) + "?";
  std::string_view query = question == std::string::npos
                               ? std::string_view{}
                               : std::string_view(target).substr(question + 1);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    if (!part.starts_with("after=") && !part.starts_with("limit=") && !part.starts_with("cursor="))
      out.append(part).push_back('&');
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return out;
}

Result<void> judge_server(const Context& context, const ValidateArguments& arguments,
                          Lines& lines) {
  TRY_ASSIGN(Url url, parse_url(arguments.source));
  if (url.https) {
    TRY_ASSIGN(url.endpoint.tls, TlsContext::client(std::nullopt));
  }
  const Client client(url.endpoint, token_for(context, arguments, url));
  const std::string route = route_of(url.target);
  std::optional<std::string> after;
  if (arguments.after > 0) after = std::to_string(arguments.after);
  for (;;) {
    const std::string place = after ? "&after=" + url_escaped(*after) : "";
    TRY_ASSIGN(const std::string reply,
               client.ask("GET", fmt::format("{}limit={}{}", route, kPageEvents, place), ""));
    if (!reply.starts_with('{'))
      return fail(
          Code::invalid_params,
          fmt::format(
              "{} does not return a page of events; give the URL of a server's event route.",
              arguments.source));
    TRY_ASSIGN(const ListReply page, read_list(reply));
    for (const schema::Json& event : page.data) lines.take(event.text);
    if (!page.next_cursor || page.next_cursor == after) return {};
    after = page.next_cursor;
  }
}

Result<std::string> read_snapshot(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::string chunk(kChunkBytes, '\0');
  ssize_t size = file.get() < 0 ? -1 : 1;
  while (size > 0 && text.size() <= kSnapshotBytesMax) {
    size = ::read(file.get(), chunk.data(), chunk.size());
    if (size > 0) text.append(chunk, 0, static_cast<std::size_t>(size));
  }
  if (size < 0)
    return fail(Code::invalid_params,
                fmt::format("The snapshot {} cannot be read: {}.", path, reason(errno)));
  if (text.size() > kSnapshotBytesMax)
    return fail(Code::invalid_params, fmt::format("The snapshot {} is too large.", path));
  return text;
}

std::string described(const validate::Rule& rule) {
  return fmt::format("{} ({}, profile {}{})\n  {}\n  Violated by: {}.\n  {}\n", rule.id,
                     validate::name_of(rule.severity), validate::name_of(rule.profile),
                     rule.standing == validate::Standing::provisional ? ", provisional" : "",
                     rule.protects, rule.broken_by, validate::link_of(rule));
}

int explain(Context& context, const std::string& id) {
  Output& output = context.output;
  if (id == "all") {
    for (const validate::Rule& rule : validate::rules())
      output.out(fmt::format("{:<20} {:<6} {}\n", rule.id, validate::name_of(rule.severity),
                             rule.protects));
    return kExitDone;
  }
  const validate::Rule* rule = validate::find_rule(id);
  if (rule == nullptr)
    return output.problem(
        {Code::invalid_params,
         fmt::format("There is no rule {}; agentrt validate --explain all lists them.", id),
         {}});
  output.out(described(*rule));
  return kExitDone;
}

Format format_of(const Context& context, const ValidateArguments& arguments) {
  if (arguments.format == "junit") return Format::junit;
  const bool json = arguments.format ? *arguments.format == "json" : context.form() == Form::json;
  return json ? Format::json : Format::text;
}

}  // namespace

int validate_stream(Context& context, const ValidateArguments& arguments) {
  Output& output = context.output;
  if (arguments.explain) return explain(context, *arguments.explain);
  if (arguments.source.empty())
    return output.problem(
        {Code::invalid_params,
         "SOURCE is missing; give a file, - or http://…; see agentrt validate --help.",
         {}});
  std::optional<Replay> replay;
  if (arguments.snapshot) {
    auto text = read_snapshot(*arguments.snapshot);
    auto made = text ? Replay::of(*std::move(text)) : Result<Replay>(std::unexpected(text.error()));
    if (!made) return output.problem(made.error());
    replay = *std::move(made);
  }
  Judge judge(
      {.profile = arguments.profile == "core" ? validate::Profile::core : validate::Profile::full,
       .after = arguments.after});
  const auto read = [&] {
    Lines lines(judge, replay ? &*replay : nullptr, output);
    return arguments.source.starts_with("http://") || arguments.source.starts_with("https://")
               ? judge_server(context, arguments, lines)
               : judge_file(arguments.source, lines);
  }();
  if (!read) {
    output.problem(read.error());
    return read.error().code == Code::unavailable ? kExitUnavailable : kExitUsage;
  }
  if (replay)
    for (std::string& difference : replay->differences()) judge.differs(std::move(difference));
  const validate::Report& report = judge.finish();
  output.out(validate::render(report, format_of(context, arguments), arguments.source));
  if (report.events == 0)
    return output.problem({Code::invalid_params, "The source contains no events.", {}});
  const bool good =
      report.conformant() && !(arguments.strict && report.broken(validate::Severity::should) > 0);
  return good ? kExitDone : kExitFailed;
}

}  // namespace agentrt::cli
