#include "conversation/material.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/digest.h"
#include "base/image.h"
#include "base/tokens.h"
#include "conversation/messages/question.h"
#include "conversation/messages/turn_digest.h"
#include "conversation/messages/turn_messages.h"
#include "conversation/system_prompt.h"
#include "policy/paths.h"
#include "policy/permission.h"
#include "tools/read_file.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

// Policy rules that deny a file to the model also apply to attached files. An output has no path:
// its bytes were given by a client that may submit to the session.
ports::GivenFile given(ports::Workspace& workspace, const MaterialQuery& query,
                       const InputPart& part) {
  if (part.type == InputKind::output)
    return workspace.given_output(query.session, part.ref.value_or(""));
  const std::string path = part.path.value_or("");
  ports::GivenFile file = workspace.given_file(query.cwd, path);
  if (file.attachment && is_image_type(file.attachment->media_type) &&
      query.images == ImagesSent::none) {
    ports::GivenFile unseen;
    unseen.ref = {.ref = file.ref.ref, .reason = "the model takes no images (images = false)"};
    return unseen;
  }
  if (file.real_path.empty()) return file;
  const policy::Effective& policy = query.policy;
  std::optional<std::string> why;
  if (policy.unreadable) why = policy.unreadable->message;
  for (const std::string& leads :
       {policy::normal_path(path, query.cwd, policy.home), file.real_path})
    if (!why) why = policy::path_refusal(policy, query.cwd, tools::kReadFile.name, path, leads);
  if (!why) return file;
  ports::GivenFile refused;
  refused.ref = {.ref = file.ref.ref, .reason = *std::move(why)};
  return refused;
}

// Stores a copy of the file. What is sent is what is stored: secrets are redacted in both.
std::optional<KeptOutput> keep(ports::OutputKeeper* keeper, ports::GivenFile& file) {
  if (file.ref.reason) return std::nullopt;
  if (keeper == nullptr) {
    file.ref.reason = "it cannot be stored";
    return std::nullopt;
  }
  ports::OutputMeta meta;
  if (file.attachment) meta.media_type = file.attachment->media_type;
  auto kept = keeper->keep_bytes(file.attachment ? file.attachment->bytes : file.text, meta);
  if (!kept) {
    file.ref.reason = "it cannot be stored: " + kept.error().message;
    return std::nullopt;
  }
  file.ref.output_ref = kept->ref.text();
  file.ref.size = kept->size;
  if (file.attachment) file.ref.media_type = file.attachment->media_type;
  return *std::move(kept);
}

// The input of a job's item: the instruction of the job, and the item.
void add_item(const MaterialQuery& query, Result<ports::HistoryWindow>& window) {
  if (!query.item || !window || !window->question) return;
  auto item = query.item();
  if (!item) {
    window = std::unexpected(std::move(item).error());
    return;
  }
  ports::Message& question = window->messages.at(*window->question);
  question.text = query.instruction + "\nThe input, as JSON:\n" + *std::move(item);
  window->bytes += question.text.size();
  window->own_bytes += question.text.size();
}

std::string digest_of_bytes(std::string_view bytes) {
  return std::string(kDigestPrefix) + hex(bytes_of(sha256(bytes)));
}

std::size_t counted_bytes(const ports::GivenFile& file) {
  if (file.ref.reason) return 0;
  return file.attachment ? kImageCountedBytes : file.text.size();
}

}  // namespace

std::size_t messages_bytes_max(std::optional<std::uint64_t> context_tokens,
                               std::size_t other_bytes) {
  const std::size_t all = static_cast<std::size_t>(context_tokens.value_or(kContextTokensDefault)) *
                          kBytesPerToken / 100 * kContextShare;
  return all > other_bytes ? all - other_bytes : 0;
}

std::size_t size_of(const TurnFiles& files) {
  std::size_t size = skills_index(files.instructions.skills).size();
  for (const ports::InstructionText& file : files.instructions.files) size += file.text.size();
  return size;
}

std::vector<ports::InstructionText> instruction_parts(const TurnFiles& files,
                                                      const MaterialQuery& query) {
  const ports::Instructions& read = files.instructions;
  std::vector<ports::InstructionText> out;
  const auto add = [&](schema::ContextRef ref, std::string text) {
    if (text.empty()) return;
    if (query.redactor != nullptr)
      if (auto redacted = query.redactor->redact(text)) text = *std::move(redacted);
    if (!ref.digest) {
      ref.digest = digest_of_bytes(text);
      ref.size = text.size();
    }
    out.push_back({std::move(ref), std::move(text)});
  };
  std::string system = system_prompt(query.cwd);
  if (!read.files.empty())
    system +=
        "\nInstructions from AGENTS.md and CLAUDE.md files, the closest to this folder last; where "
        "they disagree, the last one applies:\n";
  add({.ref = std::string(kSystemPromptRef)}, std::move(system));
  for (const ports::InstructionText& file : read.files) add(file.ref, file.text);
  add({.ref = std::string(kSkillsRef)}, skills_index(read.skills));
  if (query.role) add({.ref = std::string(kRoleRef)}, subagent_prompt(*query.role));
  return out;
}

