#include "adapters/web/xml_library.h"

#include <dlfcn.h>

#include <type_traits>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

constexpr const char* kLibraryFile = "libxml2.so.2";

Result<XmlLibrary> load_once() {
  void* const file = ::dlopen(kLibraryFile, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr)
    return fail(Code::unavailable,
                fmt::format("{} cannot be loaded; install the package libxml2", kLibraryFile));
  XmlLibrary out;
  bool whole = true;
  const auto bind = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(file, name));
    whole = whole && function != nullptr;
  };
  decltype(&xmlInitParser) initialize = nullptr;
  bind(initialize, "xmlInitParser");
  bind(out.create_parser, "htmlCreatePushParserCtxt");
  bind(out.use_options, "htmlCtxtUseOptions");
  bind(out.parse_chunk, "htmlParseChunk");
  bind(out.stop_parser, "xmlStopParser");
  bind(out.free_parser, "htmlFreeParserCtxt");
  if (!whole)
    return fail(Code::unavailable,
                fmt::format("{} is too old or broken; install the package libxml2", kLibraryFile));
  initialize();  // before several threads use the parser
  return out;
}

}  // namespace

Result<XmlLibrary> XmlLibrary::load() {
  static const Result<XmlLibrary> library = load_once();
  return library;
}

}  // namespace agentrt::adapters
