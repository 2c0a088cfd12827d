// tests/fuzz/texts.h: generates random shell texts from a grammar of all constructs that the parser
// knows.
//
// Commands are a1, a2 and `s1 sub`, which the rules allow, and x1, x2 and s1 alone, which no rule
// allows. The same seed gives the same texts.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

class Texts {
 public:
  explicit Texts(std::uint64_t seed) : random_(seed) {}

  std::string next();

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint64_t>(n)); }
  std::string one(std::initializer_list<const char*> of) {
    return of.begin()[below(static_cast<int>(of.size()))];
  }

  // grammar (texts.cc)
  std::string program();
  std::string word(int depth);
  std::string quoted_list(int depth);
  std::string nested();
  std::string around(const std::string& inner);
  std::string redirection(int depth);
  std::string simple(int depth);
  std::string here(int depth);
  std::string command(int depth);
  std::string list(int depth);
  void damage(std::string& text);

  // constructs that bash evaluates (evaluations.cc)
  std::string evaluation();
  std::string name();
  std::string value();
  std::string assigned(const std::string& name, const std::string& value);
  std::string in_arithmetic(const std::string& name);
  std::string in_builtin(const std::string& name);
  std::string in_words(const std::string& name);

  std::mt19937_64 random_;
};
