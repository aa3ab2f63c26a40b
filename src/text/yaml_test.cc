#include "text/yaml.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

#include "text/testing/json_generator.h"

namespace text {
namespace {

// The value as compact JSON, or "error: ...".
std::string Read(std::string_view yaml) {
  const auto parsed = ParseYaml(yaml);
  if (parsed) return ToJson(*parsed);
  EXPECT_EQ(parsed.error().code, base::Code::kInvalidArgument);
  return "error: " + parsed.error().message;
}

std::string Written(std::string_view json) {
  const auto parsed = ParseJson(json);
  EXPECT_TRUE(parsed.has_value()) << json;
  return parsed ? ToYaml(*parsed) : "";
}

TEST(ParseYaml, NoTextIsNull) { EXPECT_EQ(Read(std::string_view()), "null"); }

TEST(ParseYaml, ReadsBlocksAndFlows) {
  EXPECT_EQ(Read("apiVersion: v1\nspec:\n  list:\n  - a\n  - b: 1\n    c: [1, {d: e}]\n"),
            R"({"apiVersion":"v1","spec":{"list":["a",{"b":1,"c":[1,{"d":"e"}]}]}})");
  EXPECT_EQ(Read("a: |\n  x\n   y\nb: |-\n  z\nc: >\n  f\n  g\n"),
            R"({"a":"x\n y\n","b":"z","c":"f g\n"})");
  EXPECT_EQ(Read("a: plain\n  over lines\n"), R"({"a":"plain over lines"})");
  EXPECT_EQ(Read(""), "null");
  EXPECT_EQ(Read("# nothing\n"), "null");
  EXPECT_EQ(Read("? k\n: v\n"), R"({"k":"v"})");
  EXPECT_EQ(Read("\xEF\xBB\xBF"
                 "a: 1"),
            R"({"a":1})");
}

// The values that kubectl 1.32 reads.
TEST(ParseYaml, TypesScalarsAsKubectlDoes) {
  const std::pair<std::string_view, std::string_view> kCases[] = {
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"nULL", R"("nULL")"},
      {"true", "true"},
      {"True", "true"},
      {"yes", "true"},
      {"YES", "true"},
      {"on", "true"},
      {"y", "true"},
      {"Y", "true"},
      {"yEs", R"("yEs")"},
      {"off", "false"},
      {"n", "false"},
      {"No", "false"},
      {"False", "false"},
      {"fAlse", R"("fAlse")"},
      {"0755", "493"},
      {"0o755", "493"},
      {"089", "89"},
      {"0x1F", "31"},
      {"0X1f", "31"},
      {"0b11", "3"},
      {"0b12", R"("0b12")"},
      {"0x", R"("0x")"},
      {"1_000", "1000"},
      {"_1", R"("_1")"},
      {"+1", "1"},
      {"-1", "-1"},
      {"-0x10", "-16"},
      {"+", R"("+")"},
      {"-0", "0"},
      {"9223372036854775807", "9223372036854775807"},
      {"18446744073709551615", "18446744073709551615"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"123456789012345678901234567890", "1.2345678901234568e+29"},
      {"1.5", "1.5"},
      {"1.0", "1"},
      {".5", "0.5"},
      {"5.", "5"},
      {"1e3", "1000"},
      {"1E-2", "0.01"},
      {"+.5", "0.5"},
      {".", R"(".")"},
      {"1e", R"("1e")"},
      {"1.2.3", R"("1.2.3")"},
      {"685.230_15e+03", "685230.15"},
      {".1_0", "0.1"},
      {"._1", R"("._1")"},
      {"1e400", R"("1e400")"},
      {"1e-400", "0"},
      {"nan", R"("nan")"},
      {"inf", R"("inf")"},
      {"12:30:45", R"("12:30:45")"},
      {"2001-01-01", R"("2001-01-01")"},
      {"2001-12-14t21:59:43.10-05:00", R"("2001-12-14t21:59:43.10-05:00")"},
      {"\"yes\"", R"("yes")"},
      {"'1'", R"("1")"},
      {"\"\"", R"("")"},
      {"<<", R"("<<")"},
      {"!!str 12", R"("12")"},
      {"!!int \"12\"", "12"},
      {"!!float 3", "3"},
      {"!!null ''", "null"},
      {"!!bool yes", "true"},
      {"!!binary aGVsbG8=", R"("hello")"},
      {"!custom 12", R"("12")"},
      {"! 12", R"("12")"},
      {"!!timestamp 2001-01-01", R"("2001-01-01")"}};
  for (const auto& [yaml, json] : kCases) {
    EXPECT_EQ(Read("v: " + std::string(yaml)), R"({"v":)" + std::string(json) + "}") << yaml;
  }
}

TEST(ParseYaml, RefusesWhatJsonCannotHold) {
  EXPECT_EQ(Read("a:\n  b: .inf"),
            "error: line 2 column 6: infinities and NaN have no place in JSON");
  EXPECT_TRUE(Read("-.Inf").starts_with("error: line 1"));
  EXPECT_TRUE(Read(".NaN").starts_with("error: line 1"));
  EXPECT_TRUE(Read("!!int x").starts_with("error: line 1"));
  EXPECT_TRUE(Read("!!int 1.5").starts_with("error: line 1"));
  EXPECT_TRUE(Read("!!binary '*'").starts_with("error: line 1"));
}

TEST(ParseYaml, MakesTextOfKeys) {
  EXPECT_EQ(Read("{1: a, 0x10: b, true: c, no: d, 1.5: e, 2001-01-01: f, '1.0': g}"),
            R"({"1":"a","16":"b","true":"c","false":"d","1.5":"e","2001-01-01":"f","1.0":"g"})");
  EXPECT_EQ(
      Read("{1.5e10: a, 123456789.0: b, 0.00001: c, 100000.0: d, 1000000.0: e, .inf: f}"),
      R"({"1.5e+10":"a","1.2345679e+08":"b","1e-05":"c","100000":"d","1e+06":"e",".inf":"f"})");
  EXPECT_EQ(Read("a: &k key\n*k : v\n"), R"({"a":"key","key":"v"})");
  EXPECT_TRUE(Read("~: x").starts_with("error: line 1 column 1: a key must be"));
  EXPECT_TRUE(Read("? [a]\n: x").starts_with("error: line 1 column 3: a key must be"));
}

TEST(ParseYaml, RefusesDuplicateKeys) {
  EXPECT_EQ(Read("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n"),
            "error: line 5 column 3: key \"c\" is already set in this map");
  EXPECT_TRUE(Read("{a: 1, a: 1}").starts_with("error: line 1 column 8"));
  EXPECT_TRUE(Read("{1: a, '1': b}").starts_with("error: line 1 column 8"));
}

TEST(ParseYaml, ErrorsNameLineAndColumn) {
  EXPECT_TRUE(Read("a: 1\n b: 2\n").starts_with("error: line 2 column 3: "));
  const std::string tab = "a tab at the beginning of the line: YAML is indented by spaces only";
  EXPECT_EQ(Read("a:\n\t- b"), "error: line 2 column 1: " + tab);
  EXPECT_EQ(Read("\xC3\xA9: 1\r\na:\r\n  b: 1\r\n  \tc: 2\r\n"), "error: line 4 column 3: " + tab);
  EXPECT_EQ(Read("a: @\t").find(tab), std::string::npos);
  EXPECT_TRUE(Read("a: [1, 2").starts_with("error: line 2 column 1: ")) << Read("a: [1, 2");
  EXPECT_EQ(Read("a: 'x"),
            "error: line 1 column 6: found unexpected end of stream (while scanning a quoted "
            "scalar at line 1)");
  EXPECT_TRUE(Read("ok: 1\nb: \x01").starts_with("error: line 2 column 4: "));
  EXPECT_TRUE(Read("ok: 1\nb: \xFF").starts_with("error: line 2 column 4: "));
  EXPECT_TRUE(Read(", a").starts_with("error: line 1 column 1: "));
  EXPECT_TRUE(Read("a: *x").starts_with("error: line 1 column 4: unknown anchor 'x'"));
}

TEST(ParseYaml, ResolvesAliases) {
  EXPECT_EQ(Read("a: &x {k: [1]}\nb: *x\nc: [*x, *x]\n"),
            R"({"a":{"k":[1]},"b":{"k":[1]},"c":[{"k":[1]},{"k":[1]}]})");
  EXPECT_EQ(Read("a: &x 1\nb: *x\nc: &x 2\nd: *x\n"), R"({"a":1,"b":1,"c":2,"d":2})");
  EXPECT_EQ(Read("a: &x [*x]"), "error: line 1 column 8: anchor 'x' contains itself");
}

TEST(ParseYaml, AnchorsEndWithTheirDocument) {
  EXPECT_FALSE(ParseYamlDocuments("a: &x 1\n---\nb: *x\n").has_value());
}

// A merge overrides what precedes it, as in go-yaml v2.
TEST(ParseYaml, MergesMaps) {
  EXPECT_EQ(Read("b: &b {a: 1, c: 2}\nm: {<<: *b, a: 5}\n"),
            R"({"b":{"a":1,"c":2},"m":{"a":5,"c":2}})");
  EXPECT_EQ(Read("b: &b {a: 1, c: 2}\nm: {a: 5, <<: *b}\n"),
            R"({"b":{"a":1,"c":2},"m":{"a":1,"c":2}})");
  EXPECT_EQ(Read("- &b {a: 1, c: 2}\n- &d {a: 7, d: 8}\n- {<<: [*b, *d], e: 1}\n"),
            R"([{"a":1,"c":2},{"a":7,"d":8},{"a":1,"d":8,"c":2,"e":1}])");
  EXPECT_EQ(Read("{<<: {a: 1}, b: 2}"), R"({"a":1,"b":2})");
  EXPECT_EQ(Read("{\"<<\": 1}"), R"({"<<":1})");
  EXPECT_TRUE(Read("{<<: 1}").starts_with("error: line 1 column 6: << wants"));
  EXPECT_TRUE(Read("{<<: [1]}").starts_with("error: line 1 column 6: << wants"));
  EXPECT_TRUE(Read("{<<: {a: 1}, a: 2, a: 3}").starts_with("error: line 1 column 20: key"));
}

TEST(ParseYaml, EndsAliasBombs) {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string name = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += name + (j == 9 ? "]\n" : ",");
  }
  EXPECT_NE(Read(bomb).find("aliases expand to more than 1000000 values"), std::string::npos);

