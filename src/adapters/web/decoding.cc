#include "adapters/web/decoding.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "schema/utf8.h"

namespace agentrt::adapters {
namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::size_t kMetaBytes = 1'024;  // where HTML must declare its encoding
constexpr std::size_t kTextBytes = 8'192;  // that decide whether bytes are text
constexpr std::string_view kNoCharacter = "\xEF\xBF\xBD";

// Labels of pages and the names that iconv knows. Only these are passed on: a page must not choose
// which conversion module of the system is loaded. Browsers read Latin-1 as Windows-1252.
struct Encoding {
  std::string_view label;
  const char* name;
};
constexpr Encoding kEncodings[] = {
    {"us-ascii", "CP1252"},
    {"ascii", "CP1252"},
    {"latin1", "CP1252"},
    {"iso-8859-1", "CP1252"},
    {"windows-1252", "CP1252"},
    {"cp1252", "CP1252"},
    {"iso-8859-2", "ISO-8859-2"},
    {"iso-8859-5", "ISO-8859-5"},
    {"iso-8859-7", "ISO-8859-7"},
    {"iso-8859-9", "CP1254"},
    {"iso-8859-15", "ISO-8859-15"},
    {"windows-1250", "CP1250"},
    {"windows-1251", "CP1251"},
    {"windows-1253", "CP1253"},
    {"windows-1254", "CP1254"},
    {"windows-1255", "CP1255"},
    {"windows-1256", "CP1256"},
    {"windows-1257", "CP1257"},
    {"windows-1258", "CP1258"},
    {"koi8-r", "KOI8-R"},
    {"koi8-u", "KOI8-U"},
    {"shift_jis", "CP932"},
    {"sjis", "CP932"},
    {"windows-31j", "CP932"},
    {"euc-jp", "EUC-JP"},
    {"gb2312", "GB18030"},
    {"gbk", "GB18030"},
    {"gb18030", "GB18030"},
    {"big5", "BIG5-HKSCS"},
    {"euc-kr", "CP949"},
    {"ks_c_5601-1987", "CP949"},
    {"utf-16", "UTF-16LE"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
};

std::string lowered(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  });
  return out;
}

// The value after `charset=`; empty: there is none.
std::string charset_in(std::string_view text) {
  const std::string all = lowered(text);
  std::size_t at = all.find("charset");
  if (at == kNone) return {};
  at = all.find_first_not_of(" \t\r\n", at + 7);
  if (at == kNone || all[at] != '=') return {};
  at = all.find_first_not_of(" \t\r\n\"'", at + 1);
  if (at == kNone) return {};
  return all.substr(at, all.find_first_of(" \t\r\n\"';/>", at) - at);
}

// The name for iconv; null: UTF-8.
const char* name_of(const std::string& label) {
  const auto* at = std::ranges::find(kEncodings, label, &Encoding::label);
  return at == std::end(kEncodings) ? nullptr : at->name;
}

// Invalid input becomes U+FFFD, one byte at a time.
std::string converted(std::string_view bytes, const char* encoding) {
  const iconv_t converter = ::iconv_open("UTF-8", encoding);
  if (converter == reinterpret_cast<iconv_t>(-1)) return schema::valid_utf8(bytes);
  std::string out;
  std::array<char, 16 << 10> piece{};
  char* in = const_cast<char*>(bytes.data());  // iconv does not change it
  std::size_t left = bytes.size();
  while (left > 0) {
    char* to = piece.data();
    std::size_t room = piece.size();
    const std::size_t done = ::iconv(converter, &in, &left, &to, &room);
    const int error = errno;
    out.append(piece.data(), piece.size() - room);
    if (done != static_cast<std::size_t>(-1) || error == E2BIG) continue;
    out += kNoCharacter;
    ++in;
    --left;
  }
  ::iconv_close(converter);
  return out;
}

// Removes carriage returns, control characters and Unicode's tag characters (U+E0000 to U+E007F):
// people do not see them, and a model would read what they spell.
void clean(std::string& text) {
  constexpr std::string_view kTags = "\xF3\xA0";
  for (std::size_t at = text.find(kTags); at != kNone; at = text.find(kTags, at)) {
    const bool tag = at + 4 <= text.size() && (text[at + 2] == '\x80' || text[at + 2] == '\x81');
    if (tag)
      text.erase(at, 4);
    else
      ++at;
  }
  std::erase_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
  });
}

}  // namespace

std::string decoded(std::string_view bytes, std::string_view content_type, MarkUp mark_up) {
  const char* encoding = nullptr;
  if (bytes.starts_with("\xEF\xBB\xBF")) {
    bytes.remove_prefix(3);
  } else if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
    encoding = bytes.starts_with("\xFF\xFE") ? "UTF-16LE" : "UTF-16BE";
    bytes.remove_prefix(2);
  } else if (const std::string named = charset_in(content_type); !named.empty()) {
    encoding = name_of(named);
  } else if (mark_up == MarkUp::html) {
    encoding = name_of(charset_in(bytes.substr(0, kMetaBytes)));
  }
  std::string out = encoding ? converted(bytes, encoding) : schema::valid_utf8(bytes);
  clean(out);
  return out;
}

bool is_text(std::string_view bytes) {
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) return true;
  return !bytes.substr(0, kTextBytes).contains('\0');
}

}  // namespace agentrt::adapters
