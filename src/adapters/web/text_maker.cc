#include "adapters/web/text_maker.h"

#include <algorithm>

#include <fmt/format.h>

namespace agentrt::adapters {
namespace {

constexpr std::string_view kBlank = " \t\n\f\r";
constexpr std::size_t kTitleBytesMax = 1'024;
constexpr std::size_t kListsMax = 16;  // nested; deeper ones are not indented further

bool one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

// Elements without text for a reader.
constexpr std::string_view kHidden[] = {"script", "style",  "noscript", "template", "svg",
                                        "iframe", "object", "canvas",   "audio",    "video"};
// Elements that begin a line of their own, and those with an empty line around them.
constexpr std::string_view kLines[] = {"div",  "section", "article", "header", "footer",  "main",
                                       "nav",  "aside",   "form",    "tr",     "dt",      "dd",
                                       "body", "figure",  "address", "option", "summary", "legend"};
constexpr std::string_view kParagraphs[] = {"p",     "table",    "blockquote", "ul",
                                            "ol",    "dl",       "pre",        "details",
                                            "title", "fieldset", "figcaption", "caption"};

bool is_heading(std::string_view name) {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
}

int breaks_around(std::string_view name) {
  if (is_heading(name) || one_of(name, kParagraphs)) return 2;
  return one_of(name, kLines) || name == "li" ? 1 : 0;
}

std::string_view value_of(std::span<const HtmlAttribute> attributes, std::string_view name) {
  const auto at = std::ranges::find(attributes, name, &HtmlAttribute::first);
  return at == attributes.end() ? std::string_view() : at->second;
}

bool has(std::span<const HtmlAttribute> attributes, std::string_view name) {
  return std::ranges::find(attributes, name, &HtmlAttribute::first) != attributes.end();
}

// A text that the reader of the page does not see could be meant for a model alone.
bool is_hidden(std::string_view element, std::span<const HtmlAttribute> attributes) {
  if (one_of(element, kHidden) || has(attributes, "hidden") ||
      value_of(attributes, "aria-hidden") == "true")
    return true;
  std::string style(value_of(attributes, "style"));
  std::erase_if(style, [](char c) { return kBlank.contains(c); });
  return style.contains("display:none") || style.contains("visibility:hidden");
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace

void TextMaker::begin_block(int breaks) {
  breaks_ = std::max(breaks_, breaks);
  space_ = false;
}

// The URL of a link or an image; absent: it points into the same page, or is no web address.
std::optional<std::string> TextMaker::url_of(std::string_view reference) const {
  reference = trimmed(reference);
  if (reference.empty() || reference.starts_with('#')) return std::nullopt;
  if (const auto address = tools::resolve(base_, reference)) return address->text();
  const bool plain = reference.starts_with("http://") &&
                     reference.size() <= tools::kWebAddressBytesMax &&
                     reference.find_first_of(kBlank) == std::string_view::npos;
  return plain ? std::optional(std::string(reference)) : std::nullopt;
}

void TextMaker::start_item() {
  const std::size_t indent = lists_.empty() ? 0 : 2 * (std::min(lists_.size(), kListsMax) - 1);
  const bool ordered = !lists_.empty() && lists_.back().ordered;
  mark_ = std::string(indent, ' ') +
          (ordered ? fmt::format("{}. ", ++lists_.back().items) : std::string("- "));
}

void TextMaker::start_link(std::span<const HtmlAttribute> attributes) {
  link_.reset();
  if (auto url = url_of(value_of(attributes, "href"))) link_ = Link{*std::move(url)};
}

void TextMaker::end_link() {
  if (link_ && link_->begun) out_ += "](" + link_->url + ")";
  link_.reset();
}

void TextMaker::add_image(std::span<const HtmlAttribute> attributes) {
  const std::string_view alt = trimmed(value_of(attributes, "alt"));
  if (alt.empty()) return;
  characters(" [image: ");
  characters(alt);
  const auto url = link_ ? std::nullopt : url_of(value_of(attributes, "src"));
  characters(url ? "](" + *url + ") " : "] ");
}

void TextMaker::start(std::string_view element, std::span<const HtmlAttribute> attributes) {
  ++depth_;
  if (hidden_from_ > 0) return;
  if (is_hidden(element, attributes)) {
    hidden_from_ = depth_;
    return;
  }
  if (const int breaks = breaks_around(element)) begin_block(breaks);
  if (is_heading(element))
    mark_ = std::string(static_cast<std::size_t>(element[1] - '0'), '#') + " ";
  if (element == "title" && title_.empty()) title_at_ = depth_;
  if (element == "ul" || element == "ol") lists_.push_back({element == "ol"});
  if (lists_.size() > 1 && (element == "ul" || element == "ol")) breaks_ = std::min(breaks_, 1);
  if (element == "li") start_item();
  if (element == "br") begin_block(1);
  if (element == "hr") {
    begin_block(2);
    add_word("---");
    begin_block(2);
  }
  if (element == "tr") row_begun_ = false, separators_ = 0;
  if (element == "td" || element == "th") separators_ += std::exchange(row_begun_, true) ? 1 : 0;
  if (element == "a") start_link(attributes);
  if (element == "img") add_image(attributes);
  if (element == "pre" && preformatted_++ == 0) {
    add_word("```");
    out_ += '\n';
  }
}

void TextMaker::end(std::string_view element) {
  const std::size_t depth = depth_;
  depth_ -= depth_ > 0 ? 1 : 0;
  if (hidden_from_ > 0) {
    if (depth <= hidden_from_) hidden_from_ = 0;
    return;
  }
  if (title_at_ > 0 && depth <= title_at_) title_at_ = 0;
  if (element == "a") end_link();
  if (element == "pre" && preformatted_ > 0 && --preformatted_ == 0) {
    if (!out_.ends_with('\n')) out_ += '\n';
    out_ += "```";
  }
  if ((element == "ul" || element == "ol") && !lists_.empty()) lists_.pop_back();
  if (element == "li" || is_heading(element)) mark_.clear();
  const bool inner_list = (element == "ul" || element == "ol") && !lists_.empty();
  if (const int breaks = breaks_around(element)) begin_block(inner_list ? 1 : breaks);
}

// Writes what separates the next word from the text before it.
void TextMaker::write_gap() {
  if (breaks_ > 0 && !out_.empty()) out_.append(static_cast<std::size_t>(breaks_), '\n');
  const bool line_begins = out_.empty() || breaks_ > 0;
  breaks_ = 0;
  if (separators_ > 0 && !line_begins)
    for (; separators_ > 0; --separators_) out_ += " |";
  separators_ = 0;
  if (!line_begins && (space_ || out_.ends_with('|'))) out_ += ' ';
  space_ = false;
  out_ += std::exchange(mark_, {});
  if (link_ && !std::exchange(link_->begun, true)) out_ += '[';
}

void TextMaker::add_word(std::string_view word) {
  if (full()) return;
  write_gap();
  out_ += word;
}

void TextMaker::add_preformatted(std::string_view text) {
  if (full() || text.empty()) return;
  if (breaks_ > 0) out_ += '\n';
  breaks_ = 0;
  out_ += text;
}

void TextMaker::characters(std::string_view text) {
  if (hidden_from_ > 0) return;
  if (title_at_ > 0) {
    title_ += text.substr(0, kTitleBytesMax - std::min(kTitleBytesMax, title_.size()));
    return;
  }
  if (preformatted_ > 0) return add_preformatted(text);
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find_first_of(kBlank), text.size());
    if (blank > 0) add_word(text.substr(0, blank));
    if (blank < text.size()) space_ = true;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
}

std::string TextMaker::take() {
  std::string title;
  for (const char c : trimmed(title_)) title += kBlank.contains(c) ? ' ' : c;
  while (!out_.empty() && kBlank.contains(out_.back())) out_.pop_back();
  std::string all = std::move(out_);
  if (!title.empty()) all = "Title: " + title + (all.empty() ? "" : "\n\n") + all;
  return all.empty() ? all : all + "\n";
}

}  // namespace agentrt::adapters
