#include "cli/sessions/uploads.h"

#include <fstream>

#include <fmt/format.h>

#include "schema/outputs.h"
#include "schema/utf8.h"

namespace agentrt::cli {
namespace {

bool is_outside(const schema::InputPart& part, const schema::SubmitTurn& submit) {
  if (part.type != schema::InputKind::file || !part.path) return false;
  const auto& cwd = submit.options->cwd;
  return !cwd || !part.path->starts_with(*cwd + "/");
}

// The type under which the bytes are stored, by their beginning.
std::string_view media_type_of(std::string_view bytes) {
  if (bytes.starts_with("\x89PNG\r\n\x1a\n")) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff")) return "image/jpeg";
  if (bytes.starts_with("GIF8")) return "image/gif";
  if (bytes.starts_with("RIFF") && bytes.size() > 12 && bytes.substr(8, 4) == "WEBP")
    return "image/webp";
  if (bytes.starts_with("%PDF-")) return "application/pdf";
  const bool text = !bytes.contains('\0') && schema::valid_utf8(bytes) == bytes;
  return text ? "text/plain" : "application/octet-stream";
}

Result<std::string> read_whole(const std::string& path, std::size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes;
  std::string piece(1 << 20, '\0');
  while (file && bytes.size() <= bytes_max) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes.append(piece, 0, static_cast<std::size_t>(file.gcount()));
  }
  if (bytes.size() > bytes_max)
    return fail(Code::invalid_params,
                fmt::format("--file {} is too large: files outside the workspace may have {} bytes "
                            "together; copy it into the workspace, where tools can read it.",
                            path, kUploadBytesMax));
  if (!file.eof())
    return fail(Code::invalid_params,
                fmt::format("--file {} cannot be read; check its permissions.", path));
  return bytes;
}

Result<schema::InputPart> upload(const Client& client, const SessionId& session,
                                 const std::string& bytes) {
  const std::string target =
      fmt::format("/v1/outputs?sessionId={}&mediaType={}", url_escaped(session.text()),
                  url_escaped(media_type_of(bytes)));
  TRY_ASSIGN(const std::string text, client.ask("POST", target, bytes));
  schema::UploadReply reply;
  TRY(schema::from_json(text, reply, schema::Unknown::ignore));
  schema::InputPart part;
  part.type = schema::InputKind::output;
  part.ref = reply.output_ref;
  return part;
}

}  // namespace

Result<std::vector<OutsideFile>> read_outside_files(const schema::SubmitTurn& submit) {
  std::vector<OutsideFile> files;
  std::size_t left = kUploadBytesMax;
  for (std::size_t i = 0; i < submit.input.size(); ++i) {
    if (!is_outside(submit.input[i], submit)) continue;
    TRY_ASSIGN(std::string bytes, read_whole(*submit.input[i].path, left));
    left -= bytes.size();
    files.push_back({i, std::move(bytes)});
  }
  return files;
}

Result<void> upload_files(const Client& client, const std::vector<OutsideFile>& files,
                          schema::SubmitTurn& submit) {
  // From the last one, since each becomes two parts.
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const auto at = submit.input.begin() + static_cast<std::ptrdiff_t>(file->part);
    schema::InputPart name;
    name.text = fmt::format("[file {}, uploaded:]", *at->path);
    TRY_ASSIGN(*at, upload(client, *submit.session_id, file->bytes));
    submit.input.insert(at, std::move(name));
  }
  return {};
}

}  // namespace agentrt::cli
