#include "dashboard/route.h"

#include <gtest/gtest.h>

namespace dashboard {
namespace {

using Kind = Route::Kind;

TEST(RouteTest, PathsNameNamespaceAndRun) {
  const auto route = RouteOf("GET", "/api/logs/team/base-2?grep=a%20b&tail=5");
  ASSERT_TRUE(route);
  EXPECT_EQ(route->kind, Kind::kLogs);
  EXPECT_EQ(route->namespace_name, "team");
  EXPECT_EQ(route->run, "base-2");
  EXPECT_EQ(route->target.Query("grep"), "a b");
  EXPECT_TRUE(route->is_data());
}

TEST(RouteTest, WhatIsNoDataIsAPartOfThePage) {
  const auto route = RouteOf("GET", "/app.js?x=1");
  ASSERT_TRUE(route);
  EXPECT_EQ(route->kind, Kind::kAsset);
  EXPECT_EQ(route->rest, "/app.js");
  EXPECT_FALSE(route->is_data());
  EXPECT_FALSE(RouteOf("POST", "/app.js"));
}

TEST(RouteTest, OneReportIsOfARunAndOneOfAllRuns) {
  EXPECT_EQ(RouteOf("GET", "/api/report/team/base")->kind, Kind::kReport);
  const auto all = RouteOf("GET", "/api/reports?since=7d&by=label%3Dteam");
  ASSERT_TRUE(all);
  EXPECT_EQ(all->kind, Kind::kReports);
  EXPECT_EQ(all->target.Query("by"), "label=team");
}

TEST(RouteTest, ADiffIsOfARunAndStartsAreOfJobs) {
  EXPECT_EQ(RouteOf("GET", "/api/diff/team/base")->kind, Kind::kDiff);
  const auto starts = RouteOf("GET", "/api/starts?job=team%2Fa&job=team%2Fb");
  ASSERT_TRUE(starts);
  EXPECT_EQ(starts->kind, Kind::kStarts);
  EXPECT_EQ(starts->target.query.size(), 2u);
  EXPECT_FALSE(RouteOf("POST", "/api/starts"));
}

TEST(RouteTest, WritesAreNotReads) {
  EXPECT_TRUE(RouteOf("POST", "/api/action"));
  EXPECT_FALSE(RouteOf("GET", "/api/action"));
  EXPECT_FALSE(RouteOf("GET", "/api/session"));
  EXPECT_EQ(RouteOf("GET", "/api/shell/team/base")->kind, Kind::kShell);
  EXPECT_EQ(RouteOf("POST", "/api/shell")->kind, Kind::kTyped);
  EXPECT_FALSE(RouteOf("POST", "/api/machine"));
}

TEST(RouteTest, WhatIsNoNameLeadsNowhere) {
  for (const char* target :
       {"/api", "/api/", "/api/none", "/api/run", "/api/run/default", "/api/run/default/a/b",
        "/api/run/default/..%2f..%2fetc", "/api/run/--x/y", "/api/run//x", "/api/%zz"}) {
    EXPECT_FALSE(RouteOf("GET", target)) << target;
  }
}

}  // namespace
}  // namespace dashboard
