#include "base/digest/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

// RFC 3720, B.4
TEST(Crc32c, IsCastagnolis) {
  EXPECT_EQ(Crc32c(0, std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(Crc32c(0, std::string(32, '\xff')), 0x62A8AB43U);
  EXPECT_EQ(Crc32c(0, "123456789"), 0xE3069283U);
  EXPECT_EQ(Crc32c(0, ""), 0U);
}

TEST(Crc32c, GoesOnWhereItWas) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 7);
  for (size_t cut = 0; cut < 20; ++cut) {
    EXPECT_EQ(Crc32c(Crc32c(0, text.substr(0, cut)), text.substr(cut)), Crc32c(0, text)) << cut;
  }
}

}  // namespace
}  // namespace base
