// Parses redirections and here-documents.
#include "policy/shell/reader.h"

#include <algorithm>

namespace agentrt::policy::shell {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_descriptor(const Word& word) {
  const auto value = literal(word);
  if (!value || value->empty()) return false;
  const std::string_view digits =
      value->ends_with('-') ? std::string_view(*value).substr(0, value->size() - 1) : *value;
  return std::ranges::all_of(digits, is_digit);
}

}  // namespace

// Parses a redirection with its number or {name}. False: there is none; nothing is consumed.
bool Reader::redirection(std::vector<Redirection>& out) {
  const std::size_t before = position_;
  while (is_digit(peek())) take();
  if (position_ == before && peek() == '{') {
    take();
    const std::string of = name();
    if (of.empty() || !take_if("}"))
      position_ = before;
    else if (peek() == '<' || peek() == '>') {
      only_bash();
      reading_.script.unsure_names.insert(of);
    }
  }
  const bool both = position_ == before && (looking_at("&>") || looking_at("&>>"));
  const bool substitution = position_ == before && peek(1) == '(';
  if (!both && ((peek() != '<' && peek() != '>') || substitution)) {
    position_ = before;
    return false;
  }
  Redirection made;
  if (both || looking_at("<<<")) only_bash();
  if (take_if("<<<")) {
    made.kind = Redirection::Kind::here_text;
  } else if (take_if("<<")) {
    const bool strips = take_if("-");
    std::string sign(text_.substr(before, position_ - before));
    redirect_here(out, strips ? Indent::tabs_stripped : Indent::kept);
    if (!out.empty()) out.back().sign = std::move(sign);
    return true;
  } else if (take_if(">&") || take_if("<&")) {
    made.kind = Redirection::Kind::descriptor;
  } else if (take_if("<>") || take_if("&>>") || take_if(">>")) {
    made.kind = Redirection::Kind::write;
    made.appends = true;
  } else if (take_if("&>") || take_if(">|")) {
    made.kind = Redirection::Kind::write;
  } else {
    made.kind = take() == '<' ? Redirection::Kind::read : Redirection::Kind::write;
  }
  made.sign = std::string(text_.substr(before, position_ - before));
  skip_blanks();
  if (!at_word()) {
    fail("syntax error: a redirection has no target");
    return true;
  }
  made.target = word();
  refuse_number(made.target);
  // >& with a name writes that file; a computed target may be a name.
  if (made.kind == Redirection::Kind::descriptor && !is_descriptor(made.target) &&
      made.target.source != "-") {
    only_bash();
    made.kind = Redirection::Kind::write;
  }
  if (made.kind == Redirection::Kind::here_text) {
    if (const auto value = literal(made.target)) {
      made.body = *value;
      made.literal_body = true;
    }
  }
  out.push_back(std::move(made));
  return true;
}

// In `<<< 2> x` bash takes the 2 as the number of the next redirection.
void Reader::refuse_number(const Word& target) {
  if ((peek() == '<' || peek() == '>') && std::ranges::all_of(target.source, is_digit))
    fail("syntax error: the target of a redirection is another redirection");
}

// Parses the delimiter after `<<`. Any quote in it prevents expansion of the body.
void Reader::redirect_here(std::vector<Redirection>& out, Indent indent) {
  skip_blanks();
  if (!at_word()) return fail("a here-document has no delimiter");
  const Word delimiter = word();
  refuse_number(delimiter);
  PendingHere here{.delimiter = {}, .quoting = Quoting::none, .indent = indent, .command = {}};
  for (const Piece& piece : delimiter.pieces) {
    if (piece.kind != Piece::Kind::text)
      doubt("the delimiter of a here-document looks like an expansion");
    if (piece.quoting == Quoting::quoted) here.quoting = Quoting::quoted;
    here.delimiter += piece.text;
  }
  if (here.delimiter.find('\n') != std::string::npos || here.delimiter.empty())
    doubt("the delimiter of a here-document is not supported");
  here.redirection = out.size();
  pending_.push_back(std::move(here));
  out.push_back({.kind = Redirection::Kind::here_text, .target = {}, .body = {}});
}

// Reads the bodies of all here-documents of the line that has ended.
void Reader::read_here_bodies() {
  std::vector<PendingHere> due;
  due.swap(pending_);
  here_read_ = here_read_ || !due.empty();
  for (const PendingHere& here : due) {
    std::string body;
    bool found = false;
    while (position_ < end_ && !found) {
      std::string line;
      bool more = true;
      // In an unquoted here-document a backslash at the end of a line joins it with the next.
      while (more) {
        more = false;
        const std::size_t stop = std::min(text_.substr(0, end_).find('\n', position_), end_);
        line += text_.substr(position_, stop - position_);
        position_ = std::min(stop + 1, end_);
        const std::size_t letters = line.find_last_not_of('\\');
        const std::size_t slashes = line.size() - (letters == std::string::npos ? 0 : letters + 1);
        if (here.quoting == Quoting::none && slashes % 2 == 1 && position_ < end_) {
          line.pop_back();
          more = true;
        }
      }
      if (here.indent == Indent::tabs_stripped) {
        const std::size_t tabs = std::min(line.find_first_not_of('\t'), line.size());
        line.erase(0, tabs);
      }
      found = line == here.delimiter;
      // Inside a substitution bash may end the body there, and parse the rest as commands.
      if (!found && substitutions_ > 0 && line.starts_with(here.delimiter))
        doubt("a line of a here-document starts with its delimiter");
      if (!found) body += line + "\n";
    }
    if (!found) doubt("a here-document has no end");
    const bool expands =
        here.quoting == Quoting::none && body.find_first_of("$`\\") != std::string::npos;
    if (expands) expand_here_body(body);
    if (here.command && *here.command < reading_.script.commands.size() && !expands) {
      auto& redirections = reading_.script.commands[*here.command].redirections;
      if (here.redirection < redirections.size()) {
        redirections[here.redirection].body = body;
        redirections[here.redirection].literal_body = true;
      }
    }
  }
}

// Parses redirections after a compound command. They are stored as a command without words.
void Reader::trailing_redirections() {
  SimpleCommand out;
  for (skip_blanks(); redirection(out.redirections); skip_blanks()) {
  }
  if (out.redirections.empty()) return;
  auto& commands = reading_.script.commands;
  for (PendingHere& here : pending_)
    if (!here.command) here.command = commands.size();
  out.of_compound = true;
  reading_.script.joints.push_back({{}, commands.size()});
  commands.push_back(std::move(out));
}

}  // namespace agentrt::policy::shell
