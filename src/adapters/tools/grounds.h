// adapters/tools/grounds.h: where a call of a file tool may work: the folders of its session, held
// open, and what in them is hidden, read-only or refused by policy.
//
// Whatever a path says, what it leads to is opened first (adapters/tools/beneath.h) and judged by
// where it really stands; the same handle is then used. Hidden and protected places are those of
// the sandbox profile, so a file tool sees what a command sees.
//
// Under a root daemon the caller takes the rights of identity_at() for everything that it does with
// a path; the folders themselves are opened with the daemon's, as a command's roots are.
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

// Something that stands in the folders and may be read.
struct Opened {
  Descriptor handle;  // without rights to its bytes
  struct stat about{};
  std::string path;  // absolute, without links

  bool is_file() const { return S_ISREG(about.st_mode); }
  bool is_folder() const { return S_ISDIR(about.st_mode); }
};

// Where a file is to stand, and what stands there now.
struct Target {
  Descriptor folder;                 // the last one on the way that is there
  std::string folder_path;           // absolute, without links
  std::vector<std::string> missing;  // folders below it, to be made
  std::string name;
  std::string path;               // of the file: absolute, without links
  std::optional<Opened> present;  // always a regular file
};

enum class Use { read, write };

class Grounds {
 public:
  static Outcome<Grounds> open(const ports::ToolRequest& request,
                               const schema::SandboxProfile& profile);

  // Whose rights a command has at the path: those of the owner of the root that it lies in.
  FileIdentity identity_at(const std::string& path) const;
  // By its letters alone the path leads into the folders.
  Outcome<void> find_place(const std::string& path) const;
  // A file, a folder or anything else.
  Outcome<Opened> open_any(const std::string& path) const;
  // A regular file. Whatever else it is, the refusal says so.
  Outcome<Opened> open_file(const std::string& path) const;
  // The place of a file that is to be written, whether it is there or not.
  Outcome<Target> open_target(const std::string& path) const;

  // Why what stands at the absolute path may not be used.
  std::optional<schema::Failure> refusal(const std::string& real_path, Use use) const;
  // How a path is told to the model: relative to the workspace, or absolute.
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
