#include "cli/chat/file_finder.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>

#include "adapters/tools/ignore_file.h"

namespace agentrt::cli {
namespace {

namespace fs = std::filesystem;
using adapters::tools::IgnoreFile;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kDepthMax = 40;
constexpr std::size_t kEntriesPerLook = 256;  // between two looks at the clock

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return lowered(c); });
  return out;
}

// The position after the last character, if the query's characters occur in order.
bool occurs_in_order(std::string_view path, std::string_view query) {
  std::size_t at = 0;
  for (const char c : path)
    if (at < query.size() && lowered(c) == query[at]) ++at;
  return at == query.size();
}

std::string_view name_of(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

// A .gitignore file and where it applies.
struct Ignore {
  std::size_t prefix = 0;  // length of its folder's path with the slash
  std::shared_ptr<const IgnoreFile> file;
  std::shared_ptr<const Ignore> above;
};

std::shared_ptr<const Ignore> ignore_of(const fs::path& folder, std::size_t prefix,
                                        std::shared_ptr<const Ignore> above) {
  std::ifstream file(folder / adapters::tools::kIgnoreFileName, std::ios::binary);
  if (!file) return above;
  std::string text(adapters::tools::kIgnoreFileBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return std::make_shared<const Ignore>(
      Ignore{prefix, std::make_shared<const IgnoreFile>(text), std::move(above)});
}

bool is_ignored(const Ignore* ignore, std::string_view path, IgnoreFile::Kind kind) {
  for (; ignore != nullptr; ignore = ignore->above.get())
    if (const auto decided = ignore->file->leaves_out(path.substr(ignore->prefix), kind))
      return *decided;
  return false;
}

struct Folder {
  std::string path;  // relative, with a slash at its end; empty: the start
  std::size_t depth = 0;
  std::shared_ptr<const Ignore> ignore;
};

}  // namespace

std::uint32_t match_of(std::string_view path, std::string_view query) {
  const auto shortness =
      static_cast<std::uint32_t>(1'000 - std::min<std::size_t>(path.size(), 999));
  if (query.empty()) return 1 + shortness;
  const std::string wanted = lowered(query);
  if (!occurs_in_order(path, wanted)) return 0;
  const std::string whole = lowered(path);
  const std::string_view name = name_of(whole);
  if (name == wanted) return 50'000 + shortness;
  if (name.starts_with(wanted)) return 40'000 + shortness;
  if (whole.starts_with(wanted)) return 35'000 + shortness;
  if (name.contains(wanted)) return 30'000 + shortness;
  if (whole.contains(wanted)) return 20'000 + shortness;
  return 10'000 + shortness;
}

std::vector<std::string> best_matches(std::span<const std::string> paths, std::string_view query,
                                      std::size_t count) {
  std::vector<std::pair<std::uint32_t, const std::string*>> best;
  const auto better = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : *a.second < *b.second;
  };
  for (const std::string& path : paths) {
    const std::uint32_t match = match_of(path, query);
    if (match == 0) continue;
    if (best.size() == count && !better(std::pair{match, &path}, best.back())) continue;
    best.insert(std::ranges::upper_bound(best, std::pair{match, &path}, better), {match, &path});
    if (best.size() > count) best.pop_back();
  }
  std::vector<std::string> out;
  out.reserve(best.size());
  for (const auto& [_, path] : best) out.push_back(*path);
  return out;
}

FileFinder::FileFinder(std::string folder)
    : folder_(std::move(folder)), event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

FileFinder::~FileFinder() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void FileFinder::ask(std::string query) {
  {
    const std::lock_guard lock(mutex_);
    query_ = std::move(query);
    fresh_query_ = true;
  }
  wake_.notify_all();
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
}

std::optional<FileFinder::Found> FileFinder::take() {
  std::uint64_t count = 0;
  (void)!::read(event_.get(), &count, sizeof(count));
  const std::lock_guard lock(mutex_);
  return std::exchange(found_, std::nullopt);
}

bool FileFinder::stopping() {
  const std::lock_guard lock(mutex_);
  return stop_;
}

bool FileFinder::asked() {
  const std::lock_guard lock(mutex_);
  return fresh_query_;
}

void FileFinder::publish(bool complete) {
  std::string query;
  {
    const std::lock_guard lock(mutex_);
    if (!query_) return;
    query = *query_;
    fresh_query_ = false;
  }
  // Only files that were not ranked before, so that the answers of a long walk stay cheap.
  if (query != ranked_query_ || ranked_ > files_.size()) {
    ranked_ = 0;
    best_.clear();
    ranked_query_ = query;
  }
  std::vector<std::string> candidates =
      best_matches(std::span(files_).subspan(ranked_), query, kMatchesMax);
  candidates.insert(candidates.end(), best_.begin(), best_.end());
  best_ = best_matches(candidates, query, kMatchesMax);
  ranked_ = files_.size();
  Found found{query, best_, complete};
  {
    const std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof(one));
}

void FileFinder::work() {
  std::optional<Clock::time_point> walked;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || fresh_query_; });
      if (stop_) return;
    }
    if (!walked || Clock::now() - *walked > std::chrono::milliseconds(kFreshMs)) {
      walk();
      walked = Clock::now();
    }
    if (stopping()) return;
    publish(true);
  }
}

void FileFinder::walk() {
  files_.clear();
  ranked_ = 0;
  best_.clear();
  std::deque<Folder> folders{{"", 0, ignore_of(folder_, 0, nullptr)}};
  auto published = Clock::now();
  std::size_t entries = 0;
  const auto look = [&] {
    if (++entries % kEntriesPerLook != 0) return false;
    const bool due = Clock::now() - published > std::chrono::milliseconds(kPublishMs);
    if (due || asked()) {
      publish(false);
      published = Clock::now();
    }
    return stopping();
  };
  while (!folders.empty() && files_.size() < kFilesMax) {
    const Folder folder = std::move(folders.front());
    folders.pop_front();
    std::error_code error;
    fs::directory_iterator at(fs::path(folder_) / folder.path,
                              fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      if (look()) return;
      const std::string name = at->path().filename().string();
      std::error_code unknown;
      const bool is_folder = !at->is_symlink(unknown) && at->is_directory(unknown);
      const std::string path = folder.path + name;
      if (name == ".git") continue;
      if (is_ignored(folder.ignore.get(), path,
                     is_folder ? IgnoreFile::Kind::folder : IgnoreFile::Kind::other))
        continue;
      if (files_.size() >= kFilesMax) return;
      files_.push_back(is_folder ? path + "/" : path);
      if (is_folder && folder.depth < kDepthMax)
        folders.push_back(
            {path + "/", folder.depth + 1, ignore_of(at->path(), path.size() + 1, folder.ignore)});
    }
  }
}

}  // namespace agentrt::cli
