// adapters/tools/grounds.h: the folders in which a file tool call may work, held open, with the
// paths in them that are hidden, read-only or refused by policy.
//
// A path is opened first (adapters/tools/beneath.h) and then checked by its real location; the same
// handle is used afterwards. Hidden and protected paths are those of the sandbox profile, so a file
// tool sees what a command sees.
//
// Under a root daemon the caller must take the rights of identity_at() for everything it does with
// a path. The folders themselves are opened with the daemon's rights, like a command's roots.
//
// Belongs to one call; one thread at a time.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "adapters/files/acting_as.h"
#include "adapters/tools/beneath.h"
#include "adapters/tools/outcome.h"
#include "ports/tools.h"
#include "schema/sandbox.h"

namespace agentrt::adapters::tools {

// An open file or folder that lies in the session's folders and may be read.
struct Opened {
  Descriptor handle;  // O_PATH: without access to its bytes
  struct stat about{};
  std::string path;  // absolute, symlinks resolved

  bool is_file() const { return S_ISREG(about.st_mode); }
  bool is_folder() const { return S_ISDIR(about.st_mode); }
};

// The location of a file to write, and the file that exists there now, if any.
struct Target {
  Descriptor folder;                 // the last existing folder on the path
  std::string folder_path;           // absolute, symlinks resolved
  std::vector<std::string> missing;  // folders below it that must be created
  std::string name;
  std::string path;               // of the file: absolute, symlinks resolved
  std::optional<Opened> present;  // always a regular file
};

enum class Use { read, write };

class Grounds {
 public:
  static Outcome<Grounds> open(const ports::ToolRequest& request,
                               const schema::SandboxProfile& profile);

  // The identity of a command at this path: the owner of the root that contains it.
  FileIdentity identity_at(const std::string& path) const;
  // Checks by its text alone that the path leads into the session's folders.
  Outcome<void> find_place(const std::string& path) const;
  // Opens a file, a folder or anything else.
  Outcome<Opened> open_any(const std::string& path) const;
  // Opens a regular file. If it is anything else, the refusal says what it is.
  Outcome<Opened> open_file(const std::string& path) const;
  // Resolves the location of a file to write, which may exist or not.
  Outcome<Target> open_target(const std::string& path) const;

  // Why the file at this absolute path may not be used; empty: it may.
  std::optional<schema::Failure> refusal(const std::string& real_path, Use use) const;
  // The path to show to the model: relative to the workspace, or absolute.
  std::string shown(const std::string& real_path) const;

 private:
  struct Root {
    std::string given;  // as the session names it
    std::string real;
    Descriptor folder;
    FileIdentity identity;
  };
  struct Spot {
    const Root* root;
    std::string rest;  // relative to the root
  };

  Outcome<Spot> find(const std::string& path) const;
  std::expected<Descriptor, int> walk(const Spot& spot) const;
  Outcome<Opened> opened(Descriptor handle, const std::string& path) const;
  Outcome<Target> present_target(const Spot& spot, Descriptor handle,
                                 const std::string& path) const;
  Outcome<Target> new_target(const Spot& spot, const std::string& path) const;
  std::unexpected<schema::Failure> cannot_open(const std::string& path, int error) const;
  std::string missing_words(const std::string& path) const;

  std::vector<Root> roots_;  // the workspace first
  std::vector<std::string> hidden_;
  std::vector<std::string> protected_;
  schema::SandboxMode mode_ = schema::SandboxMode::workspace_write;
  std::function<std::optional<schema::Failure>(const std::string&)> refused_;
};

}  // namespace agentrt::adapters::tools