  std::string text_bomb = "a: &a " + std::string(1'000'000, 'x') + "\nb: [";
  for (int i = 0; i < 1000; ++i) text_bomb += "*a,";
  EXPECT_NE(Read(text_bomb + "]").find("aliases expand"), std::string::npos);
}

TEST(ParseYaml, LimitsTheDepth) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(Read(nested(kMaxYamlDepth)), nested(kMaxYamlDepth));
  EXPECT_TRUE(Read(nested(kMaxYamlDepth + 1)).starts_with("error: line 1 column 201: more than"));
  EXPECT_TRUE(Read(std::string(1'000'000, '[')).starts_with("error: "));
  // Through aliases, too.
  std::string chain = "- &a0 []\n";
  for (int i = 1; i < 300; ++i) {
    chain += "- &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  }
  EXPECT_NE(Read(chain).find("more than 200 levels deep"), std::string::npos);
}

TEST(ParseYaml, TakesJson) {
  EXPECT_EQ(Read("{\n\t\"a\": [1, \"\\u00e9\", null],\n\t\"b\": {}}"),
            "{\"a\":[1,\"\xC3\xA9\",null],\"b\":{}}");
  // Surrogate pairs, which YAML does not have.
  EXPECT_EQ(Read(R"({"a": "\ud83d\ude00"})"), "{\"a\":\"\xF0\x9F\x98\x80\"}");
  EXPECT_TRUE(Read(R"({"a": "\ud83d"})").starts_with("error: line 1"));
}

