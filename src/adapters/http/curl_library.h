// adapters/http/curl_library.h: loads libcurl when the first request needs it.
//
// Linking libcurl and its thirty dependencies would add about 30 ms to every program start
// (docs/decisions/0012-libcurl-is-loaded-when-needed.md). It is loaded once and never unloaded.
// Threads: load() on any thread; the functions follow libcurl's own rules.
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace agentrt::adapters {

struct CurlLibrary {
  // Errors: unavailable: the library is not installed; the message names the package.
  static Result<CurlLibrary> load();

  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;
  decltype(&curl_getdate) getdate = nullptr;
  decltype(&curl_multi_init) multi_init = nullptr;
  decltype(&curl_multi_add_handle) multi_add_handle = nullptr;
  decltype(&curl_multi_remove_handle) multi_remove_handle = nullptr;
  decltype(&curl_multi_perform) multi_perform = nullptr;
  decltype(&curl_multi_poll) multi_poll = nullptr;
  decltype(&curl_multi_wakeup) multi_wakeup = nullptr;
  decltype(&curl_multi_info_read) multi_info_read = nullptr;
  decltype(&curl_multi_cleanup) multi_cleanup = nullptr;
};

}  // namespace agentrt::adapters
