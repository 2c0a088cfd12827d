#include "adapters/http/curl_library.h"

#include <dlfcn.h>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

constexpr const char* kLibraryFile = "libcurl.so.4";

}  // namespace

Result<CurlLibrary> CurlLibrary::load() {
  void* const file = ::dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr)
    return fail(Code::unavailable,
                fmt::format("{} cannot be loaded; install the package libcurl4", kLibraryFile));
  CurlLibrary out;
  bool whole = true;
  const auto bind = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(file, name));
    whole = whole && function != nullptr;
  };
  bind(out.global_init, "curl_global_init");
  bind(out.easy_init, "curl_easy_init");
  bind(out.easy_setopt, "curl_easy_setopt");
  bind(out.easy_getinfo, "curl_easy_getinfo");
  bind(out.easy_strerror, "curl_easy_strerror");
  bind(out.easy_cleanup, "curl_easy_cleanup");
  bind(out.slist_append, "curl_slist_append");
  bind(out.slist_free_all, "curl_slist_free_all");
  bind(out.getdate, "curl_getdate");
  bind(out.multi_init, "curl_multi_init");
  bind(out.multi_add_handle, "curl_multi_add_handle");
  bind(out.multi_remove_handle, "curl_multi_remove_handle");
  bind(out.multi_perform, "curl_multi_perform");
  bind(out.multi_poll, "curl_multi_poll");
  bind(out.multi_wakeup, "curl_multi_wakeup");
  bind(out.multi_info_read, "curl_multi_info_read");
  bind(out.multi_cleanup, "curl_multi_cleanup");
  if (!whole || out.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(Code::unavailable,
                fmt::format("{} is too old or broken; install the package libcurl4", kLibraryFile));
  return out;
}

}  // namespace agentrt::adapters
