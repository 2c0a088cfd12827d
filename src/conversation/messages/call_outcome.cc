#include "conversation/messages/call_outcome.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/image.h"
#include "schema/file_tools.h"
#include "schema/outputs.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

constexpr std::string_view kNoResult =
    "The call was interrupted. Whether it had any effect is unknown; check before you repeat it.";
constexpr std::string_view kNotMade = "The call did not run: the turn ended first.";

// "signal 11 (SIGSEGV)"
std::string signal_words(const std::string& signal) {
  int number = 0;
  std::from_chars(signal.data(), signal.data() + signal.size(), number);
  const char* const name = ::sigabbrev_np(number);
  return name == nullptr ? "signal " + signal : fmt::format("signal {} (SIG{})", signal, name);
}

// A note with the refs of the full output.
std::string whereabouts(const std::vector<std::string>& refs) {
  std::string list;
  for (const std::string& ref : refs)
    list += fmt::format("{}output:{}", list.empty() ? "" : " and ", ref);
  return list.empty()
             ? ""
             : fmt::format("\n[This is part of the output. read_file reads all of it at {}.]",
                           list);
}

// Whether the result leaves nothing of this stored output to read: it has the same text, sends the
// image, or names the ref itself.
bool has_all_of(const CallOutcome& outcome, const std::string& ref) {
  if (std::ranges::find(outcome.images, ref, &ports::StoredImage::ref) != outcome.images.end())
    return true;
  if (outcome.text.contains("output:" + ref)) return true;
  const auto stored = outcome.stored.find(ref);
  return stored != outcome.stored.end() &&
         stored->second == std::string(kDigestPrefix) + hex(bytes_of(sha256(outcome.text)));
}

void end_well(CallOutcome& outcome, const ToolResult& result) {
  outcome.text = result.preview.value_or("");
  if (result.output_ref && outcome.refs.empty() && !has_all_of(outcome, *result.output_ref))
    outcome.refs = {*result.output_ref};
  outcome.text += whereabouts(outcome.refs);
  outcome.is_error = result.is_error;
  outcome.known = true;
}

void end_badly(CallOutcome& outcome, const ToolFailed& failed) {
  outcome.text =
      fmt::format("The call failed ({}): {}", name_of(failed.error.category), failed.error.message);
  if (failed.preview && !failed.preview->empty())
    outcome.text += "\nOutput until then:\n" + *failed.preview;
  outcome.text += whereabouts(failed.output_refs.value_or(std::vector<std::string>{}));
  outcome.is_error = outcome.known = true;
}

}  // namespace

bool take(CallOutcome& outcome, const Fact& fact) {
  if (const auto* hook = std::get_if<HookCompleted>(&fact.payload)) {
    if (!hook->updated_tool_output) return false;
    outcome.text = *hook->updated_tool_output;
    return true;
  }
  // A call ends once. A command in the background may end after its call: the result that the model
  // got stays as it is.
  if (outcome.known) return false;
  if (std::holds_alternative<ToolStarted>(fact.payload)) {
    outcome.begun = true;
    return true;
  }
  if (const auto* result = std::get_if<ToolResult>(&fact.payload)) {
    end_well(outcome, *result);
    return true;
  }
  if (const auto* failed = std::get_if<ToolFailed>(&fact.payload)) {
    end_badly(outcome, *failed);
    return true;
  }
  if (const auto* process = std::get_if<ProcessCompleted>(&fact.payload)) {
    outcome.exit_code = process->exit_code;
    outcome.signal = process->signal ? process->signal->text : "";
    outcome.refs = process->output_refs.value_or(std::vector<std::string>{});
    return true;
  }
  const auto* spilled = std::get_if<OutputSpilled>(&fact.payload);
  if (!spilled) return false;
  const std::string type = spilled->media_type.value_or("");
  if (is_image_type(type))
    outcome.images.push_back({spilled->output_ref, type, spilled->size});
  else if (spilled->digest && spilled->size <= kToolTextBytesMax)
    outcome.stored[spilled->output_ref] = *spilled->digest;
  return true;
}

ports::Message result_of(const CallOutcome& outcome) {
  ports::Message message;
  message.role = ports::Role::tool;
  message.answers = outcome.call;
  message.is_error = !outcome.known || outcome.is_error;
  if (!outcome.known) {
    message.text = outcome.begun ? kNoResult : kNotMade;
    return message;
  }
  if (const auto code = outcome.exit_code; code && *code != 0)
    message.text = fmt::format("Exit code {}.\n", *code);
  if (!outcome.signal.empty())
    message.text = fmt::format("Ended by {}.\n", signal_words(outcome.signal));
  message.text += outcome.text;
  if (message.text.empty()) message.text = "The command printed nothing.";
  message.images = outcome.images;
  return message;
}

}  // namespace agentrt::conversation
