#include "ads/oci/checksum.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/fd.h"

namespace ads::oci {
namespace {

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
