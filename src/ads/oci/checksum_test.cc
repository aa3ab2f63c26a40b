#include "ads/oci/checksum.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"

namespace ads::oci {
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

TEST(Crc32cOfFile, IsItsBytesInBase64) {
  char name[] = "/tmp/muster-oci-XXXXXX";
  const base::Fd fd(::mkstemp(name));
  ::unlink(name);
  ASSERT_EQ(::pwrite(fd.get(), "xx123456789yy", 13, 0), 13);
  EXPECT_EQ(*Crc32cOfFile({fd.get(), 2, 9}, "f"), "4waSgw==");
  const auto beyond = Crc32cOfFile({fd.get(), 2, 12}, "f");
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().message, "\"f\" became shorter while it was read");
}

}  // namespace
}  // namespace ads::oci
