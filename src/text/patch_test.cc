#include "text/patch.h"

#include <gtest/gtest.h>

#include <string>

namespace text {
namespace {

Json Document(std::string_view text) {
  auto parsed = ParseJson(text);
  EXPECT_TRUE(parsed.has_value()) << text << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? *parsed : Json();
}

// The result as text, or "error: ..." after checking that nothing changed.
std::string Patched(std::string_view document, std::string_view patch) {
  Json target = Document(document);
  const base::Status status = JsonPatch(target, Document(patch));
  if (status) return ToJson(target);
  EXPECT_EQ(status.error().code, base::Code::kInvalidArgument);
  EXPECT_EQ(ToJson(target), ToJson(Document(document)));
  return "error: " + status.error().message;
}

bool Fails(std::string_view document, std::string_view patch) {
  return Patched(document, patch).starts_with("error: ");
}

std::string Merged(std::string_view document, std::string_view patch) {
  Json target = Document(document);
  MergePatch(target, Document(patch));
  return ToJson(target);
}

// RFC 7386, appendix A.
TEST(MergePatch, FollowsTheCasesOfTheRfc) {
  EXPECT_EQ(Merged(R"({"a":"b"})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(Merged(R"({"a":"b"})", R"({"b":"c"})"), R"({"a":"b","b":"c"})");
  EXPECT_EQ(Merged(R"({"a":"b"})", R"({"a":null})"), R"({})");
  EXPECT_EQ(Merged(R"({"a":"b","b":"c"})", R"({"a":null})"), R"({"b":"c"})");
  EXPECT_EQ(Merged(R"({"a":["b"]})", R"({"a":"c"})"), R"({"a":"c"})");
  EXPECT_EQ(Merged(R"({"a":"c"})", R"({"a":["b"]})"), R"({"a":["b"]})");
  EXPECT_EQ(Merged(R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})"), R"({"a":{"b":"d"}})");
  EXPECT_EQ(Merged(R"({"a":[{"b":"c"}]})", R"({"a":[1]})"), R"({"a":[1]})");
  EXPECT_EQ(Merged(R"(["a","b"])", R"(["c","d"])"), R"(["c","d"])");
  EXPECT_EQ(Merged(R"({"a":"b"})", R"(["c"])"), R"(["c"])");
  EXPECT_EQ(Merged(R"({"a":"foo"})", R"(null)"), R"(null)");
  EXPECT_EQ(Merged(R"({"a":"foo"})", R"("bar")"), R"("bar")");
  EXPECT_EQ(Merged(R"({"e":null})", R"({"a":1})"), R"({"e":null,"a":1})");
  EXPECT_EQ(Merged(R"([1,2])", R"({"a":"b","c":null})"), R"({"a":"b"})");
  EXPECT_EQ(Merged(R"({})", R"({"a":{"bb":{"ccc":null}}})"), R"({"a":{"bb":{}}})");
}

TEST(MergePatch, KeepsTheOrderOfTheKeysThatStay) {
  EXPECT_EQ(Merged(R"({"a":1,"b":2,"c":3,"d":4})", R"({"b":null,"c":9})"),
            R"({"a":1,"c":9,"d":4})");
}

// RFC 6902, appendix A; the numbers are its sections.
TEST(JsonPatch, FollowsTheExamplesOfTheRfc) {
  EXPECT_EQ(Patched(R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])"),
            R"({"foo":"bar","baz":"qux"})");  // A.1
  EXPECT_EQ(Patched(R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])"),
            R"({"foo":["bar","qux","baz"]})");  // A.2
  EXPECT_EQ(Patched(R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])"),
            R"({"foo":"bar"})");  // A.3
  EXPECT_EQ(Patched(R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])"),
            R"({"foo":["bar","baz"]})");  // A.4
  EXPECT_EQ(
      Patched(R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])"),
      R"({"baz":"boo","foo":"bar"})");  // A.5
  EXPECT_EQ(Patched(R"({"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}})",
                    R"([{"op":"move","from":"/foo/waldo","path":"/qux/thud"}])"),
            R"({"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}})");  // A.6
  EXPECT_EQ(Patched(R"({"foo":["all","grass","cows","eat"]})",
                    R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])"),
            R"({"foo":["all","cows","eat","grass"]})");  // A.7
  EXPECT_EQ(Patched(R"({"baz":"qux","foo":["a",2,"c"]})",
                    R"([{"op":"test","path":"/baz","value":"qux"},
                        {"op":"test","path":"/foo/1","value":2}])"),
            R"({"baz":"qux","foo":["a",2,"c"]})");                                           // A.8
  EXPECT_TRUE(Fails(R"({"baz":"qux"})", R"([{"op":"test","path":"/baz","value":"bar"}])"));  // A.9
  EXPECT_EQ(
      Patched(R"({"foo":"bar"})", R"([{"op":"add","path":"/child","value":{"grandchild":{}}}])"),
      R"({"foo":"bar","child":{"grandchild":{}}})");  // A.10
  EXPECT_EQ(Patched(R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux","xyz":123}])"),
            R"({"foo":"bar","baz":"qux"})");  // A.11
  EXPECT_TRUE(
      Fails(R"({"foo":"bar"})", R"([{"op":"add","path":"/baz/bat","value":"qux"}])"));  // A.12
  EXPECT_EQ(Patched(R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])"),
            R"({"/":9,"~1":10})");  // A.14
  EXPECT_TRUE(
      Fails(R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":"10"}])"));  // A.15
  EXPECT_EQ(
      Patched(R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])"),
      R"({"foo":["bar",["abc","def"]]})");  // A.16
}

