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
constexpr std::size_t kCallsPerCheck = 256;
constexpr std::size_t kAttributesMax = 64;  // per element; further ones are ignored
// The parser compares each attribute of a tag with all before it. A tag that is longer than this is
// inspected before it is complete, and the page ends at one with more attributes than this.
constexpr std::size_t kTagBytesUninspected = 16 << 10;
constexpr std::size_t kTagAttributesMax = 4'000;

std::string_view view_of(const xmlChar* text) {
  return text == nullptr ? std::string_view() : reinterpret_cast<const char*>(text);
}

// The number of attributes in the beginning of a start tag, counted as the parser does.
std::size_t attributes_in(std::string_view tag) {
  constexpr std::string_view kBlank = " \t\n\f\r";
  constexpr auto kNone = std::string_view::npos;
  std::size_t count = 0;
  std::size_t at = tag.find_first_of(kBlank);
  while (at != kNone && (at = tag.find_first_not_of(" \t\n\f\r/", at)) != kNone) {
    if (tag[at] == '>') break;
    if (tag[at] == '=') {  // no name: skipped up to the next blank
      at = tag.find_first_of(kBlank, at);
      continue;
    }
    ++count;
    at = tag.find_first_of(" \t\n\f\r=>/", at);
    if (at != kNone) at = tag.find_first_not_of(kBlank, at);
    if (at == kNone || tag[at] != '=') continue;
    at = tag.find_first_not_of(kBlank, at + 1);
    if (at == kNone) break;
    if (tag[at] == '"' || tag[at] == '\'') {
      at = tag.find(tag[at], at + 1);
      if (at != kNone) ++at;
    } else {
      at = tag.find_first_of(" \t\n\f\r>", at);
    }
  }
  return count;
}

// One page while it is parsed.
struct Parse {
  const XmlLibrary& library;
  const std::function<bool()>& over;
  const HtmlLimits& limits;
  TextMaker maker;
  htmlParserCtxtPtr parser = nullptr;
  std::size_t calls = 0;
  bool complete = true;

  // Stops the parser at a limit. The parser may hold back a long text and process it at once, so
  // its callbacks check as well as the loop that feeds it.
  void check() {
    if (complete && !maker.full() && maker.depth() <= limits.depth_max && !over()) return;
    complete = false;
    library.stop_parser(parser);
  }
  // Whether the parser waits for the end of a start tag that would take it too long.
  bool waits_for_hostile_tag() const {
    const xmlParserInput& input = *parser->input;
    const std::string_view pending(reinterpret_cast<const char*>(input.cur),
                                   static_cast<std::size_t>(input.end - input.cur));
    if (pending.size() < kTagBytesUninspected || pending[0] != '<') return false;
    const char letter = static_cast<char>(pending[1] | 0x20);
    return letter >= 'a' && letter <= 'z' && attributes_in(pending) > kTagAttributesMax;
  }
  TextMaker& called() {
    if (++calls % kCallsPerCheck == 0) check();
    return maker;
  }
};

TextMaker& maker_of(void* user) { return static_cast<Parse*>(user)->called(); }

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
  Parse parse{library, over, limits, TextMaker(base, limits.text_bytes_max)};
  xmlSAXHandler calls = handler();
  const std::unique_ptr<htmlParserCtxt, decltype(library.free_parser)> parser(
      library.create_parser(&calls, &parse, nullptr, 0, nullptr, XML_CHAR_ENCODING_UTF8),
      library.free_parser);
  if (!parser) return fail(Code::unavailable, "the HTML parser has no memory");
  parse.parser = parser.get();
  // The text is UTF-8 already, whatever the page declares. Nothing is loaded from the network.
  library.use_options(parser.get(), HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                                        HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC);
  while (!html.empty() && parse.complete) {
    const std::string_view piece = schema::utf8_prefix(html, kChunkBytes);
    library.parse_chunk(parser.get(), piece.data(), static_cast<int>(piece.size()), 0);
    html.remove_prefix(piece.size());
    if (parse.waits_for_hostile_tag()) parse.complete = false;
    parse.check();
  }
  if (parse.complete) library.parse_chunk(parser.get(), nullptr, 0, 1);
  const bool complete = parse.complete && !parse.maker.full();
  return ReadableText{parse.maker.take(), complete};
}

}  // namespace agentrt::adapters
