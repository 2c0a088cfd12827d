#include "policy/git_folders.h"

#include <algorithm>
#include <cctype>

namespace agentrt::policy {
namespace {

// Names that each work tree has: the main one in the git folder, others in worktrees/NAME.
constexpr std::string_view kOfWorkTree[] = {"HEAD",
                                            "ORIG_HEAD",
                                            "FETCH_HEAD",
                                            "CHERRY_PICK_HEAD",
                                            "REVERT_HEAD",
                                            "REBASE_HEAD",
                                            "AUTO_MERGE",
                                            "MERGE_*",
                                            "SQUASH_MSG",
                                            "COMMIT_EDITMSG",
                                            "TAG_EDITMSG",
                                            "NOTES_*",
                                            "BISECT_*",
                                            "index",
                                            "index.*",
                                            "next-index-*",
                                            "logs/",
                                            "sharedindex*",
                                            "ADD_EDIT.patch",
                                            "addp-hunk-edit.diff",
                                            "rebase-merge/",
                                            "refs/",
                                            "sequencer/",
                                            "rebase-apply/",
                                            "NOTES_MERGE_WORKTREE/"};

// Names that all work trees share. In info/ only the list that `git gc` writes for HTTP servers.
constexpr std::string_view kShared[] = {
    "objects/",  "packed-refs", "packed-refs.new",   "shallow",     "shallow_*",
    "gc.pid",    "gc.log",      "info/refs",         "info/refs_*", "rr-cache/",
    "reftable/", "lfs/",        "worktrees/*/locked"};

// Files that `git worktree add` creates. commondir decides which configuration applies, so its
// content is fixed to what git writes. gitdir only names the location of the work tree.
constexpr std::string_view kMadeOnce[] = {"+worktrees/*/gitdir", "+worktrees/*/commondir=../..\n"};

// Settings that name a program; in lower case. `*` matches any subsection.
constexpr std::string_view kPrograms[] = {"core.fsmonitor",
                                          "core.hookspath",
                                          "core.pager",
                                          "core.editor",
                                          "core.sshcommand",
                                          "core.askpass",
                                          "core.gitproxy",
                                          "core.alternaterefscommand",
                                          "pager.*",
                                          "sequence.editor",
                                          "interactive.difffilter",
                                          "include.path",
                                          "includeif.*.path",
                                          "init.templatedir",
                                          "filter.*.clean",
                                          "filter.*.smudge",
                                          "filter.*.process",
                                          "diff.external",
                                          "diff.*.command",
                                          "diff.*.textconv",
                                          "merge.*.driver",
                                          "mergetool.*.cmd",
                                          "mergetool.*.path",
                                          "difftool.*.cmd",
                                          "difftool.*.path",
                                          "guitool.*.cmd",
                                          "credential.helper",
                                          "credential.*.helper",
                                          "gpg.program",
                                          "gpg.*.program",
                                          "gpg.ssh.defaultkeycommand",
                                          "remote.*.uploadpack",
                                          "remote.*.receivepack",
                                          "remote.*.vcs",
                                          "uploadpack.packobjectshook",
                                          "gc.recentobjectshook",
                                          "trailer.*.command",
                                          "trailer.*.cmd",
                                          "hook.*.command",
                                          "tar.*.command",
                                          "browser.*.cmd",
                                          "browser.*.path",
                                          "man.*.cmd",
                                          "man.*.path",
                                          "instaweb.httpd",
                                          "imap.tunnel",
                                          "sendemail.tocmd",
                                          "sendemail.cccmd",
                                          "sendemail.headercmd",
                                          "sendemail.sendmailcmd",
                                          "sendemail.*.sendmailcmd",
                                          "lfs.customtransfer.*.path",
                                          "lfs.extension.*.clean",
                                          "lfs.extension.*.smudge",
                                          "protocol.ext.allow"};

constexpr std::string_view kObeyed[] = {".envrc",  ".vscode/",       ".idea/",
                                        ".husky/", ".devcontainer/", ".npmrc",
                                        ".yarnrc", ".yarnrc.yml",    ".pre-commit-config.yaml"};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// A star in `pattern` matches anything between two dots.
bool key_matches(std::string_view pattern, std::string_view key) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == key;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  return key.size() >= head.size() + tail.size() && key.starts_with(head) && key.ends_with(tail);
}

bool is_boolean(std::string_view value) {
  const std::string word = lower(value);
  return word.empty() || word == "true" || word == "false" || word == "yes" || word == "no" ||
         word == "on" || word == "off" || word == "1" || word == "0";
}

// Parses a configuration file character by character, as git does.
class SettingsReader {
 public:
  explicit SettingsReader(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  }