TEST(JsonPatch, CopiesAndReplacesTheWhole) {
  EXPECT_EQ(Patched(R"({"a":{"b":[1]}})", R"([{"op":"copy","from":"/a","path":"/c"}])"),
            R"({"a":{"b":[1]},"c":{"b":[1]}})");
  EXPECT_EQ(Patched(R"({"a":1})", R"([{"op":"copy","from":"","path":"/b"}])"),
            R"({"a":1,"b":{"a":1}})");
  EXPECT_EQ(Patched(R"({"a":1})", R"([{"op":"add","path":"","value":[1]}])"), "[1]");
  EXPECT_EQ(Patched(R"({"a":1})", R"([{"op":"replace","path":"","value":2}])"), "2");
  EXPECT_EQ(Patched(R"({"a":[1,2]})", R"([{"op":"copy","from":"/a/0","path":"/a/0"}])"),
            R"({"a":[1,1,2]})");
  EXPECT_EQ(Patched(R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])"), R"({"a":1})");
  EXPECT_EQ(Patched(R"({"":{"":1}})", R"([{"op":"replace","path":"//","value":2}])"),
            R"({"":{"":2}})");
}

TEST(JsonPatch, TestComparesByValue) {
  EXPECT_FALSE(Fails(R"({"a":1})", R"([{"op":"test","path":"/a","value":1.0}])"));
  EXPECT_FALSE(Fails(R"({"a":{"x":1,"y":[1,2]}})",
                     R"([{"op":"test","path":"/a","value":{"y":[1,2.0],"x":1}}])"));
  EXPECT_TRUE(Fails(R"({"a":[1,2]})", R"([{"op":"test","path":"/a","value":[2,1]}])"));
  EXPECT_TRUE(Fails(R"({"a":{"x":1}})", R"([{"op":"test","path":"/a","value":{"y":1}}])"));
  EXPECT_TRUE(Fails(R"({"a":null})", R"([{"op":"test","path":"/a","value":false}])"));
  EXPECT_TRUE(Fails(R"({"a":null})", R"([{"op":"test","path":"/b","value":null}])"));
}

TEST(JsonPatch, RefusesWhatIsMalformed) {
  const std::string_view document = R"({"a":[1,2],"o":{"k":1}})";
  for (const std::string_view patch :
       {R"({})",
        R"([1])",
        R"([{}])",
        R"([{"op":"add","path":"/x"}])",
        R"([{"op":"add","value":1}])",
        R"([{"op":"add","path":5,"value":1}])",
        R"([{"op":"add","path":"x","value":1}])",
        R"([{"op":"add","path":"/x~2","value":1}])",
        R"([{"op":"add","path":"/x~","value":1}])",
        R"([{"op":"spam","path":"/a","value":1}])",
        R"([{"op":"copy","path":"/x"}])",
        R"([{"op":"copy","path":"/x","from":"/absent"}])",
        R"([{"op":"move","path":"/o/k/x","from":"/o"}])",
        R"([{"op":"remove","path":""}])",
        R"([{"op":"remove","path":"/absent"}])",
        R"([{"op":"remove","path":"/a/2"}])",
        R"([{"op":"remove","path":"/a/-"}])",
        R"([{"op":"replace","path":"/absent/x","value":1}])",
        R"([{"op":"replace","path":"/a/-","value":1}])",
        R"([{"op":"add","path":"/a/3","value":1}])",
        R"([{"op":"add","path":"/a/01","value":1}])",
        R"([{"op":"add","path":"/a/-1","value":1}])",
        R"([{"op":"add","path":"/a/+1","value":1}])",
        R"([{"op":"add","path":"/a/x","value":1}])",
        R"([{"op":"add","path":"/a/99999999999999999999","value":1}])",
        R"([{"op":"add","path":"/o/k/x","value":1}])"}) {
    EXPECT_TRUE(Fails(document, patch)) << patch;
  }
}

TEST(JsonPatch, ReplaceAddsAnAbsentMemberAsInKubernetes) {
  EXPECT_EQ(Patched(R"({"a":{}})", R"([{"op":"replace","path":"/a/b","value":1}])"),
            R"({"a":{"b":1}})");
}

TEST(JsonPatch, ChangesNothingWhenAnOperationFails) {
  EXPECT_EQ(Patched(R"({"a":1})", R"([{"op":"add","path":"/b","value":1},
                                      {"op":"remove","path":"/a"},
                                      {"op":"test","path":"/b","value":2}])"),
            "error: JSON patch: operation 2 (test /b): the value is another one");
}

