#include "base/uid.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace base {
namespace {

TEST(NewUid, IsARandomUuid) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uid = NewUid();
    ASSERT_EQ(uid.size(), 36U);
    for (size_t at = 0; at < uid.size(); ++at) {
      const bool is_dash = at == 8 || at == 13 || at == 18 || at == 23;
      ASSERT_EQ(std::string("0123456789abcdef").find(uid[at]) == std::string::npos, is_dash) << uid;
    }
    EXPECT_EQ(uid[14], '4');
    EXPECT_NE(std::string("89ab").find(uid[19]), std::string::npos);
    EXPECT_TRUE(seen.insert(uid).second);
  }
}

TEST(RandomName, DrawsEveryLetterOfItsAlphabet) {
  const std::string name = RandomName(5000);
  EXPECT_EQ(name.size(), 5000U);
  EXPECT_EQ(std::set<char>(name.begin(), name.end()).size(), 27U);
  EXPECT_EQ(name.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos);
  EXPECT_EQ(RandomName(0), "");
}

}  // namespace
}  // namespace base
