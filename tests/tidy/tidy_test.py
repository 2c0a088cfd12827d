"""Tests each rule of tidy.py on a made-up tree that breaks it and on one that does not."""

import pathlib
import tempfile
import unittest

import cpp_text
import tidy

MODULES = "base ->\nstate -> base\nstore -> base\nchannels -> base\n"


def found(files: dict[str, str]) -> list[tuple[str, str]]:
    """(rule, path) of every violation in a tree of these files."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for path, text in {"tools/modules.txt": MODULES, **files}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return [(offence.rule, offence.path) for offence in tidy.offences(root)]


class Rules(unittest.TestCase):
    def test_a_tree_that_keeps_the_rules_has_no_offences(self):
        self.assertEqual(found({
            "README.md": "[docs](docs/a.md#the-title)\n",
            "docs/a.md": "# The title\n",
            "src/base/ids.h": "#pragma once\n",
            "src/base/ids.cc": '#include "base/ids.h"\n',
        }), [])

    def test_an_include_against_the_direction_is_an_offence(self):
        files = {"src/base/a.cc": '#include "state/b.h"\n', "src/state/b.h": "#pragma once\n"}
        self.assertEqual(found(files), [("layering", "src/base/a.cc")])

    def test_an_include_in_a_comment_is_none(self):
        self.assertEqual(found({"src/base/a.cc": '// #include "state/b.h"\n'}), [])

    def test_a_module_without_a_line_is_an_offence(self):
        files = {"src/extra/a.cc": '#include "extra/a.h"\n', "src/extra/a.h": ""}
        self.assertEqual(found(files), [("layering", "src/extra/a.cc")])

    def test_a_folder_within_a_module_can_be_a_module_of_its_own(self):
        modules = "base ->\nstate -> base\nstate/fast -> base\nstore -> state/fast\n"
        files = {"tools/modules.txt": modules, "src/state/a.h": "", "src/state/fast/b.h": ""}

        def including(path, header):
            users = {"src/base/all_test.cc": ""}  # keeps both headers alive
            users[path] = f'#include "{header}"\n'
            return [path for rule, path in found({**files, **users}) if rule == "layering"]

        self.assertEqual(including("src/state/fast/c.cc", "state/fast/b.h"), [])
        self.assertEqual(including("src/state/fast/deep/c.cc", "state/fast/b.h"), [])
        self.assertEqual(including("src/store/c.cc", "state/fast/b.h"), [])
        for path, header in [("src/store/c.cc", "state/a.h"), ("src/state/c.cc", "state/fast/b.h"),
                             ("src/state/fast/c.cc", "state/a.h")]:
            with self.subTest(path):
                self.assertEqual(including(path, header), [path])

    def test_tests_of_a_module_may_be_let_include_more(self):
        files = {"tools/modules.txt": "base ->\nstate -> base\nbase tests -> state\n",
                 "src/state/a.h": "", "src/state/a.cc": '#include "state/a.h"\n'}
        include = '#include "state/a.h"\n'
        self.assertEqual(found({**files, "src/base/b_test.cc": include}), [])
        self.assertEqual(found({**files, "src/base/b.cc": include}),
                         [("layering", "src/base/b.cc")])

    def test_the_table_of_folders_says_what_the_modules_may_include(self):
        files = {"README.md": "[a](docs/ARCHITECTURE.md)\n",
                 "tools/modules.txt": "base ->\nstate -> base\nstore -> base state\n"}
        table = "| `src/base` | a | nothing |\n| `src/state` | b | nothing |\n"
        page = ("architecture", "docs/ARCHITECTURE.md")
        for row, expected in [("| `src/store` | c | state |\n", []), ("", [page]),
                              ("| `src/store` | c | nothing |\n", [page])]:
            with self.subTest(row):
                self.assertEqual(found({**files, "docs/ARCHITECTURE.md": table + row}), expected)

    def test_a_library_header_outside_its_folder_is_an_offence(self):
        rules = {"tools/third_party.txt": "sqlite3.h -> src/store/sqlite\n"}
        inside = {"src/store/sqlite/db.cc": "#include <sqlite3.h>\n"}
        outside = {"src/channels/http.cc": "#include <sqlite3.h>\n"}
        self.assertEqual(found({**rules, **inside}), [])
        self.assertEqual(found({**rules, **outside}), [("third_party", "src/channels/http.cc")])

    def test_a_library_bound_to_one_file_may_not_enter_a_second(self):
        files = {"tools/third_party.txt": "CLI/ -> src/base (one file)\n",
                 "src/base/a.cc": "#include <CLI/CLI.hpp>\n",
                 "src/base/b.cc": "#include <CLI/CLI.hpp>\n"}
        self.assertEqual(found(files), [("third_party", "src/base/b.cc")])

    def test_pure_folders_reach_nothing_of_the_world(self):
        for line in ["auto t = std::chrono::system_clock::now();", "co_await next();",
                     "std::mutex lock;", 'auto h = getenv("HOME");', "int r = rand();",
                     'std::ofstream out("x");', "::write(1, p, n);", "time(nullptr);",
                     "#include <thread>"]:
            with self.subTest(line):
                self.assertEqual(found({"src/state/a.cc": line + "\n"}),
                                 [("purity", "src/state/a.cc")])
                self.assertEqual(found({"src/channels/a.cc": line + "\n"}), [])

    def test_words_in_comments_and_strings_are_not_calls(self):
        text = '// co_await is banned here\nconst char* s = "std::mutex";\nauto t = fact.time(0);\n'
        self.assertEqual(found({"src/state/a.cc": text}), [])

    def test_long_files_headers_and_lines_are_offences(self):
        self.assertEqual(found({"src/base/a.cc": "\n" * 601}), [("file_size", "src/base/a.cc")])
        self.assertEqual(found({"src/base/a.cc": "\n" * 600}), [])
        included = {"src/base/a.cc": '#include "base/a.h"'}
        self.assertEqual(found({"src/base/a.h": "\n" * 301, **included}),
                         [("file_size", "src/base/a.h")])
        self.assertEqual(found({"src/base/a.cc": "// " + "x" * 98}),
                         [("line_length", "src/base/a.cc")])

    def test_design_values_are_named_in_one_file(self):
        for line in ["a { color: #fff; }", "a { width: 12px; }", "a { color: rgb(0 0 0 / 1%); }"]:
            with self.subTest(line):
                self.assertEqual(found({"web/src/style/a.css": line}),
                                 [("design_values", "web/src/style/a.css")])
                self.assertEqual(found({"web/src/style/tokens.css": line}), [])
        for line in ["a { width: var(--space-8); }", "@media (max-width: 800px) {",
                     "a { margin: 0; width: 50%; flex: 1; }"]:
            self.assertEqual(found({"web/src/style/a.css": line}), [])

    def test_a_long_function_needs_an_exception_with_a_reason(self):
        text = "namespace a {\nint f(int x) {\n" + "  ++x;\n" * 69 + "}\n}\n"
        self.assertEqual(found({"src/base/a.cc": text}), [("function_size", "src/base/a.cc")])
        listed = {"src/base/a.cc": text,
                  "tools/tidy_exceptions.txt": "src/base/a.cc: a table of cases\n"}
        self.assertEqual(found(listed), [])
        bare = {**listed, "tools/tidy_exceptions.txt": "src/base/a.cc:\n"}
        self.assertEqual(found(bare), [("exceptions", "tools/tidy_exceptions.txt")])

    def test_an_exception_that_is_not_needed_is_an_offence(self):
        files = {"src/base/a.cc": "\n", "tools/tidy_exceptions.txt": "src/base/a.cc: once long\n"}
        self.assertEqual(found(files), [("exceptions", "tools/tidy_exceptions.txt")])

    def test_names_that_say_nothing_are_offences(self):
        self.assertEqual(found({"src/base/string_util.cc": ""}),
                         [("names", "src/base/string_util.cc")])
        for name in ["SessionManager", "HTTPHelper", "StoreImpl", "CodecV2"]:
            with self.subTest(name):
                self.assertEqual(found({"src/base/a.cc": f"class {name} {{}};\n"}),
                                 [("names", "src/base/a.cc")])
        self.assertEqual(found({"src/base/a.cc": "struct Implied {}; struct Utility {};\n"}), [])

    def test_listed_phrases_are_offences_in_sentences(self):
        phrases = {"tools/phrases.txt": "odd +words? -> plain words\n"}
        for path, text in {
                "README.md": "Some odd\nwords.\n",
                "src/base/a.cc": "// An ODD\n// word.\n",
                "src/base/b.cc": 'f("an odd "\n  "word");\n',
                "tests/a.py": '"""Odd\nwords."""\n',
                "tests/b.py": "x = 1  # odd words\n",
                "dev": "# odd\n# words\n"}.items():
            with self.subTest(path):
                self.assertEqual(found({**phrases, path: text}), [("wording", path)])

    def test_listed_phrases_are_found_neither_in_code_nor_across_texts(self):
        phrases = {"tools/phrases.txt": "odd words -> plain words\n"}
        self.assertEqual(found({
            **phrases,
            "README.md": "`odd words`\n\n```\nodd words\n```\n",
            "src/base/a.cc": 'f("odd", "words");\nint odd; words();\n// odd\nint x;  // words\n',
            "tests/a.py": 'f("odd", "words")\nodd = words\n'}), [])

    def test_marks_of_unfinished_work_are_offences(self):
        self.assertEqual(found({"src/base/a.cc": f"// {tidy.MARKS[0]} later\n"}),
                         [("marks", "src/base/a.cc")])

    def test_a_header_that_nobody_includes_is_an_offence(self):
        self.assertEqual(found({"src/base/a.h": ""}), [("dead_files", "src/base/a.h")])

    def test_support_for_tests_lives_in_testing_folders(self):
        at_home = {"src/base/testing/fake_clock.h": "",
                   "src/base/a_test.cc": '#include "base/testing/fake_clock.h"\n'}
        self.assertEqual(found(at_home), [])
        outside = {"src/base/clock.h": "", "src/base/a_test.cc": '#include "base/clock.h"\n'}
        self.assertEqual(found(outside), [("test_support", "src/base/clock.h")])
        used = {**outside, "src/base/clock.cc": '#include "base/clock.h"\n'}
        self.assertEqual(found(used), [])
        fake = {"src/base/fake_clock.h": "", "src/base/a.cc": '#include "base/fake_clock.h"\n'}
        self.assertEqual(found(fake), [("test_support", "src/base/fake_clock.h")])

    def test_the_product_includes_nothing_of_a_testing_folder(self):
        files = {"src/base/testing/fake_clock.h": "",
                 "src/base/a.cc": '#include "base/testing/fake_clock.h"\n'}
        self.assertEqual(found(files), [("test_support", "src/base/a.cc")])

    def test_a_tool_is_told_by_its_descriptor_and_not_by_its_name(self):
        spec = ('inline constexpr ToolSpec kShell = {\n    .name = "shell",\n'
                '    .description = "Runs.",\n};\n')
        files = {"tools/modules.txt": MODULES + "tools ->\n",
                 "src/tools/shell.h": spec,
                 "src/tools/registry.cc": '#include "tools/shell.h"\n',
                 "src/base/a.cc": '// the tool "shell"\nbool b = name == "shells";\n',
                 "src/base/a_test.cc": 'bool b = name == "shell";\n'}
        self.assertEqual(found(files), [])
        files["src/base/a.cc"] = 'bool b = name == "shell";\n'
        self.assertEqual(found(files), [("tool_names", "src/base/a.cc")])

    def test_a_page_that_nobody_links_is_an_offence(self):
        self.assertEqual(found({"docs/a.md": "text\n"}), [("dead_files", "docs/a.md")])

    def test_links_must_lead_somewhere(self):
        self.assertEqual(found({"README.md": "[a](docs/a.md)\n"}), [("doc_links", "README.md")])
        files = {"README.md": "[a](docs/a.md#nowhere)\n", "docs/a.md": "# Here\n"}
        self.assertEqual(found(files), [("doc_links", "README.md")])

    def test_paths_of_one_machine_are_offences(self):
        self.assertEqual(found({"README.md": f"see {tidy.MACHINE_PATHS[0]}x\n"}),
                         [("machine_paths", "README.md")])
        self.assertEqual(found({"README.md": f"see net{tidy.MACHINE_PATHS[0]}x\n"}), [])

    def test_a_folder_with_too_many_sources_is_an_offence(self):
        files = {f"src/base/a{n}.cc": "" for n in range(21)}
        self.assertEqual(found(files), [("folders", "src/base")])
        tests = {f"src/base/a{n}_test.cc": "" for n in range(30)}
        self.assertEqual(found(tests), [])


class Functions(unittest.TestCase):
    def lengths(self, text: str) -> dict[str, int]:
        return {name: lines for name, _, lines in cpp_text.functions(text)}

    def test_functions_are_found_with_their_length(self):
        text = ("namespace n {\n"
                "struct S {\n  int get() const { return 1; }\n};\n"
                "std::string f(int a,\n              int b) {\n  if (a) {\n  }\n  return {};\n}\n"
                "}\n")
        self.assertEqual(self.lengths(text), {"get": 1, "f": 6})

    def test_braces_in_strings_and_comments_do_not_count(self):
        text = 'int f() {\n  return g("}{");  // }\n}\nint h() { return \'{\'; }\n'
        self.assertEqual(self.lengths(text), {"f": 3, "h": 1})

    def test_tables_are_not_functions(self):
        self.assertEqual(self.lengths("const Row kRows[] = {\n  {1, f(2)},\n  {2, 3},\n};\n"), {})

    def test_raw_strings_do_not_confuse(self):
        self.assertEqual(self.lengths('int f() {\n  return g(R"({ "a": {)");\n}\n'), {"f": 3})

    def test_digit_separators_are_not_character_literals(self):
        self.assertEqual(self.lengths("int f() {\n  return 1'000 + 2'000;\n}\n"), {"f": 3})


if __name__ == "__main__":
    unittest.main()
