// validate/testing/story.h: a readable text format for event streams.
//
// A file of tests/conformance holds stories. "breaks: NAME" begins a stream that breaks the rule
// the file is named after and no other rule. "near: NAME" begins one that comes close and breaks no
// rule. "also: RULE" allows a story to break another rule too. The lines that follow are events:
//
//   TYPE [id=VALUE ...] [{MEMBERS}]
//
// The envelope is generated: sequence and time count up, every id that the type needs has a default
// value (session s, thread t, turn u, ...), and the payload is the default payload of the type,
// overridden by MEMBERS. `turn=u2` sets an id, `turn=` omits it. `seq=`, `at=` and `event=` change
// the envelope. `^sequence="3"` sets an envelope member to any JSON value, `^sequence=` omits it.
// "!{...}" replaces the whole payload, "-NAME" drops one member, `fill=text:5000` makes a long one.
// "@NAME" inserts the lines that scenes.txt has under "scene: NAME". "raw TEXT" is a verbatim line.
// A line that ends in a backslash continues on the next line. "#" begins a comment.
//
// `let turn=u2 task=k2 run=r2` adds these ids to every later event that has turn=u2.
// A file of tests/conformance/good is one stream in the same format, which breaks no rule.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agentrt::validate {

struct Story {
  enum class Kind { breaks, near };
  Kind kind = Kind::near;
  std::string name;
  std::vector<std::string> also;   // other rules that it may break
  std::vector<std::string> lines;  // the stream, as JSON
};

struct StoryFile {
  std::string rule;  // the file's name
  std::vector<Story> stories;
};

// The members of an object in order, each with its value as JSON.
using Members = std::vector<std::pair<std::string, std::string>>;

Members members_of(std::string_view object);
std::string object_of(const Members& members);
void put(Members& members, const std::string& name, std::string value);

struct Stream {
  std::string name;
  std::vector<std::string> lines;
};

// The path of the repository's tests/conformance.
std::string stories_folder();
// Every file of the folder except scenes.txt and payloads.txt, sorted by name.
std::vector<StoryFile> read_stories(const std::string& folder);
// The streams of the subfolder `good`, sorted by name.
std::vector<Stream> read_streams(const std::string& folder);

}  // namespace agentrt::validate
