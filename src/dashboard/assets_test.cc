#include "dashboard/assets.h"

#include <gtest/gtest.h>

#include "base/digest/hmac.h"

namespace dashboard {
namespace {

constexpr size_t kMostBytes = 300'000;

TEST(AssetsTest, AllOfThePageIsSmall) {
  size_t bytes = 0;
  for (const Asset& asset : kAssets) {
    EXPECT_TRUE(asset.gzipped.starts_with("\x1f\x8b")) << asset.path;
    EXPECT_FALSE(asset.etag.empty()) << asset.path;
    bytes += asset.gzipped.size();
  }
  EXPECT_LT(bytes, kMostBytes);
}

TEST(AssetsTest, TheRootIsThePage) {
  const Asset* page = FindAsset("/");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(page->style.size(), base::Digest().size());
  EXPECT_EQ(FindAsset("/../dash.cc"), nullptr);
  EXPECT_EQ(FindAsset(""), nullptr);
}

}  // namespace
}  // namespace dashboard
