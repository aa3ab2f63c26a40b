#include "ads/yaml/yaml.h"

#include <gtest/gtest.h>

#include <utility>

namespace ads {
namespace {

// What PyYAML 6 and str() make of a plain scalar; compat/opctl.md 3.1.
TEST(PyYaml_PlainScalars, ReadAsYaml11) {
  const std::pair<const char*, const char*> cases[] = {
      {"yes", "True"},
      {"Off", "False"},
      {"TRUE", "True"},
      {"null", "None"},
      {"~", "None"},
      {"", "None"},
      {"1.0", "1.0"},
      {"010", "8"},
      {"08", "08"},
      {"0x1F", "31"},
      {"0b11", "3"},
      {"1_000", "1000"},
      {"12:30:45", "45045"},
      {"-1", "-1"},
      {"1e5", "1e5"},
      {"1.5e3", "1.5e3"},
      {"1.5e+3", "1500.0"},
      {"1.0e+16", "1e+16"},
      {".5", "0.5"},
      {"5.", "5.0"},
      {".inf", "inf"},
      {"-.INF", "-inf"},
      {".nan", "nan"},
      {"y", "y"},
      {"0.00001", "1e-05"},
      {"yEs", "yEs"},
      {"0", "0"},
      {"-0", "0"},
      {"1:2.5", "62.5"},
      {"2026-07-30", "2026-07-30"},
      {"99999999999999999999", "99999999999999999999"},
      {"2026-07-30T10:00:00Z", "2026-07-30 10:00:00+00:00"},
      {"2026-07-30 1:00:00.5", "2026-07-30 01:00:00.500000"}};
  for (const auto& [text, expected] : cases) {
    EXPECT_EQ(PyStr(ResolvePyScalar(text)), expected) << text;
  }
}

TEST(PyYaml_Values, PrintAsPythonDoes) {
  const auto value = ReadPyYaml("{k: v, n: 1, l: [a, 'it''s', null, true], 2: {}}");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(PyStr(*value), "{'k': 'v', 'n': 1, 'l': ['a', \"it's\", None, True], 2: {}}");
}

TEST(PyYaml_Keys, LastOfTheSameCountsAndIsNoted) {
  const auto value = ReadPyYaml("a: 1\nb: 2\na: 3\n");
  ASSERT_TRUE(value);
  EXPECT_EQ(PyStr(*value), "{'a': 3, 'b': 2}");
  EXPECT_EQ(value->members[0].first_line, 1U);
  EXPECT_EQ(value->members[0].line, 3U);
}

TEST(PyYaml_AnchorsAndMerges, AreResolved) {
  const auto value = ReadPyYaml("a: &x {p: 1, q: 2}\nb:\n  <<: *x\n  q: 3\nc: *x\n");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(PyStr(*value), "{'a': {'p': 1, 'q': 2}, 'b': {'p': 1, 'q': 3}, 'c': {'p': 1, 'q': 2}}");
}

TEST(PyYaml_Merges, GoBeforeTheMapsOwnKeys) {
  const auto read = [](const std::string& merge) {
    const auto value = ReadPyYaml("- &a {x: 1, y: 2}\n- &b {y: 3, z: 4}\n- " + merge + "\n");
    return value ? PyStr(value->items[2]) : value.error().message;
  };
  EXPECT_EQ(read("{y: own, <<: *a}"), "{'x': 1, 'y': 'own'}");
  EXPECT_EQ(read("{<<: [*a, *b], w: 0}"), "{'y': 2, 'z': 4, 'x': 1, 'w': 0}");
  EXPECT_EQ(read("{<<: *a, <<: *b}"), "{'x': 1, 'y': 3, 'z': 4}");
  EXPECT_EQ(read("{'<<': *a}"), "{'<<': {'x': 1, 'y': 2}}");
  EXPECT_EQ(read("{<<: [[*a]]}"), "line 3 column 8: << wants a map or a list of maps");
}

TEST(PyYaml_Dump, NamesWhatStandsTwice) {
  const auto value =
      ReadPyYaml("a: &x [1]\nb: {c: *x, d: &y {}}\ne: *y\nf: [*x, &z 2026-07-30, *z]\n");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(DumpPyYaml(*value),
            "a: &id001\n- 1\nb:\n  c: *id001\n  d: &id002 {}\ne: *id002\nf:\n- *id001\n"
            "- &id003 2026-07-30\n- *id003\n");
}

TEST(PyYaml_Dump, KeysAreWhatTheyAre) {
  const auto dumped = [](const std::string& text) { return DumpPyYaml(*ReadPyYaml(text)); };
  EXPECT_EQ(dumped("{10: a, 9: b, yes: c}"), "true: c\n9: b\n10: a\n");
  EXPECT_EQ(dumped("{b: 1, 2: 3, ~: 4}"), "b: 1\n2: 3\nnull: 4\n");
}

TEST(PyYaml_Dates, HaveAReprOfTheirOwn) {
  const auto value = ReadPyYaml(
      "[2026-7-3 0:00:00, 2026-07-30, 2001-12-14t21:59:43.10-05:00, 2026-07-30T10:00:01Z]");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(PyStr(*value),
            "[datetime.datetime(2026, 7, 3, 0, 0), datetime.date(2026, 7, 30), "
            "datetime.datetime(2001, 12, 14, 21, 59, 43, 100000, tzinfo=datetime.timezone("
            "datetime.timedelta(days=-1, seconds=68400))), "
            "datetime.datetime(2026, 7, 30, 10, 0, 1, tzinfo=datetime.timezone.utc)]");
  EXPECT_EQ(PyStr(value->items[0]), "2026-07-03 00:00:00");
}

TEST(PyYaml_Errors, NameThePlace) {
  EXPECT_EQ(ReadPyYaml("a: [1\nb: 2\n").error().message,
            "line 2 column 2: did not find expected ',' or ']'");
  EXPECT_EQ(ReadPyYaml("a: *x\n").error().message, "line 1 column 4: found undefined alias 'x'");
  EXPECT_FALSE(ReadPyYaml("a: 1\n---\nb: 2\n"));
  EXPECT_FALSE(ReadPyYaml(std::string(500, '[')));
}

TEST(PyYaml_AliasBomb, Ends) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  const auto value = ReadPyYaml(bomb);
  ASSERT_FALSE(value);
  EXPECT_NE(value.error().message.find("too many values"), std::string::npos);
}

TEST(PyYaml_Dump, QuotesWhatWouldReadBackOtherwise) {
  const auto dumped = [](const std::string& text) {
    PyValue map;
    map.Set("k", PyValue::String(text));
    return DumpPyYaml(map);
  };
  EXPECT_EQ(dumped("3"), "k: '3'\n");
  EXPECT_EQ(dumped("True"), "k: 'True'\n");
  EXPECT_EQ(dumped(""), "k: ''\n");
  EXPECT_EQ(dumped("None"), "k: None\n");
  EXPECT_EQ(dumped("a: b"), "k: 'a: b'\n");
  EXPECT_EQ(dumped("a #b"), "k: 'a #b'\n");
  EXPECT_EQ(dumped("{'k': 'v'}"), "k: '{''k'': ''v''}'\n");
  EXPECT_EQ(dumped(" x"), "k: ' x'\n");
  EXPECT_EQ(dumped("a\nb"), "k: 'a\n\n  b'\n");
  EXPECT_EQ(dumped("caf\xC3\xA9"), "k: \"caf\\xE9\"\n");
  EXPECT_EQ(dumped("\t"), "k: \"\\t\"\n");
  EXPECT_EQ(dumped("-"), "k: '-'\n");
  EXPECT_EQ(dumped("--a"), "k: --a\n");
}

TEST(PyYaml_Dump, FoldsAtTheFirstSpaceAfterColumn80) {
  PyValue map;
  map.Set("k", PyValue::String(std::string(80, 'a') + " b c"));
  EXPECT_EQ(DumpPyYaml(map), "k: " + std::string(80, 'a') + "\n  b c\n");
  PyValue two;
  two.Set("k", PyValue::String(std::string(80, 'a') + "  b c"));
  EXPECT_EQ(DumpPyYaml(two), "k: " + std::string(80, 'a') + "  b\n  c\n");
}

TEST(PyYaml_Dump, LongKeysStandAlone) {
  const std::string key(123, 'k');
  const auto value = ReadPyYaml("{? " + key + " : {a: [1]}, '': x, \"a\\nb\": [1, 2]}");
  ASSERT_TRUE(value) << value.error().message;
  EXPECT_EQ(DumpPyYaml(*value),
            "? ''\n: x\n? 'a\n\n  b'\n: - 1\n  - 2\n? " + key + "\n: a:\n  - 1\n");
}

TEST(PyYaml_Dump, SortsKeysAndLeavesListsAtTheirKey) {
  const auto value = ReadPyYaml("b: [1, {x: 1, w: []}, [2]]\na: {}\n");
  ASSERT_TRUE(value);
  EXPECT_EQ(DumpPyYaml(*value), "a: {}\nb:\n- 1\n- w: []\n  x: 1\n- - 2\n");
}

}  // namespace
}  // namespace ads