TEST(JsonPatch, BoundsWhatItMakes) {
  Array doubling;
  for (int i = 0; i < 40; ++i) {
    doubling.push_back(Json{{"op", "copy"}, {"from", ""}, {"path", "/k" + std::to_string(i)}});
  }
  EXPECT_TRUE(Fails(R"({"a":[1,2,3]})", ToJson(Json(doubling))));

  // Each operation appends a chain of 100 to the end of the previous one.
  std::string chain = "0";
  std::string path;
  for (int i = 0; i < 100; ++i) {
    chain = R"({"a":)" + chain + "}";
    path += "/a";
  }
  const auto add = [&](const std::string& at) {
    return R"({"op":"add","path":")" + at + R"(","value":)" + chain + "}";
  };
  EXPECT_FALSE(Fails("{}", "[" + add("/a") + "]"));
  EXPECT_FALSE(Fails("{}", "[" + add("") + "," + add(path) + "]"));
  EXPECT_TRUE(Fails("{}", "[" + add("") + "," + add(path) + "," + add(path + path) + "]"));
}

// A bomb that was measured: 908 bytes that became 7.8 GB.
TEST(JsonPatch, CountsBytesNotOnlyValues) {
  const std::string seed(400, 'x');
  Array doubling{Json{{"op", "add"}, {"path", "/a"}, {"value", Array{seed}}}};
  for (int i = 0; i < 25; ++i)
    doubling.push_back(Json{{"op", "copy"}, {"from", "/a"}, {"path", "/a/-"}});
  EXPECT_NE(Patched("{}", ToJson(Json(doubling))).find("makes more than 3145728 bytes"),
            std::string::npos);

  // Copies are added up, even if their results are removed again.
  const std::string megabyte(1 << 20, 'x');
  const std::string document = ToJson(Object{{"a", megabyte}});
  const std::string copy_away =
      R"({"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/b"})";
  EXPECT_FALSE(Fails(document, "[" + copy_away + "," + copy_away + "]"));
  EXPECT_TRUE(Fails(document, "[" + copy_away + "," + copy_away + "," + copy_away + "]"));
}

