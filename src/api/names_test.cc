#include "api/names.h"

#include <gtest/gtest.h>

namespace api {
namespace {

TEST(NamesTest, DnsLabels) {
  for (const char* const good : {"a", "0", "a-b", "0a", "a--b"}) EXPECT_TRUE(IsDnsLabel(good));
  for (const char* const bad : {"", "-", "-a", "a-", "A", "a.b", "a_b", "\xc3\xa4"}) {
    EXPECT_FALSE(IsDnsLabel(bad)) << bad;
    EXPECT_FALSE(IsDns1035Label(bad)) << bad;
  }
  EXPECT_TRUE(IsDns1035Label("a0"));
  EXPECT_FALSE(IsDns1035Label("0a"));
}

TEST(NamesTest, ObjectNames) {
  for (const char* const good : {"a", "a.b", "0.a-b.c"}) EXPECT_TRUE(IsObjectName(good)) << good;
  for (const char* const bad : {"", ".", "a..b", ".a", "a.", "a.-b", "a/b", "A"}) {
    EXPECT_FALSE(IsObjectName(bad)) << bad;
  }
  EXPECT_TRUE(IsObjectName(std::string(kMaxSubdomainLength, 'a')));
  EXPECT_FALSE(IsObjectName(std::string(kMaxSubdomainLength + 1, 'a')));
  EXPECT_TRUE(IsDnsSubdomain(std::string(kMaxSubdomainLength + 1, 'a')));
}

TEST(NamesTest, LabelsAndTheirKeys) {
  for (const char* const good : {"", "a", "A_b.c-D", "0"}) EXPECT_TRUE(IsLabelValue(good)) << good;
  for (const char* const bad : {"-a", "a.", "a b", "a/b"}) EXPECT_FALSE(IsLabelValue(bad)) << bad;
  EXPECT_TRUE(IsLabelValue(std::string(kMaxLabelLength, 'a')));
  EXPECT_FALSE(IsLabelValue(std::string(kMaxLabelLength + 1, 'a')));
  for (const char* const good : {"a", "A_b", "example.com/A_b", "nvidia.com/gpu"}) {
    EXPECT_TRUE(IsQualifiedName(good)) << good;
  }
  for (const char* const bad : {"", "/a", "a/", "A/b", "a/b/c", "a..b/c", "a_b/c"}) {
    EXPECT_FALSE(IsQualifiedName(bad)) << bad;
  }
}

}  // namespace
}  // namespace api