std::string instructions_text(const TurnFiles& files, const MaterialQuery& query) {
  std::string out;
  for (const ports::InstructionText& part : instruction_parts(files, query)) out += part.text;
  return out;
}

std::vector<KeptOutput> store_instructions(ports::OutputKeeper* keeper, const MaterialQuery& query,
                                           Material& material) {
  std::vector<KeptOutput> out;
  for (ports::InstructionText& part : instruction_parts(*material.files, query)) {
    ContextRef& ref = part.ref;
    std::string digest = digest_of_bytes(part.text);
    const auto stored = query.stored.find(digest);
    if (stored != query.stored.end()) {
      ref.output_ref = stored->second;
    } else if (keeper != nullptr) {
      if (auto kept = keeper->keep_bytes(part.text, {})) {
        digest = kept->digest;
        ref.output_ref = kept->ref.text();
        out.push_back(*std::move(kept));
      }
    }
    if (ref.output_ref) ref.output_digest = std::move(digest);
    material.instructions.push_back(std::move(ref));
  }
  return out;
}

Material gather(ports::Workspace& workspace, ports::History& history, const MaterialQuery& query) {
  Material material{query.files, {}};
  if (!query.files) {
    auto read = std::make_shared<TurnFiles>();
    read->instructions = workspace.instructions(query.cwd);
    material.files = std::move(read);
  }
  ports::HistoryQuery asked = query.history;
  if (asked.fit_bytes)
    asked.fit_bytes = messages_bytes_max(
        query.context_tokens, instructions_text(*material.files, query).size() + query.tool_bytes);
  material.history = history.window(asked);
  add_item(query, material.history);
  return material;
}

std::vector<KeptOutput> give_files(ports::Workspace& workspace, ports::OutputKeeper* keeper,
                                   const MaterialQuery& query, Material& material) {
  std::vector<KeptOutput> out;
  if (!material.history || material.history->answered || query.item) return out;
  std::size_t room = messages_bytes_max(
      query.context_tokens, instructions_text(*material.files, query).size() + query.tool_bytes);
  room -= std::min(room, material.history->own_bytes);
  for (const InputPart& part : material.history->input) {
    if (part.type == InputKind::text) continue;
    ports::GivenFile file = given(workspace, query, part);
    if (file.text.size() > room) {
      ports::GivenFile refused;
      refused.ref = {.ref = file.ref.ref,
                     .reason = fmt::format("its {} bytes do not fit into the context of the model",
                                           file.text.size())};
      file = std::move(refused);
    }
    room -= file.text.size();
    if (auto kept = keep(keeper, file)) out.push_back(*std::move(kept));
    material.given.push_back(std::move(file));
  }
  return out;
}

void describe(const Material& material, const MaterialQuery& query, ReportPrepared& report) {
  ContextResolved& context = report.context;
  const ports::Instructions& instructions = material.files->instructions;
  context.instruction_refs = material.instructions;
  context.omitted = instructions.omitted;
  context.missing = instructions.missing;
  const auto listed = std::ranges::find(material.instructions, kSkillsRef, &ContextRef::ref);
  for (const ports::Skill& skill : instructions.skills) {
    context.workspace_refs.push_back(skill.ref);
    if (listed != material.instructions.end())
      context.workspace_refs.back().output_ref = listed->output_ref;
  }
  const std::string text = instructions_text(*material.files, query);
  context.instructions_digest = digest_of_bytes(text);
  report.request_bytes = text.size();
  for (const ports::GivenFile& file : material.given) {
    (file.ref.reason ? context.missing : context.workspace_refs).push_back(file.ref);
    report.new_bytes += counted_bytes(file);
  }
  if (!material.history) {
    context.missing.push_back({.ref = "history", .reason = material.history.error().message});
    return;
  }
  const ports::HistoryWindow& window = *material.history;
  report.request_bytes += window.bytes + report.new_bytes;
  report.new_bytes += window.own_bytes;
  context.history_digest = window.history_digest;
  if (window.question && !window.answered) {
    const ports::Message& question = window.messages.at(*window.question);
    context.input_digest = digest_of(
        query.item ? question : question_of(query.session, window.input, files_in(context)));
  }
  if (window.turns_omitted == 0) return;
  context.omitted_through = window.omitted_through;
  context.omitted.push_back({.ref = "history",
                             .reason = fmt::format("the oldest turns do not fit: {} of them are "
                                                   "not sent",
                                                   window.turns_omitted)});
}

void put_material(Material material, const MaterialQuery& query, ports::ModelRequest& request) {
  request.instructions = instructions_text(*material.files, query);
  request.tools = std::move(material.history->tools);
  request.messages = std::move(material.history->messages);
}

}  // namespace agentrt::conversation
