#include "api/selector.h"

#include <gtest/gtest.h>

#include "api/object.h"
#include "api/testing/metadata.h"

namespace api {
namespace {

bool LabelsMatch(std::string_view selector, const std::map<std::string, std::string>& labels) {
  const auto parsed = LabelSelector::Parse(selector);
  EXPECT_TRUE(parsed) << selector << ": " << (parsed ? "" : parsed.error().message);
  text::Json object = text::Object();
  object.get_object()["metadata"] = MakeMetadata("x", "", labels);
  return parsed && parsed->Matches(object);
}

TEST(LabelSelector, MatchesAsKubernetesDoes) {
  const std::map<std::string, std::string> labels = {
      {"app", "pytorchjob"}, {"release", "pt"}, {"empty", ""}, {"rank", "3"}, {"a.b/c", "d"}};
  constexpr std::pair<std::string_view, bool> kCases[] = {
      {"", true},
      {"   ", true},
      {"app=pytorchjob", true},
      {"app == pytorchjob , release=pt", true},
      {"app=pytorchjob,release=other", false},
      {"app!=tfjob", true},
      {"absent!=x", true},
      {"absent notin (x)", true},
      {"absent=", false},
      {"empty=", true},
      {"empty", true},
      {"release", true},
      {"absent", false},
      {"!absent", true},
      {"! absent", true},
      {"!release", false},
      {"release in (a, pt)", true},
      {"release in (a,b)", false},
      {"release notin (a,b),app", true},
      {"release in (,pt)", true},
      {"empty in ()", true},
      {"rank>2", true},
      {"rank<3", false},
      {"app>2", false},
      {"a.b/c=d", true},
      {"in in (x)", false},
      {"notin", false},
  };
  for (const auto& [selector, matches] : kCases) {
    EXPECT_EQ(LabelsMatch(selector, labels), matches) << selector;
  }
}

TEST(LabelSelector, RefusesWhatItCannotRead) {
  for (const std::string_view bad :
       {"=x", "a=b,", ",a", "a in", "a in x", "a in (x", "a in (x y)", "a like b", "a=b c", "a>x",
        "!a=b", "-a=b", "a=b/c", "a/b/c", "/a", "a=-", "(a)"}) {
    const auto parsed = LabelSelector::Parse(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, base::Code::kInvalidArgument);
    EXPECT_NE(parsed.error().message.find(bad), std::string::npos);
  }
}

TEST(LabelSelector, FindsExactValues) {
  const auto parsed = LabelSelector::Parse("a=b,c in (d),e in (f,g),h!=i");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->ExactValue("a"), "b");
  EXPECT_EQ(parsed->ExactValue("c"), "d");
  EXPECT_FALSE(parsed->ExactValue("e"));
  EXPECT_FALSE(parsed->ExactValue("h"));
}

TEST(LabelSelector, ReadsTheObjectForm) {
  const auto parsed =
      LabelSelector::FromJson({{"matchLabels", {{"a", "b"}}},
                               {"matchExpressions",
                                {{{"key", "c"}, {"operator", "NotIn"}, {"values", {"d"}}},
                                 {{"key", "e"}, {"operator", "Exists"}}}}});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->Matches({{"metadata", {{"labels", {{"a", "b"}, {"e", ""}}}}}}));
  EXPECT_FALSE(parsed->Matches({{"metadata", {{"labels", {{"a", "b"}}}}}}));
  EXPECT_FALSE(parsed->Matches({{"metadata", {{"labels", {{"a", "b"}, {"c", "d"}, {"e", ""}}}}}}));
  EXPECT_FALSE(
      LabelSelector::FromJson({{"matchExpressions", {{{"key", "c"}, {"operator", "Like"}}}}}));
  EXPECT_TRUE(LabelSelector::FromJson(text::Object())->Matches(text::Object()));
}

bool FieldsMatch(std::string_view selector, const text::Json& object) {
  const auto parsed = FieldSelector::Parse(selector);
  EXPECT_TRUE(parsed) << selector << ": " << (parsed ? "" : parsed.error().message);
  return parsed && parsed->Matches(object);
}

TEST(FieldSelector, MatchesKnownFields) {
  const text::Json pod = {{"metadata", {{"name", "a"}, {"namespace", "n"}}},
                          {"spec", {{"nodeName", "node-1"}}},
                          {"status", {{"phase", "Running"}}}};
  EXPECT_TRUE(FieldsMatch("", pod));
  EXPECT_TRUE(FieldsMatch("metadata.name=a,metadata.namespace==n", pod));
  EXPECT_TRUE(FieldsMatch("status.phase!=Pending,spec.nodeName=node-1", pod));
  EXPECT_FALSE(FieldsMatch("status.phase!=Running", pod));
  EXPECT_TRUE(FieldsMatch("spec.nodeName=", {{"spec", text::Object()}}));
  EXPECT_FALSE(FieldsMatch("spec.nodeName=x", {{"spec", text::Object()}}));
}

TEST(FieldSelector, MatchesEvents) {
  const text::Json event = {{"involvedObject", {{"kind", "Pod"}, {"name", "a,b=c\\"}}},
                            {"type", "Warning"},
                            {"source", {{"component", "kubelet"}}}};
  EXPECT_TRUE(FieldsMatch("involvedObject.kind=Pod,type=Warning,source=kubelet", event));
  EXPECT_TRUE(FieldsMatch("involvedObject.name=a\\,b\\=c\\\\", event));
  EXPECT_FALSE(FieldsMatch("involvedObject.uid=u", event));
}

TEST(FieldSelector, RefusesOtherFieldsAndNonsense) {
  const auto check = [](std::string_view selector, const Resource& resource) {
    const base::Status fine = FieldSelector::Parse(selector)->CheckFor(resource);
    return fine ? std::string() : fine.error().message;
  };
  EXPECT_EQ(check("metadata.name=a,status.phase=Failed", kPods), "");
  EXPECT_EQ(check("spec.color=red", kPods), "field label not supported: spec.color");
  EXPECT_EQ(check("status.phase=Failed", kPyTorchJobs), "field label not supported: status.phase");
  EXPECT_EQ(check("status.phase=Failed", kDeployments),
            "\"status.phase\" is not a known field selector: only \"metadata.name\", "
            "\"metadata.namespace\"");
  for (const std::string_view bad : {"metadata.name", "metadata.name!a", "metadata.name=a\\b"}) {
    EXPECT_FALSE(FieldSelector::Parse(bad)) << bad;
  }
}

TEST(FieldSelector, FindsExactValues) {
  const auto parsed = FieldSelector::Parse("metadata.name=a,status.phase!=Failed");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->ExactValue("metadata.name"), "a");
  EXPECT_FALSE(parsed->ExactValue("status.phase"));
}

}  // namespace
}  // namespace api