TEST(ParseYamlDocuments, LeavesOutEmptyOnes) {
  const auto documents = ParseYamlDocuments("---\n# c\n---\na: 1\n---\n\n---\nb: 2\n...\n---\n");
  ASSERT_TRUE(documents.has_value());
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ(ToJson((*documents)[0]), R"({"a":1})");
  EXPECT_EQ(ToJson((*documents)[1]), R"({"b":2})");
  EXPECT_EQ(ParseYamlDocuments("")->size(), 0U);
}

TEST(ParseYaml, WantsOneDocument) {
  EXPECT_EQ(Read("---\na: 1\n---\n"), R"({"a":1})");
  EXPECT_EQ(Read("a: 1\n---\nb: 2\n"), "error: 2 documents where one is wanted");
}

TEST(ToYaml, LooksAsKubectlPrints) {
  EXPECT_EQ(Written(R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","labels":{}},
                        "spec":{"containers":[{"name":"c","args":["a","b"],"env":[]}],
                        "nested":[[1,2],[{"x":1}],[]]}})"),
            R"(apiVersion: v1
kind: Pod
metadata:
  labels: {}
  name: a
spec:
  containers:
  - args:
    - a
    - b
    env: []
    name: c
  nested:
  - - 1
    - 2
  - - x: 1
  - []
)");
}

