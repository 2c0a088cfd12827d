// cli/serve.cc: `agentrt serve`.
#include <fmt/format.h>

#include "cli/listen_address.h"
#include "cli/verbs.h"

namespace agentrt::cli {

int serve(Context& context, const ServeArguments& arguments) {
  const auto listen = read_listen(arguments);
  if (!listen) return context.output.problem(listen.error());
  const auto data = data_folder_of(context);
  if (!data) return context.output.problem(data.error());
  auto config = config_of(context, context.cwd);
  if (!config) return context.output.problem(config.error());

  Signals signals;
  runtime::RuntimeOptions options;
  options.config = *std::move(config);
  options.data = *data;
  options.cwd = context.cwd;
  options.listen = *listen;
  options.on_gone = stop_when_gone(context);
  const auto runtime = runtime::Runtime::start(std::move(options));
  if (!runtime) {
    context.output.problem(runtime.error());
    return runtime.error().code == Code::invalid_params ? kExitUsage : kExitUnavailable;
  }
  context.output.out(fmt::format("listening on {}\n", (*runtime)->url()));
  if (context.output.screen().out_terminal)
    context.output.hint(
        "· use it from another terminal: agentrt run \"PROMPT\", agentrt sessions; Ctrl-C stops "
        "it");
  while (signals.count() == 0) signals.wait(-1);
  return kExitDone;
}

}  // namespace agentrt::cli
