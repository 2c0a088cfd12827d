// policy/paths.h: compares paths and path patterns as text.
//
// The file system is not read: `..` removes the name before it, and symlinks are not resolved. The
// code that opens the file checks where the path really leads; Asked::real_path carries that
// result.
//
// Patterns: `*` and `?` match within one name, `**` matches any number of folders; all other
// characters match themselves. Comparison is by whole names, so /ws is not a prefix of /ws-evil.
//
// PURE. Safe on any thread. A "normal" path is a result of normal_path().
#pragma once

#include <string>
#include <string_view>

namespace agentrt::policy {

// Makes `path` absolute and removes `.`, `..`, double and trailing slashes. A relative path starts
// at `base`, `~/` at `home`.
std::string normal_path(std::string_view path, std::string_view base, std::string_view home);

// Whether `path` is `folder` or below it. Both are normal.
bool is_within(std::string_view path, std::string_view folder);

// Whether the whole `path` matches `pattern`. Both are normal.
bool path_fits(std::string_view path, std::string_view pattern);

// Whether the path contains `*` or `?`.
bool is_pattern(std::string_view path);

// The host name of a URL in lower case; empty: there is none.
std::string host_of(std::string_view address);

// example.com matches only itself; *.example.com matches every host below it.
bool host_fits(std::string_view host, std::string_view pattern);

}  // namespace agentrt::policy
