// cli/page/demo_folder.h: the temporary folder of one demo: data, workspace, scripts,
// configuration.
//
// A killed demo leaves its folder behind; the next demo of the user removes it.
#pragma once

#include <string>

#include "base/result.h"

namespace agentrt::cli {

class DemoFolder {
 public:
  // Removes folders of demos that have ended, then makes one. Fails with unavailable.
  static Result<DemoFolder> make();
  DemoFolder(DemoFolder&& other) noexcept;
  DemoFolder& operator=(DemoFolder&&) = delete;
  ~DemoFolder();  // removes it, unless it is to be kept

  const std::string& path() const { return path_; }
  std::string data() const { return path_ + "/data"; }
  std::string workspace() const { return path_ + "/workspace"; }
  std::string config() const { return path_ + "/config.toml"; }
  void keep() { kept_ = true; }

 private:
  explicit DemoFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
  bool kept_ = false;
};

}  // namespace agentrt::cli
