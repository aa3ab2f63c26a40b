#include "base/machine/disk.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/fd.h"
#include "base/file.h"

namespace base {
namespace {

TEST(Disk, WhatDoesNotFitNamesTheDisk) {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  const Status written = WriteAll(full.get(), "x", "/dev/full");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kExhausted);
  EXPECT_EQ(written.error().os_errno, ENOSPC);
  EXPECT_NE(written.error().message.find("write /dev/full: no space left on the disk of \"/dev\" "
                                         "(mounted on /dev)"),
            std::string::npos)
      << written.error().message;
  EXPECT_TRUE(written.error().message.ends_with(": delete files there")) << written.error().message;
  char here[4096];
  ASSERT_NE(::getcwd(here, sizeof here), nullptr);
  EXPECT_NE(WriteErrno(ENOSPC, "write", "x")
                .message.find("the disk of \"" + std::string(here) + "\" (mounted on /"),
            std::string::npos)
      << WriteErrno(ENOSPC, "write", "x").message;
  EXPECT_NE(WriteErrno(EDQUOT, "write", "/tmp/x").message.find("quota"), std::string::npos);
  EXPECT_EQ(WriteErrno(EACCES, "write", "/x").message, Errno(EACCES, "write /x").message);
}

}  // namespace
}  // namespace base
