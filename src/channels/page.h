// channels/page.h: the files of the inspector page, as they are embedded in the binary.
//
// The build packs them into one text: a line "NAME MEDIA_TYPE SIZE" per file, an empty line, then
// the gzip-compressed contents, one after the other. The name of every file except index.html
// contains a digest of its content, so browsers may keep it for ever.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace agentrt::channels {

struct PageFile {
  std::string_view name;
  std::string_view media_type;
  std::string_view gzip;  // the compressed content
};

class Page {
 public:
  Page() = default;  // without files: the build has no page
  // The files in `pack`, which must outlive the page. Fails with internal if it is damaged.
  static Result<Page> read(std::string_view pack);

  const PageFile* find(std::string_view name) const;
  bool empty() const { return files_.empty(); }

 private:
  std::vector<PageFile> files_;
};

inline constexpr std::string_view kPageIndex = "index.html";
// An unpacked file is at most this large.
inline constexpr std::size_t kPageFileBytesMax = std::size_t{8} << 20;

// Unpacks gzip; nothing if it is damaged or larger than kPageFileBytesMax.
std::optional<std::string> unpacked(std::string_view gzip);

}  // namespace agentrt::channels
