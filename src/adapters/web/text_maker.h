// adapters/web/text_maker.h: collects readable text from the elements of an HTML page, in order.
//
// White space is collapsed as in a browser. Line breaks, list marks and the beginning of a link are
// written only when text follows, so empty elements leave no trace. One thread.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/web_address.h"

namespace agentrt::adapters {

using HtmlAttribute = std::pair<std::string_view, std::string_view>;  // name, value

class TextMaker {
 public:
  TextMaker(const agentrt::tools::WebAddress& base, std::size_t bytes_max)
      : base_(base), bytes_max_(bytes_max) {}

  void start(std::string_view element, std::span<const HtmlAttribute> attributes);
  void end(std::string_view element);
  void characters(std::string_view text);

  std::size_t depth() const { return depth_; }
  bool full() const { return out_.size() > bytes_max_; }
  // The whole text, with the page's title first. Call once.
  std::string take();

 private:
  struct Link {
    std::string url;
    bool begun = false;  // its text has begun
  };
  struct List {
    bool ordered = false;
    unsigned items = 0;
  };

  void begin_block(int breaks);
  void start_item();
  void start_link(std::span<const HtmlAttribute> attributes);
  void end_link();
  void add_image(std::span<const HtmlAttribute> attributes);
  void add_word(std::string_view word);
  void add_preformatted(std::string_view text);
  void write_gap();
  std::optional<std::string> url_of(std::string_view reference) const;

  const agentrt::tools::WebAddress& base_;
  const std::size_t bytes_max_;
  std::string out_;
  std::string title_;
  std::string mark_;         // of a heading or an item, written before its first word
  int breaks_ = 0;           // line breaks before the next word
  unsigned separators_ = 0;  // between table cells, before the next word
  bool space_ = false;       // white space before the next word
  bool row_begun_ = false;
  std::size_t depth_ = 0;
  std::size_t hidden_from_ = 0;  // depth of the hidden element that is open; 0: none
  std::size_t title_at_ = 0;     // the same for <title>
  std::size_t preformatted_ = 0;
  std::vector<List> lists_;
  std::optional<Link> link_;
};

}  // namespace agentrt::adapters