  std::vector<GitSetting> read() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (std::isspace(static_cast<unsigned char>(c)))
        ++at_;
      else if (c == '#' || c == ';')
        skip_line();
      else if (c == '[')
        read_section();
      else if (std::isalpha(static_cast<unsigned char>(c)))
        read_setting();
      else
        skip_line();
    }
    return std::move(settings_);
  }

 private:
  bool more() const { return at_ < text_.size(); }
  void skip_line() {
    while (more() && text_[at_] != '\n') ++at_;
  }
  void skip_blanks() {
    while (more() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  // [section], [section "subsection"] or [section.subsection]
  void read_section() {
    ++at_;
    std::string name;
    while (more() && text_[at_] != ']' && text_[at_] != '"' && text_[at_] != '\n') {
      if (text_[at_] != ' ' && text_[at_] != '\t') name += text_[at_];
      ++at_;
    }
    section_ = lower(name);
    if (more() && text_[at_] == '"') {
      ++at_;
      section_ += '.';
      while (more() && text_[at_] != '"' && text_[at_] != '\n') {
        if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        section_ += text_[at_++];
      }
    }
    while (more() && text_[at_] != ']' && text_[at_] != '\n') ++at_;
    if (more() && text_[at_] == ']') ++at_;
  }

  void read_setting() {
    std::string name;
    while (more() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '-'))
      name += text_[at_++];
    skip_blanks();
    std::string value;
    if (more() && text_[at_] == '=') {
      ++at_;
      skip_blanks();
      value = read_value();
    } else {
      skip_line();
    }
    settings_.push_back({section_ + "." + lower(name), std::move(value)});
  }

  std::string read_value() {
    std::string value;
    std::size_t kept = 0;  // value length without trailing blanks, except quoted ones
    bool quoted = false;
    for (; more() && text_[at_] != '\n'; ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        quoted = !quoted;
        kept = value.size();
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        if (text_[at_] == '\r' && at_ + 1 < text_.size()) ++at_;
        if (text_[at_] != '\n') value += text_[at_];
        kept = value.size();
      } else if (!quoted && (c == '#' || c == ';')) {
        skip_line();
        break;
      } else {
        value += c;
        if (quoted || !std::isspace(static_cast<unsigned char>(c))) kept = value.size();
      }
    }
    value.resize(kept);
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string section_;
  std::vector<GitSetting> settings_;
};

std::vector<std::string> all_patterns() {
  std::vector<std::string> out;
  for (const std::string_view name : kOfWorkTree) {
    out.emplace_back(name);
    out.push_back("worktrees/*/" + std::string(name));
  }
  out.insert(out.end(), std::begin(kShared), std::end(kShared));
  out.insert(out.end(), std::begin(kMadeOnce), std::end(kMadeOnce));
  return out;
}

}  // namespace

const std::vector<std::string>& written_in_git_folders() {
  static const std::vector<std::string> patterns = all_patterns();
  return patterns;
}

std::vector<GitSetting> git_settings(std::string_view text) { return SettingsReader(text).read(); }

bool names_a_program(const GitSetting& setting) {
  const std::string key = lower(setting.key);
  if (key.starts_with("alias.") || (key.starts_with("submodule.") && key.ends_with(".update")))
    return setting.value.starts_with('!');
  if (key.starts_with("remote.") && key.ends_with("url")) return setting.value.starts_with("ext::");
  if (is_boolean(setting.value)) return false;
  return std::ranges::any_of(kPrograms,
                             [&](std::string_view each) { return key_matches(each, key); });
}

std::vector<std::string> programs_named(std::string_view text) {
  std::vector<std::string> keys;
  for (const GitSetting& setting : git_settings(text))
    if (names_a_program(setting) && std::ranges::find(keys, setting.key) == keys.end())
      keys.push_back(setting.key);
  return keys;
}

bool plans_a_command(std::string_view rebase_todo) {
  while (!rebase_todo.empty()) {
    const std::size_t end = std::min(rebase_todo.find('\n'), rebase_todo.size());
    std::string_view line = rebase_todo.substr(0, end);
    rebase_todo.remove_prefix(std::min(end + 1, rebase_todo.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(" \t"));
    if (word == "exec" || word == "x") return true;
  }
  return false;
}

std::span<const std::string_view> obeyed_in_workspace() { return kObeyed; }

}  // namespace agentrt::policy
