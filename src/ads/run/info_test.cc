#include "ads/run/info.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "ads/testing/temporary_folder.h"
#include "base/folder.h"

namespace ads {
namespace {

TEST(RunInfoPath, ALinkIsTriedWhereItLeads) {
  const TemporaryFolder folder;
  const std::string link = folder.path() + "/link";
  ASSERT_TRUE(base::MakeDirs(folder.path() + "/there"));
  ASSERT_EQ(::symlink("there/info.yaml", link.c_str()), 0);
  EXPECT_TRUE(CheckWritable(link, "--job-info"));
  EXPECT_TRUE(base::EntriesOf(folder.path() + "/there").empty());
  ::unlink(link.c_str());
  ASSERT_EQ(::symlink("absent/info.yaml", link.c_str()), 0);
  const auto refused = CheckWritable(link, "--job-info");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("\"" + link + "\": No such file"), std::string::npos)
      << refused.error().message;
}

}  // namespace
}  // namespace ads
