// control/folders_test.cc: tests the folders of a session that a command creates or continues.
#include "control/folders.h"

#include <doctest/doctest.h>

#include "control/testing/given.h"

namespace agentrt::control {

using namespace schema;
using state::Given;
using state::kSession;
using state::kThread;

namespace {

const Error kForbidden{Code::forbidden, "/e lies outside", {}};

Inputs finding(FolderChoice real, std::optional<Error> refusal = {}) {
  Inputs inputs = inputs_at(state::kStart);
  inputs.named.folders = FolderFinding{std::move(real), std::move(refusal)};
  return inputs;
}

SubmitTurn submit(TurnOptions options) {
  return {.session_id = kSession,
          .thread_id = kThread,
          .input = {text_part("ask")},
          .options = std::move(options)};
}

const std::vector<std::string> kBeside{"/beside"};

Given with_folders() {
  Given past;
  return past.fact(SessionScope{kSession},
                   SessionCreated{.cwd = "/w", .additional_roots = kBeside});
}

}  // namespace

TEST_CASE("a new session gets its folders without symlinks") {
  const Inputs inputs = finding({.cwd = "/real", .additional_roots = {"/real/beside"}});
  const auto made =
      when(Given{}.view(), CreateSession{.cwd = "/link", .additional_roots = {{"/link/beside"}}},
           inputs);
  CHECK(made.payload_of<SessionCreated>() ==
        SessionCreated{.cwd = "/real", .additional_roots = {{"/real/beside"}}});
  CHECK(made.reply<SessionReply>().cwd == "/real");
  const auto submitted = when(
      Given{}.view(), submit({.cwd = "/link", .additional_roots = {{"/link/beside"}}}), inputs);
  CHECK(submitted.payload_of<SessionCreated>() ==
        SessionCreated{.cwd = "/real", .additional_roots = {{"/real/beside"}}});
}

TEST_CASE("a folder that the caller may not open creates no session") {
  const Inputs inputs = finding({.cwd = "/e", .additional_roots = {}}, kForbidden);
  CHECK(when(Given{}.view(), CreateSession{.cwd = "/e"}, inputs).shape() == "refused: forbidden");
  CHECK(when(Given{}.view(), submit({.cwd = "/e"}), inputs).shape() == "refused: forbidden");
  CHECK(when(Given{}.view(), submit({}), inputs).shape() == "refused: forbidden");
}

TEST_CASE("a token's folder is where it creates its session") {
  const Inputs inputs = finding({.cwd = "/token", .additional_roots = {}});
  CHECK(when(Given{}.view(), CreateSession{}, inputs).payload_of<SessionCreated>().cwd == "/token");
  CHECK(when(Given{}.view(), submit({}), inputs).payload_of<SessionCreated>().cwd == "/token");
}

TEST_CASE("a session keeps its folders: its own may be named by anybody, others are refused") {
  const auto view = with_folders().view();
  const auto shape = [&](TurnOptions options, FolderChoice real) {
    return when(view, submit(std::move(options)), finding(std::move(real), kForbidden)).shape();
  };
  CHECK(shape({.cwd = "/w"}, {.cwd = "/w", .additional_roots = {}}).starts_with("thread.started"));
  CHECK(
      shape({.cwd = "/link"}, {.cwd = "/w", .additional_roots = {}}).starts_with("thread.started"));
  CHECK(shape({.additional_roots = kBeside}, {.cwd = {}, .additional_roots = kBeside})
            .starts_with("thread.started"));
  CHECK(shape({.cwd = "/e"}, {.cwd = "/e", .additional_roots = {}}) == "refused: forbidden");
  CHECK(shape({.additional_roots = {{"/e"}}}, {.cwd = {}, .additional_roots = {"/e"}}) ==
        "refused: forbidden");
  for (const TurnOptions& options :
       {TurnOptions{.cwd = "/other"}, TurnOptions{.additional_roots = {{"/other"}}}})
    CHECK(when(view, submit(options), inputs_at(state::kStart)).shape() == "refused: conflict");
}

TEST_CASE("a path that is none is refused before anything else") {
  const std::string nul("/w\0x", 4);
  for (const std::string& path : {std::string("w"), std::string(), nul}) {
    CHECK(when(Given{}, CreateSession{.cwd = path}).shape() == "refused: invalid_params");
    CHECK(when(Given{}, submit({.cwd = path})).shape() == "refused: invalid_params");
    CHECK(when(Given{}, submit({.additional_roots = {{path}}})).shape() ==
          "refused: invalid_params");
    CHECK(when(with_folders(), submit({.cwd = path})).shape() == "refused: invalid_params");
  }
}

}  // namespace agentrt::control
