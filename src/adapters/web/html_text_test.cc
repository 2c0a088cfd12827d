#include "adapters/web/html_text.h"

#include <doctest/doctest.h>

#include <chrono>

namespace agentrt::adapters {
namespace {

const tools::WebAddress kBase = tools::read_web_address("https://a.org/docs/x").value();

ReadableText read(std::string_view html, const HtmlLimits& limits = {}) {
  auto out = readable_text(html, kBase, [] { return false; }, limits);
  REQUIRE(out);
  return *std::move(out);
}

std::string text_of(std::string_view html) { return read(html).text; }

}  // namespace

TEST_CASE("a page becomes paragraphs, headings, lists, tables and links") {
  CHECK(text_of("<!doctype html><html><head><title>The\n page</title><style>p{}</style></head>"
                "<body><h1>Big</h1><p>One  <b>two</b>\nthree&nbsp;&amp; four.</p>"
                "<ul><li>a<li>b<ol><li>c</li><li>d</ol></ul>"
                "<p>See <a href='../y?q=1#z'>the <i>other</i> page</a>, <a href='#top'>up</a>.</p>"
                "<table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td></td><td>2</td></tr></table>"
                "<hr>end<br>line</body></html>") ==
        "Title: The  page\n\n# Big\n\nOne two three\xC2\xA0& four.\n\n- a\n- b\n  1. c\n  2. d\n\n"
        "See [the other page](https://a.org/y?q=1), up.\n\nk | v\n1 | | 2\n\n---\n\nend\nline\n");
}

TEST_CASE("preformatted text keeps its lines") {
  CHECK(text_of("<p>x</p><pre>a\n  b &lt;c&gt;\n</pre><p>y") == "x\n\n```\na\n  b <c>\n```\n\ny\n");
}

TEST_CASE("what a reader of the page does not see is omitted") {
  CHECK(text_of("a<script>if (1 < 2) document.write('<p>no</p>')</script>"
                "<style>.x{}</style><noscript>no</noscript><template><p>no</p></template>"
                "<div hidden>no <p>no</p></div><p style='color:red; display : none'>no</p>"
                "<span aria-hidden=true>no</span><!-- no --><svg><text>no</text></svg>b") ==
        "a\n\nb\n");
}

TEST_CASE("images are named, and their addresses are given where they are outside a link") {
  CHECK(text_of("<img src=i.png alt='A dog'> <img src=x.png>"
                "<a href=/b><img src=c.png alt=cat></a>") ==
        "[image: A dog](https://a.org/docs/i.png) [[image: cat]](https://a.org/b)\n");
}

TEST_CASE("a link that is no web address is only its text") {
  CHECK(text_of("<a href='javascript:x()'>a</a> <a href='mailto:x@y.org'>b</a> <a>c</a> "
                "<a href=/empty></a><a href='http://old.org/'>d</a>") ==
        "a b c [d](http://old.org/)\n");
}

TEST_CASE("invalid HTML still gives its text") {
  CHECK(text_of("") == "");
  CHECK(text_of("plain & <b>bold</i> text") == "plain & bold text\n");
  CHECK(text_of("<p>a<p>b</div>c") == "a\n\nbc\n");
  CHECK(text_of("<p title='x") == "");
  CHECK(text_of("<p>\xC3\xA4\xE2\x82\xAC&auml;&#x20AC;") ==
        "\xC3\xA4\xE2\x82\xAC\xC3\xA4\xE2\x82\xAC\n");
  // The page declares an encoding, but the text is UTF-8 already.
  CHECK(text_of("<meta charset=latin1><p>\xC3\xA4") == "\xC3\xA4\n");
}

TEST_CASE("depth, size and time are bounded") {
  std::string deep;
  for (int i = 0; i < 200'000; ++i) deep += "<b>";
  for (int i = 0; i < 200'000; ++i) deep += "</i>";
  const ReadableText nested = read("<p>before" + deep + "after");
  CHECK_FALSE(nested.complete);
  CHECK(nested.text == "before\n");

  std::string links;
  for (int i = 0; i < 100'000; ++i) links += "<a href=x>y</a> ";
  const ReadableText large = read(links, {.text_bytes_max = 10'000});
  CHECK_FALSE(large.complete);
  CHECK(large.text.size() < 10'000 + 4'096 * 16);

  int left = 3;
  const auto stopped =
      readable_text(std::string(100'000, 'x') + "<p>", kBase, [&] { return --left == 0; });
  REQUIRE(stopped);
  CHECK_FALSE(stopped->complete);
}

TEST_CASE("a text that the parser holds back until the end is bounded too") {
  const std::string amps(1'000'000, '&');
  const ReadableText large = read(amps, {.text_bytes_max = 10'000});
  CHECK_FALSE(large.complete);
  CHECK(large.text.size() < 11'000);
  int left = 300;  // the pieces are 245
  const auto stopped = readable_text(amps, kBase, [&] { return --left <= 0; });
  REQUIRE(stopped);
  CHECK_FALSE(stopped->complete);
  CHECK(stopped->text.size() < amps.size());
}

TEST_CASE("a tag with very many attributes ends the page, and one with a long attribute does not") {
  std::string names;
  for (int i = 0; i < 200'000; ++i) names += " a" + std::to_string(i);
  for (const std::string& tag : {"<b" + names + ">", "<b x='>' y=\">\"" + names + ">",
                                 "<b =\"" + names + "\">", "<b" + names}) {
    const ReadableText page = read("<p>before</p>" + tag + "after");
    CHECK_FALSE(page.complete);
    CHECK(page.text == "before\n");
  }
  CHECK(text_of("<p>a<img alt=i src='data:image/png;base64," + std::string(300'000, '=') +
                "'><b x='" + names + "'>b</b>") == "a [image: i] b\n");
}

TEST_CASE("characters at the edge of a piece stay whole") {
  std::string html = "<p>";
  std::string expected;
  for (int i = 0; i < 5'000; ++i) expected += "\xE2\x82\xAC";
  CHECK(text_of(html + expected + "</p>") == expected + "\n");
}

}  // namespace agentrt::adapters
