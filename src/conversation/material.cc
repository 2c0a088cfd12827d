#include "conversation/material.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/image.h"
#include "base/tokens.h"
#include "conversation/system_prompt.h"
#include "policy/paths.h"
#include "policy/permission.h"
#include "tools/read_file.h"

namespace agentrt::conversation {

using namespace schema;

namespace {

// "file a.txt", "output out_1"
std::string name_in(const InputPart& part) {
  return fmt::format("{} {}", name_of(part.type), part.path ? *part.path : part.ref.value_or(""));
}

// The user's input as a message, with attached files in place.
ports::Message question_of(const std::vector<InputPart>& input,
                           const std::vector<ports::GivenFile>& files) {
  ports::Message question;
  auto file = files.begin();
  for (const InputPart& part : input) {
    if (!question.text.empty()) question.text += '\n';
    if (part.type == InputKind::text) {
      question.text += part.text.value_or("");
      continue;
    }
    const std::string name = name_in(part);
    if (file == files.end() || file->ref.reason) {
      question.text += fmt::format("[{}: not attached, {}]", name,
                                   file == files.end() ? "unread" : *file->ref.reason);
    } else if (file->attachment) {
      question.text += fmt::format("[{}: attached]", name);
      question.attachments.push_back(*file->attachment);
    } else {
      question.text += fmt::format("[{}]\n{}\n[end of {}]", name, file->text, name);
    }
    if (file != files.end()) ++file;
  }
  return question;
}

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

// The files that the input names, as many as fit.
std::vector<ports::GivenFile> all_given(ports::Workspace& workspace, const MaterialQuery& query,
                                        const std::vector<InputPart>& input,
                                        std::optional<std::size_t> room) {
  std::vector<ports::GivenFile> out;
  for (const InputPart& part : input) {
    if (part.type == InputKind::text) continue;
    ports::GivenFile file = given(workspace, query, part);
    if (room && file.text.size() > *room) {
      ports::GivenFile refused;
      refused.ref = {.ref = file.ref.ref,
                     .reason = fmt::format("its {} bytes do not fit into the context of the model",
                                           file.text.size())};
      file = std::move(refused);
    }
    if (room) *room -= file.text.size();
    out.push_back(std::move(file));
  }
  return out;
}

std::size_t bytes_of(const ports::GivenFile& file) {
  return file.text.size() + (file.attachment ? file.attachment->bytes.size() : 0);
}

// A file of an earlier turn's input, if it is still what that turn was given.
ports::GivenFile given_again(ports::Workspace& workspace, const MaterialQuery& query,
                             const InputPart& part, const std::vector<ContextRef>& then) {
  ports::GivenFile left_out;
  left_out.ref.ref = part.type == InputKind::file ? "file:" + part.path.value_or("")
                                                  : "output:" + part.ref.value_or("");
  const auto before = std::ranges::find(then, left_out.ref.ref, &ContextRef::ref);
  if (before == then.end()) {
    left_out.ref.reason = "it was not attached to this message either";
    return left_out;
  }
  ports::GivenFile file = given(workspace, query, part);
  if (file.ref.reason)
    left_out.ref.reason = "it was attached to this message, and now: " + *file.ref.reason;
  else if (file.ref.digest != before->digest)
    left_out.ref.reason = "it has changed since this message";
  else
    return file;
  return left_out;
}

// The files of earlier turns, as many as fit into `room` bytes of text.
void read_earlier(ports::Workspace& workspace, const MaterialQuery& query,
                  const ports::HistoryWindow& window, std::optional<std::size_t> room,
                  TurnFiles& files) {
  std::size_t left = kEarlierFileBytesMax;
  for (auto turn = window.with_files.rbegin(); turn != window.with_files.rend(); ++turn) {
    auto& again = files.earlier[turn->asked];
    for (const InputPart& part : turn->input) {
      if (part.type == InputKind::text) continue;
      ports::GivenFile file = given_again(workspace, query, part, turn->files);
      if (bytes_of(file) > left || (room && file.text.size() > *room)) {
        ports::GivenFile too_large;
        too_large.ref = {.ref = file.ref.ref,
                         .reason = fmt::format("its {} bytes do not fit again", bytes_of(file))};
        file = std::move(too_large);
      }
      left -= bytes_of(file);
      if (room) *room -= file.text.size();
      again.push_back(std::move(file));
    }
  }
}

// The input of a job's item: the instruction of the job, and the item.
void add_item(const MaterialQuery& query, Result<ports::HistoryWindow>& window) {
  if (!query.item || !window) return;
  auto item = query.item();
  if (!item) {
    window = std::unexpected(std::move(item).error());
    return;
  }
  const auto text = [](std::string of) { return InputPart{InputKind::text, std::move(of), {}}; };
  window->input = {text(query.instruction), text("The input, as JSON:\n" + *std::move(item))};
  for (const InputPart& part : window->input) window->bytes += part.text->size();
}

// Calls `visit` with each file of the turn and of earlier ones.
template <class Visit>
void each_file(const TurnFiles& files, const Visit& visit) {
  std::ranges::for_each(files.given, visit);
  for (const auto& [_, given] : files.earlier) std::ranges::for_each(given, visit);
}

std::size_t texts_in(const TurnFiles& files) {
  std::size_t size = 0;
  each_file(files, [&](const ports::GivenFile& file) { size += file.text.size(); });
  return size;
}

}  // namespace

std::size_t messages_bytes_max(std::uint64_t context_tokens, std::size_t instruction_bytes) {
  const std::size_t all = static_cast<std::size_t>(context_tokens) * kBytesPerToken / 4 * 3;
  return all > instruction_bytes ? all - instruction_bytes : 0;
}

std::size_t size_of(const TurnFiles& files) {
  std::size_t size =
      files.instructions.text.size() + skills_index(files.instructions.skills).size();
  each_file(files, [&](const ports::GivenFile& file) { size += bytes_of(file); });
  return size;
}

Material gather(ports::Workspace& workspace, ports::History& history, const MaterialQuery& query) {
  std::shared_ptr<TurnFiles> read;
  if (!query.files) {
    read = std::make_shared<TurnFiles>();
    read->instructions = workspace.instructions(query.cwd);
  }
  Material material{query.files ? query.files : read, {}};
  const ports::Instructions& instructions = material.files->instructions;
  ports::HistoryQuery asked{.session = query.session,
                            .thread = query.turn.thread,
                            .turn = query.turn.turn,
                            .bytes_max = {},
                            .up_to = query.up_to,
                            .last_ended = query.last_ended,
                            .told = query.told,
                            .alone_from = query.alone_from};
  if (query.context_tokens)
    asked.bytes_max = messages_bytes_max(
        *query.context_tokens, system_prompt(query.cwd).size() + instructions.text.size() +
                                   skills_index(instructions.skills).size());
  const auto leave_room = [&] {
    if (asked.bytes_max) *asked.bytes_max -= std::min(*asked.bytes_max, texts_in(*material.files));
  };
  leave_room();
  material.history = history.window(asked);
  add_item(query, material.history);
  if (!read || !material.history) return material;
  read->given = all_given(workspace, query, material.history->input, asked.bytes_max);
  if (asked.bytes_max && texts_in(*read) > 0) {
    leave_room();
    material.history = history.window(asked);
    add_item(query, material.history);
  }
  if (!material.history) return material;
  std::optional<std::size_t> room = asked.bytes_max;
  if (room) *room -= std::min(*room, material.history->bytes);
  read_earlier(workspace, query, *material.history, room, *read);
  return material;
}

void describe(const Material& material, ContextResolved& context) {
  const ports::Instructions& instructions = material.files->instructions;
  context.instruction_refs = instructions.refs;
  context.omitted = instructions.omitted;
  context.missing = instructions.missing;
  for (const ports::Skill& skill : instructions.skills) context.workspace_refs.push_back(skill.ref);
  for (const ports::GivenFile& file : material.files->given)
    (file.ref.reason ? context.missing : context.workspace_refs).push_back(file.ref);
  for (const auto& [_, given] : material.files->earlier)
    for (const ports::GivenFile& file : given)
      (file.ref.reason ? context.omitted : context.workspace_refs).push_back(file.ref);
  if (material.history)
    std::ranges::copy(material.history->omitted, std::back_inserter(context.omitted));
  else
    context.missing.push_back({.ref = "history", .reason = material.history.error().message});
}

void put_material(Material material, const std::string& cwd, ports::ModelRequest& request) {
  const ports::Instructions& instructions = material.files->instructions;
  request.instructions = system_prompt(cwd);
  if (!instructions.text.empty())
    request.instructions +=
        "\nInstructions from AGENTS.md and CLAUDE.md files, the closest to this folder last; where "
        "they disagree, the last one applies:\n" +
        instructions.text;
  request.instructions += skills_index(instructions.skills);
  request.tools = std::move(material.history->tools);
  request.messages = std::move(material.history->messages);
  for (const ports::EarlierInput& before : material.history->with_files)
    if (const auto files = material.files->earlier.find(before.asked);
        files != material.files->earlier.end())
      request.messages.at(before.message) = question_of(before.input, files->second);
  std::ranges::move(material.history->before, std::back_inserter(request.messages));
  request.messages.push_back(question_of(material.history->input, material.files->given));
  std::ranges::move(material.history->so_far, std::back_inserter(request.messages));
}

}  // namespace agentrt::conversation
