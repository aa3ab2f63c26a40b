#include "arena/install/installed_place.h"

#include <gtest/gtest.h>

#include "text/json.h"

namespace arena {
namespace {

std::optional<std::string> JobsBy(std::string_view args, int replicas = 1) {
  text::Json deployment = text::Object{};
  text::Set(deployment, {"metadata", "namespace"}, "team");
  text::Set(deployment, {"spec", "replicas"}, replicas);
  text::Set(deployment, {"spec", "template", "spec", "containers"},
            text::Array{text::Object{{"args", *text::ParseJson(args)}}});
  return JobsOfOperator(deployment);
}

TEST(JobsOfOperator, AreThoseThatItsFlagsSay) {
  EXPECT_EQ(JobsBy(R"(["operator", "--leader-elect"])"), "");
  EXPECT_EQ(JobsBy(R"(["operator", "--namespace=a"])"), "a");
  EXPECT_EQ(JobsBy(R"(["operator", "--namespace", "a", "--leader-elect"])"), "a");
  EXPECT_EQ(JobsBy(R"(["operator", "-namespace=a", "--namespace=b"])"), "b");
  EXPECT_EQ(JobsBy(R"x(["operator", "--namespace=$(MY_POD_NAMESPACE)"])x"), "team");
  EXPECT_EQ(JobsBy(R"([7, "--namespace"])"), "");
  EXPECT_EQ(JobsBy(R"(["operator"])", 0), std::nullopt);
  EXPECT_EQ(JobsOfOperator(text::Object{}), std::nullopt);
}

}  // namespace
}  // namespace arena
