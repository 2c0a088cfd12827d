#include "cli/chat/file_finder.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>

#include <fmt/format.h>

#include "adapters/tools/ignore_file.h"
#include "cli/views/terminal.h"

namespace agentrt::cli {
namespace {

namespace fs = std::filesystem;
using adapters::tools::IgnoreFile;

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same(char path, char wanted) { return lowered(path) == wanted; }

bool begins_with(std::string_view text, std::string_view wanted) {
  return text.size() >= wanted.size() &&
         std::ranges::equal(text.substr(0, wanted.size()), wanted, same);
}

bool has(std::string_view text, std::string_view wanted) {
  return !std::ranges::search(text, wanted, same).empty();
}

bool has_in_order(std::string_view text, std::string_view wanted) {
  std::size_t at = 0;
  for (const char c : text)
    if (at < wanted.size() && same(c, wanted[at])) ++at;
  return at == wanted.size();
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
  std::shared_ptr<const Ignore> above;  // of the folders that contain it
};

}  // namespace

PathQuery::PathQuery(std::string_view text) : wanted_(text) {
  std::ranges::transform(wanted_, wanted_.begin(), lowered);
}

std::uint32_t PathQuery::match(std::string_view path) const {
  const auto shortness =
      static_cast<std::uint32_t>(1'000 - std::min<std::size_t>(path.size(), 999));
  if (wanted_.empty()) return 1 + shortness;
  if (!has_in_order(path, wanted_)) return 0;
  const std::string_view name = name_of(path);
  if (begins_with(name, wanted_))
    return (name.size() == wanted_.size() ? 50'000 : 40'000) + shortness;
  if (begins_with(path, wanted_)) return 35'000 + shortness;
  if (has(name, wanted_)) return 30'000 + shortness;
  if (has(path, wanted_)) return 20'000 + shortness;
  return 10'000 + shortness;
}

void BestPaths::add(std::string_view path) {
  const std::uint32_t match = query_.match(path);
  if (match == 0) return;
  const auto better = [](const Ranked& a, const Ranked& b) {
    return a.match != b.match ? a.match > b.match : a.path < b.path;
  };
  if (best_.size() == count_ &&
      (match < best_.back().match || (match == best_.back().match && path >= best_.back().path)))
    return;
  const Ranked added{match, std::string(path)};
  best_.insert(std::ranges::upper_bound(best_, added, better), added);
  if (best_.size() > count_) best_.pop_back();
}

std::vector<std::string> BestPaths::paths() const {
  std::vector<std::string> out;
  for (const Ranked& ranked : best_) out.push_back(ranked.path);
  return out;
}

void PathList::add(std::string_view path) {
  bytes_ += path;
  ends_.push_back(bytes_.size());
}

std::string_view PathList::at(std::size_t index) const {
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return std::string_view(bytes_).substr(begin, ends_[index] - begin);
}

FileFinder::FileFinder(std::string folder, FinderLimits limits)
    : folder_(std::move(folder)),
      limits_(limits),
      event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

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
  Found found{ranked_query_, best_.paths(), complete, complete ? not_searched_ : ""};
  {
    const std::lock_guard lock(mutex_);
    found_ = std::move(found);
  }
  published_ = Clock::now();
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof(one));
}

void FileFinder::answer(bool walked) {
  while (!stopping()) {
    std::string query;
    {
      const std::lock_guard lock(mutex_);
      query = query_.value_or("");
      fresh_query_ = false;
    }
    // Only files that were not ranked before, so that the answers of a long walk stay cheap.
    if (query != ranked_query_) {
      ranked_query_ = query;
      best_ = BestPaths(query, kMatchesMax);
      ranked_ = 0;
    }
    while (ranked_ < files_.size() && !asked()) {
      const std::size_t end = std::min(ranked_ + kFilesPerLook, files_.size());
      for (; ranked_ < end; ++ranked_) best_.add(files_.at(ranked_));
      if (Clock::now() - published_ > std::chrono::milliseconds(kPublishMs)) publish(false);
      if (stopping()) return;
    }
    if (ranked_ < files_.size()) continue;  // another query came
    return publish(walked);
  }
}

void FileFinder::work() {
  std::optional<Clock::time_point> walked;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return stop_ || fresh_query_; });
      if (stop_) return;
    }
    published_ = Clock::now();
    if (!walked) {
      walk(files_);
      walked = Clock::now();
    } else if (Clock::now() - *walked > std::chrono::milliseconds(kFreshMs)) {
      PathList files;
      walk(files);
      files_ = std::move(files);
      best_ = BestPaths(ranked_query_, kMatchesMax);
      ranked_ = 0;
      walked = Clock::now();
    }
    answer(true);
  }
}

// Answers queries meanwhile.
void FileFinder::walk(PathList& into) {
  std::deque<Folder> folders{{"", 0, nullptr}};
  std::size_t entries = 0;
  const auto look = [&] {
    if (++entries % kEntriesPerLook != 0) return false;
    if (asked() || Clock::now() - published_ > std::chrono::milliseconds(kPublishMs)) answer(false);
    return stopping();
  };
  not_searched_.clear();
  while (!folders.empty()) {
    const Folder folder = std::move(folders.front());
    folders.pop_front();
    const auto ignore =
        ignore_of(fs::path(folder_) / folder.path, folder.path.size(), folder.above);
    std::error_code error;
    fs::directory_iterator at(fs::path(folder_) / folder.path,
                              fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::directory_iterator(); at.increment(error)) {
      if (look()) return;
      if (entries > limits_.entries || into.size() >= limits_.files) {
        not_searched_ = fmt::format("only the first {} files were searched", grouped(into.size()));
        return;
      }
      const std::string name = at->path().filename().string();
      std::error_code unknown;
      const bool is_folder = !at->is_symlink(unknown) && at->is_directory(unknown);
      std::string path = folder.path + name;
      if (name == ".git") continue;
      if (is_ignored(ignore.get(), path,
                     is_folder ? IgnoreFile::Kind::folder : IgnoreFile::Kind::other))
        continue;
      if (is_folder) path += '/';
      into.add(path);
      if (is_folder && folder.depth < limits_.depth)
        folders.push_back({std::move(path), folder.depth + 1, ignore});
      else if (is_folder)
        not_searched_ = fmt::format("folders below level {} were not searched", limits_.depth);
    }
  }
}

}  // namespace agentrt::cli