TEST(JsonPatch, BoundsWhatIsAddedAndReplaced) {
  const std::string two_megabytes(2 << 20, 'x');
  const auto put = [&](const char* op, const char* path) {
    return Json{{"op", op}, {"path", path}, {"value", two_megabytes}};
  };
  const auto fails = [](Array patch) { return Fails(R"({"a":1,"b":1})", ToJson(Json(patch))); };
  EXPECT_FALSE(fails({put("add", "/a")}));
  EXPECT_TRUE(fails({put("add", "/c"), put("add", "/d")}));
  EXPECT_TRUE(fails({put("replace", "/a"), put("replace", "/b")}));
  // A replaced value is not counted any more.
  EXPECT_FALSE(fails({put("replace", "/a"), put("replace", "/a"), put("add", "/a")}));
  EXPECT_FALSE(fails({put("add", "/c"), Json{{"op", "remove"}, {"path", "/c"}}, put("add", "/d")}));
}

TEST(JsonPatch, LetsALargeDocumentShrink) {
  const std::string large = ToJson(Object{{"a", std::string(4 << 20, 'x')}, {"b", "1"}});
  EXPECT_FALSE(Fails(large, R"([{"op":"replace","path":"/b","value":"2"}])"));
  EXPECT_FALSE(Fails(large, R"([{"op":"remove","path":"/a"}])"));
  EXPECT_TRUE(Fails(large, R"([{"op":"add","path":"/c","value":[1,2,3,4,5,6,7,8]}])"));
}

// The document does not grow, but a megabyte is copied ten thousand times, or a long list is moved
// up.
TEST(JsonPatch, BoundsTheWorkOfMoves) {
  const std::string document = ToJson(Object{{"a", std::string(1 << 20, 'x')}});
  Array to_and_fro;
  for (int i = 0; i < 200; ++i) {
    to_and_fro.push_back(Json{{"op", "move"}, {"from", "/a"}, {"path", "/b"}});
    to_and_fro.push_back(Json{{"op", "move"}, {"from", "/b"}, {"path", "/a"}});
  }
  EXPECT_TRUE(Fails(document, ToJson(Json(to_and_fro))));

  Array at_front;
  for (int i = 0; i < 1'000; ++i) {
    at_front.push_back(Json{{"op", "add"}, {"path", "/l/0"}, {"value", i}});
  }
  EXPECT_FALSE(Fails(ToJson(Object{{"l", Array(1'000, 0)}}), ToJson(Json(at_front))));
  EXPECT_TRUE(Fails(ToJson(Object{{"l", Array(200'000, 0)}}), ToJson(Json(at_front))));
}

TEST(MergePatch, DropsManyKeysInOnePass) {
  Object document;
  Object patch;
  for (int i = 0; i < 100'000; ++i) {
    document["k" + std::to_string(i)] = i;
    if (i % 50'000 != 7) patch["k" + std::to_string(i)] = nullptr;
  }
  Json target = document;
  MergePatch(target, patch);
  EXPECT_EQ(ToJson(target), R"({"k7":7,"k50007":50007})");
}

TEST(MakeMergePatch, SaysWhatHasChanged) {
  const auto parse = [](const char* text) { return *ParseJson(text); };
  const Json from = parse(R"({"a": 1, "b": {"c": [1], "d": 2, "e": {"x": 1}}, "g": {"h": 1}})");
  const Json to = parse(R"({"a": 1, "b": {"c": [2], "e": {"x": 1}, "f": {}}, "g": 3})");
  const Json patch = MakeMergePatch(from, to);
  EXPECT_EQ(patch, parse(R"({"b": {"c": [2], "f": {}, "d": null}, "g": 3})"));
  Json made = from;
  MergePatch(made, patch);
  EXPECT_EQ(made, to);
  EXPECT_EQ(MakeMergePatch(to, to), parse("{}"));
}

}  // namespace
}  // namespace text
