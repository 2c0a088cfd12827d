// policy/paths.h: paths and patterns of paths, by their letters alone.
//
// Nothing is looked up: `..` is resolved by removing the folder before it, and a symlink is not
// seen. Whoever opens the file checks where it really leads; Asked::real_path carries that here.
//
// Patterns: `*` and `?` stay within one name, `**` goes over any number of folders; everything else
// is itself. Comparison is by whole names, so /ws is no beginning of /ws-evil.
//
// PURE. Safe on any thread.
#pragma once

#include <string>
#include <string_view>

namespace agentrt::policy {

// `path` as an absolute path without `.`, `..`, doubled or trailing slashes. A relative one starts
// at `base`, and `~/` at `home`.
std::string normal_path(std::string_view path, std::string_view base, std::string_view home);

// Whether `path` is `folder` or below it. Both are normal.
bool is_within(std::string_view path, std::string_view folder);

// Whether the whole of `path` fits `pattern`. Both are normal.
bool path_fits(std::string_view path, std::string_view pattern);

bool is_pattern(std::string_view path);

// The host of an address, in small letters; empty when there is none.
std::string host_of(std::string_view address);

// example.com is itself alone; *.example.com is any host below it.
bool host_fits(std::string_view host, std::string_view pattern);

}  // namespace agentrt::policy
