// validate/story.h: streams as readable text, for tests.
//
// A file of tests/conformance holds stories. "breaks: NAME" begins a stream that breaks the rule
// the file is named after and no other; "near: NAME" one that comes close and breaks nothing;
// "also: RULE" lets a story break a further rule. The lines behind it are events:
//
//   TYPE [id=VALUE ...] [{MEMBERS}]
//
// The envelope is filled in: sequence and time count up, every id that the type needs has a
// standing value (session s, thread t, turn u, ...), and the payload is the type's usual one with
// MEMBERS put over it. `turn=u2` gives an id another value, `turn=` leaves it out; `seq=`, `at=`
// and `event=` change the envelope, and `^sequence="3"` puts any JSON there, `^sequence=` nothing.
// "!{...}" replaces the whole payload, "-NAME" drops one member, `fill=text:5000` makes a long one.
// "@NAME" stands for the lines that scenes.txt has under "scene: NAME"; "raw TEXT" is a line as it
// is; a line that ends in a backslash goes on in the next; "#" begins a comment.
//
// `let turn=u2 task=k2 run=r2` gives every later event that says turn=u2 the ids that go with it.
// A file of tests/conformance/good is one stream in the same words, which breaks nothing.
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
  std::vector<std::string> also;   // further rules that it may break
  std::vector<std::string> lines;  // of the stream, as JSON
};

struct StoryFile {
  std::string rule;  // the file's name
  std::vector<Story> stories;
};

// The members of an object in their order, each with its value as JSON.
using Members = std::vector<std::pair<std::string, std::string>>;

Members members_of(std::string_view object);
std::string object_of(const Members& members);
void put(Members& members, const std::string& name, std::string value);

struct Stream {
  std::string name;
  std::vector<std::string> lines;
};

// The repository's tests/conformance.
std::string stories_folder();
// Every file of the folder but scenes.txt and payloads.txt, by name.
std::vector<StoryFile> read_stories(const std::string& folder);
// The streams of its folder `good`, by name.
std::vector<Stream> read_streams(const std::string& folder);

}  // namespace agentrt::validate
