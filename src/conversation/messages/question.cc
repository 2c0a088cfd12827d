#include "conversation/messages/question.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::conversation {

using namespace schema;

namespace {

void add_file(const SessionId& session, const InputPart& part, const std::vector<ContextRef>& files,
              ports::Message& question) {
  const std::string path = part.path ? *part.path : part.ref.value_or("");
  const std::string name = fmt::format("{} {}", name_of(part.type), path);
  const auto file = std::ranges::find(files, ref_of(part), &ContextRef::ref);
  if (file != files.end() && file->reason) {
    question.text += fmt::format("[{}: not attached, {}]", name, *file->reason);
    return;
  }
  // Logs of earlier versions have no copy of the file.
  if (file == files.end() || !file->output_ref) {
    question.text += fmt::format("[{}: was attached to this message]", name);
    return;
  }
  ports::StoredPart stored{.session = session,
                           .ref = *file->output_ref,
                           .media_type = file->media_type.value_or(""),
                           .name = path.substr(path.rfind('/') + 1),
                           .offset = 0,
                           .size = file->size.value_or(0)};
  if (file->media_type) {
    question.text += fmt::format("[{}: attached]", name);
  } else {
    question.text += fmt::format("[{}]\n", name);
    stored.offset = question.text.size();
    question.text += fmt::format("\n[end of {}]", name);
  }
  question.parts.push_back(std::move(stored));
}

}  // namespace

ports::Message continuation_message(const SessionId& session, const std::string& ref) {
  ports::Message message;
  message.parts.push_back(
      {.session = session, .ref = ref, .media_type = {}, .name = {}, .offset = 0, .size = 0});
  return message;
}

std::string ref_of(const InputPart& part) {
  return part.type == InputKind::file ? "file:" + part.path.value_or("")
                                      : "output:" + part.ref.value_or("");
}

ports::Message question_of(const SessionId& session, const std::vector<InputPart>& input,
                           const std::vector<ContextRef>& files) {
  ports::Message question;
  for (const InputPart& part : input) {
    if (!question.text.empty()) question.text += '\n';
    if (part.type == InputKind::text)
      question.text += part.text.value_or("");
    else
      add_file(session, part, files, question);
  }
  return question;
}

}  // namespace agentrt::conversation
