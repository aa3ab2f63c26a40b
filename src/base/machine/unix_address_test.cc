#include "base/machine/unix_address.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/defer.h"
#include "base/file.h"

namespace base {
namespace {

TEST(UnixAddress, GoesByWayOfTheFolderHoweverLongItsPath) {
  char name[] = "/tmp/muster-base-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const Defer remove([&] { (void)RemoveTree(name); });
  const std::string folder = std::string(name) + "/" + std::string(200, 'f');
  ASSERT_TRUE(MakeDirs(folder));
  const auto address = UnixAddressOf(folder + "/s");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_TRUE(std::string(address->address.sun_path).ends_with("/s"));
  EXPECT_TRUE(CheckPrivateFolder(address->folder.get(), folder));
  ASSERT_EQ(chmod(folder.c_str(), 0750), 0);
  EXPECT_EQ(CheckPrivateFolder(address->folder.get(), folder).error().code,
            Code::kPermissionDenied);
  EXPECT_EQ(UnixAddressOf(std::string(name) + "/none/s").error().code, Code::kNotFound);
  EXPECT_EQ(UnixAddressOf(folder + "/" + std::string(108, 's')).error().code,
            Code::kInvalidArgument);
}

}  // namespace
}  // namespace base
