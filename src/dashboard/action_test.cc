#include "dashboard/action.h"

#include <gtest/gtest.h>

namespace dashboard {
namespace {

TEST(ActionTest, IsTheCommandThatDoesTheSame) {
  const auto action =
      ParseAction(R"({"verb":"delete","namespace":"default","run":"base","uid":"u-1"})");
  ASSERT_TRUE(action) << action.error().message;
  EXPECT_EQ(CommandLine("muster", WordsOf(*action, {})),
            "muster delete base --wait=false --namespace=default");
}

TEST(ActionTest, GoesToTheClusterThatThePageShows) {
  arena::GlobalFlags flags;
  flags.context = "prod";
  flags.config = "/k u b e";
  const Action action{"rerun", "team", "3f2a91c0", ""};
  EXPECT_EQ(CommandLine("muster", WordsOf(action, flags)),
            "muster rerun 3f2a91c0 --detach '--kubeconfig=/k u b e' --context=prod "
            "--namespace=team");
}

TEST(ActionTest, NothingButNamesComesToACommandLine) {
  for (const char* json :
       {R"({"verb":"run","namespace":"default","run":"base","uid":"u"})",
        R"({"verb":"delete","namespace":"default","run":"--all","uid":"u"})",
        R"({"verb":"delete","namespace":"default","run":"","uid":"u"})",
        R"({"verb":"delete","namespace":"--x","run":"base","uid":"u"})",
        R"({"verb":"delete","namespace":"","run":"base","uid":"u"})",
        R"({"verb":"delete","namespace":"default","run":"a b","uid":"u"})",
        R"({"verb":"delete","namespace":"default","run":"base"})",
        R"({"verb":["delete"],"namespace":"default","run":"base","uid":"u"})", "[]", "", "{"}) {
    const auto action = ParseAction(json);
    ASSERT_FALSE(action) << json;
    EXPECT_EQ(action.error().code, base::Code::kInvalidArgument) << json;
  }
}

}  // namespace
}  // namespace dashboard
