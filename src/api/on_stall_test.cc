#include "api/on_stall.h"

#include <gtest/gtest.h>

namespace api {
namespace {

using Action = StallPolicy::Action;

StallPolicy Of(std::string_view action, std::string_view after) {
  const auto entry = [](std::string_view name, std::string_view value) {
    return text::Object{{"name", name}, {"value", value}};
  };
  text::Array env{entry(kOnStallVariable, action), entry(kStallAfterVariable, after)};
  return StallPolicyOf(text::Object{
      {"spec", text::Object{{"containers", text::Array{text::Object{{"name", "side"}},
                                                       text::Object{{"name", "pytorch"},
                                                                    {"env", std::move(env)}}}}}}});
}

TEST(StallPolicy, IsThatOfTheTrainingContainer) {
  EXPECT_EQ(Of("off", "9").action, Action::kOff);
  EXPECT_EQ(Of("report", "9").action, Action::kReport);
  EXPECT_EQ(Of("stacks", "9").action, Action::kStacks);
  EXPECT_EQ(Of("restart", "9").action, Action::kRestart);
  EXPECT_EQ(Of("stop", "9").action, Action::kStop);
  EXPECT_EQ(Of("stop", "9").after, std::chrono::seconds(9));
}

TEST(StallPolicy, WhatIsMalformedIsNotSet) {
  for (const char* const after : {"", "0", "-1", "soon", "604801"}) {
    EXPECT_EQ(Of("panic", after).after, kUsualStallAfter) << after;
  }
  EXPECT_EQ(Of("panic", "").action, Action::kReport);
  EXPECT_EQ(StallPolicyOf(text::Json()).action, Action::kReport);
  EXPECT_EQ(StallPolicyOf(text::Object{{"spec", text::Object{}}}).after, kUsualStallAfter);
}

}  // namespace
}  // namespace api
