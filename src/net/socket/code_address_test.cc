#include "net/socket/code_address.h"

#include <gtest/gtest.h>

namespace net {
namespace {

TEST(CodeAddress, IsReachedOverSshByASchemeOrAHostAndAPath) {
  for (const char* address : {"git@host:a/b.git", "deploy@git.example:a/b.git", "host:path",
                              "ssh://host/a", "git+ssh://git@host/a", "ssh+git://host/a"}) {
    EXPECT_TRUE(IsCodeOverSsh(address)) << address;
    EXPECT_FALSE(IsCodePath(address)) << address;
  }
  for (const char* address :
       {"https://git@host/a", "git://host/a", "file:///a", "/a", "./a:b", "a/b:c", "folder", ""}) {
    EXPECT_FALSE(IsCodeOverSsh(address)) << address;
  }
}

TEST(CodeAddress, APathHasNoColonBeforeItsFirstSlash) {
  for (const char* address : {"/a", "./a:b", "a/b:c", "folder"}) {
    EXPECT_TRUE(IsCodePath(address)) << address;
  }
  for (const char* address : {"host::module/a", "https://host/a", ""}) {
    EXPECT_FALSE(IsCodePath(address)) << address;
  }
}

}  // namespace
}  // namespace net
