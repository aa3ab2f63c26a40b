#include "net/socket/system_authorities.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

namespace net {
namespace {

class SystemAuthorities : public testing::Test {
 protected:
  SystemAuthorities() { EXPECT_NE(::mkdtemp(root_.data()), nullptr); }
  ~SystemAuthorities() override { EXPECT_TRUE(base::RemoveTree(root_)); }

  std::string At(const std::string& name) const { return root_ + "/" + name; }
  std::string Put(const std::string& name) const {
    EXPECT_TRUE(base::WriteFileAtomic(At(name), "x", 0600, base::Durability::kNone));
    return At(name);
  }
  AuthorityPlaces Places() const {
    return {At("own.pem"), At("own"), {At("debian.crt"), At("fedora.pem")}, {At("certs")}};
  }

  std::string root_ = testing::TempDir() + "authorities-XXXXXX";
};

TEST_F(SystemAuthorities, AreThoseOfAnyDistribution) {
  EXPECT_EQ(FindAuthorities(Places(), false).file, "");
  EXPECT_EQ(FindAuthorities(Places(), false).folder, "");
  ASSERT_TRUE(base::MakeDirs(At("certs")));
  EXPECT_EQ(FindAuthorities(Places(), false).folder, At("certs"));
  Put("fedora.pem");
  EXPECT_EQ(FindAuthorities(Places(), false).file, At("fedora.pem"));
  EXPECT_EQ(FindAuthorities(Places(), false).folder, "") << "a bundle is enough";
  Put("debian.crt");
  EXPECT_EQ(FindAuthorities(Places(), false).file, At("debian.crt"));
}

TEST_F(SystemAuthorities, OpenSslsOwnAreEnough) {
  Put("debian.crt");
  const std::string own = Put("own.pem");
  EXPECT_EQ(FindAuthorities(Places(), false).file, "");
  ASSERT_EQ(::unlink(own.c_str()), 0);
  EXPECT_EQ(FindAuthorities(Places(), false).file, At("debian.crt"));
  ASSERT_TRUE(base::MakeDirs(At("own")));
  EXPECT_EQ(FindAuthorities(Places(), false).file, "");
}

TEST_F(SystemAuthorities, WhatTheUserNamesIsStronger) {
  Put("debian.crt");
  EXPECT_EQ(FindAuthorities(Places(), true).file, "");
}

}  // namespace
}  // namespace net
