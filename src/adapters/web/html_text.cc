#include "adapters/web/html_text.h"

#include <memory>
#include <vector>

#include "adapters/web/text_maker.h"
#include "adapters/web/xml_library.h"
#include "schema/json.h"

namespace agentrt::adapters {
namespace {

// Small, so that a page that is slow to parse is stopped soon.
constexpr std::size_t kChunkBytes = 4'096;
constexpr std::size_t kAttributesMax = 64;  // per element; further ones are ignored

std::string_view view_of(const xmlChar* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

TextMaker& maker_of(void* user) { return *static_cast<TextMaker*>(user); }

void on_start(void* user, const xmlChar* name, const xmlChar** attributes) {
  std::vector<HtmlAttribute> all;
  for (; attributes != nullptr && *attributes != nullptr && all.size() < kAttributesMax;
       attributes += 2)
    all.emplace_back(view_of(attributes[0]), view_of(attributes[1]));
  maker_of(user).start(view_of(name), all);
}

void on_end(void* user, const xmlChar* name) { maker_of(user).end(view_of(name)); }

void on_characters(void* user, const xmlChar* text, int size) {
  maker_of(user).characters({reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)});
}

// Invalid HTML is the rule, so errors are ignored.
void on_error(void*, xmlErrorPtr) {}

xmlSAXHandler handler() {
  xmlSAXHandler out{};
  out.initialized = XML_SAX2_MAGIC;
  out.startElement = on_start;
  out.endElement = on_end;
  out.characters = on_characters;
  out.ignorableWhitespace = on_characters;
  out.serror = on_error;
  return out;
}

}  // namespace

Result<ReadableText> readable_text(std::string_view html, const tools::WebAddress& base,
                                   const std::function<bool()>& over, const HtmlLimits& limits) {
  TRY_ASSIGN(const XmlLibrary library, XmlLibrary::load());
  TextMaker maker(base, limits.text_bytes_max);
  xmlSAXHandler calls = handler();
  const std::unique_ptr<htmlParserCtxt, decltype(library.free_parser)> parser(
      library.create_parser(&calls, &maker, nullptr, 0, nullptr, XML_CHAR_ENCODING_UTF8),
      library.free_parser);
  if (!parser) return fail(Code::unavailable, "the HTML parser has no memory");
  // The text is UTF-8 already, whatever the page declares. Nothing is loaded from the network.
  library.use_options(parser.get(), HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                                        HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC);
  ReadableText out;
  while (!html.empty() && out.complete) {
    const std::string_view piece = schema::utf8_prefix(html, kChunkBytes);
    library.parse_chunk(parser.get(), piece.data(), static_cast<int>(piece.size()), 0);
    html.remove_prefix(piece.size());
    out.complete = !maker.full() && maker.depth() <= limits.depth_max && !over();
  }
  if (out.complete)
    library.parse_chunk(parser.get(), nullptr, 0, 1);
  else
    library.stop_parser(parser.get());
  out.text = maker.take();
  return out;
}

}  // namespace agentrt::adapters
