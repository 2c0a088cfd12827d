// cli/sessions/uploads.h: gives a turn files from anywhere.
//
// The runtime reads attached files only from the workspace of the session. The client uploads any
// other file to the session, and the turn refers to the stored bytes.
#pragma once

#include <string>
#include <vector>

#include "cli/client.h"
#include "schema/commands.h"

namespace agentrt::cli {

// The files of one turn together, in bytes. The runtime may accept less per file
// (outputs.upload_bytes_max).
inline constexpr std::size_t kUploadBytesMax = 64 << 20;

struct OutsideFile {
  std::size_t part = 0;  // its index in the input
  std::string bytes;
};

// The files of the input that are not below options.cwd. Errors: invalid_params (unreadable or too
// large).
Result<std::vector<OutsideFile>> read_outside_files(const schema::SubmitTurn& submit);

// Uploads the files to the session, and puts outputs in their places, each behind a line that names
// the file. Uploading the same file again has no effect. REQUIRES: the session exists.
Result<void> upload_files(const Client& client, const std::vector<OutsideFile>& files,
                          schema::SubmitTurn& submit);

}  // namespace agentrt::cli