// What kubectl 1.32 prints for these.
TEST(ToYaml, QuotesAsKubectlDoes) {
  EXPECT_EQ(Written(R"(["y","~","null","true","0755","1_000","0x1","1e3",".inf","2001-01-01",
                        "2001-13-01","12:30","-","- a","a: b","a #b","#a","a:","'a","\"a","@a","`a",
                        "%a","!a","&a","*a","[a","{a","|a",">a","?a","? a",",a","=","a'b","[a]","...",
                        "---","089","0o8","+","1.","1.2.3","0b2","nan","yEs",":","::","a::b",":a",
                        "-a","--","1:2","key="," a","a ","","a\tb","a\rb"])"),
            R"(- "y"
- "~"
- "null"
- "true"
- "0755"
- "1_000"
- "0x1"
- "1e3"
- ".inf"
- "2001-01-01"
- 2001-13-01
- "12:30"
- '-'
- '- a'
- 'a: b'
- 'a #b'
- '#a'
- 'a:'
- '''a'
- '"a'
- '@a'
- '`a'
- '%a'
- '!a'
- '&a'
- '*a'
- '[a'
- '{a'
- '|a'
- '>a'
- ?a
- '? a'
- ',a'
- =
- a'b
- '[a]'
- '...'
- '---'
- "089"
- 0o8
- +
- "1."
- 1.2.3
- 0b2
- nan
- yEs
- ':'
- '::'
- a::b
- :a
- -a
- --
- "1:2"
- key=
- ' a'
- 'a '
- ""
- "a\tb"
- "a\rb"
)");
}

TEST(ToYaml, WritesLinesAsBlocks) {
  EXPECT_EQ(Written(R"({"a":"x\n","b":"x\ny","c":"x\n\n","d":"\n x\ny","e":"x \ny"})"),
            "a: |\n  x\nb: |-\n  x\n  y\nc: |+\n  x\n\nd: |2-\n\n   x\n  y\ne: \"x \\ny\"\n");
}

TEST(ToYaml, WritesNumbersAsKubectlDoes) {
  EXPECT_EQ(Written("[1e21,1.5e-7,0.000001,1234567.5,1e20,100000.5,0.0001,1.0,173237167185577376.0,"
                    "18446744073709551615,-3,null,false]"),
            "- 1e+21\n- 1.5e-07\n- 1e-06\n- 1.2345675e+06\n- 1e+20\n- 100000.5\n- 0.0001\n- 1\n"
            "- 173237167185577380\n- 18446744073709551615\n- -3\n- null\n- false\n");
}

TEST(ToYaml, SortsKeysWithDigitsByNumber) {
  EXPECT_EQ(
      Written(R"({"a10":1,"a9":1,"b":1,"A":1,"_x":1,"b-1":1,"y":1,"1":1,"":1,"multi\nline":1})"),
      "\"\": 1\n_x: 1\n\"1\": 1\nA: 1\na9: 1\na10: 1\nb: 1\nb-1: 1\n? |-\n  multi\n  line\n"
      ": 1\n\"y\": 1\n");
}

TEST(ToYaml, ReplacesWhatIsNotUtf8AndNotFinite) {
  EXPECT_EQ(ToYaml(Json("a\xff")), "a\xEF\xBF\xBD\n");
  EXPECT_EQ(ToYaml(Json(std::numeric_limits<double>::infinity())), "null\n");
}

TEST(ToYaml, FoldsLongTextAndReadsItBack) {
  const std::string words =
      "a long sentence of many words that goes on and on until it is folded, "
      "and then goes on: with a colon";
  EXPECT_EQ(*ParseYaml(ToYaml(Json(words))), Json(words));
  EXPECT_NE(ToYaml(Json(words)).find("\n  "), std::string::npos);
}

RC_GTEST_PROP(YamlText, PrintsAndReadsBackTheSame, ()) {
  const Json value = *GenerateJson();
  const std::string yaml = ToYaml(value);
  const auto read = ParseYaml(yaml);
  if (!read) RC_FAIL(yaml + "\n" + read.error().message);
  if (!SameJson(*read, value)) RC_FAIL(yaml + "\n" + ToJson(*read) + "\n" + ToJson(value));
  RC_ASSERT(ToYaml(*read) == yaml);
}

// kubectl reads what the JSON printer writes.
RC_GTEST_PROP(YamlText, ReadsJson, ()) {
  const Json value = Array{*GenerateJson()};
  const auto read = ParseYaml(ToJson(value));
  if (!read) RC_FAIL(ToJson(value) + "\n" + read.error().message);
  RC_ASSERT(SameJson(*read, value));
}

TEST(ParseYamlStream, SaysWhereEachDocumentBegins) {
  const auto stream = ParseYamlStream("# first\na: 1\n---\n---\n\nb: 2\n---\n- 3\n");
  ASSERT_TRUE(stream) << stream.error().message;
  ASSERT_EQ(stream->size(), 3u);
  EXPECT_EQ((*stream)[0].line, 2u);
  EXPECT_EQ((*stream)[0].number, 1u);
  EXPECT_EQ((*stream)[1].line, 6u);
  EXPECT_EQ((*stream)[1].number, 3u);
  EXPECT_EQ((*stream)[2].line, 8u);
  EXPECT_EQ((*stream)[2].number, 4u);
}

}  // namespace
}  // namespace text
