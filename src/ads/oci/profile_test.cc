#include "ads/oci/profile.h"

#include <gtest/gtest.h>

namespace ads::oci {
namespace {

constexpr const char* kWhole =
    "# mine\n"
    "[DEFAULT]\n"
    "user = ocid1.user.oc1..aaa\n"
    "tenancy=ocid1.tenancy.oc1..bbb\n"
    "fingerprint: a6:4b:3e:20:e1:42:97:d4:0e:90:49:cc:35:22:c1:fa\n"
    "key_file = ~/.oci/key.pem\n"
    "region = us-ashburn-1\n"
    "\n"
    "; another\n"
    "[OTHER]\n"
    "REGION = iad\n"
    "pass_phrase = a = b # c\n"
    "security_token_file = /t\n";

TEST(ParseProfile, TakesWhatItLacksFromDefault) {
  const auto profile = ParseProfile(kWhole, "/p", "OTHER", "/home/u");
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->user, "ocid1.user.oc1..aaa");
  EXPECT_EQ(profile->key_file, "/home/u/.oci/key.pem");
  EXPECT_EQ(profile->region, "iad");
  EXPECT_EQ(profile->pass_phrase.text(), "a = b # c");
  EXPECT_EQ(profile->security_token_file, "/t");
  EXPECT_TRUE(CheckProfile(*profile, ProfileUse::kApiKey));
  EXPECT_TRUE(CheckProfile(*profile, ProfileUse::kSecurityToken));
}

TEST(ParseProfile, NamesTheProfilesThatThereAre) {
  EXPECT_EQ(ParseProfile(kWhole, "/p", "X", "/").error().message,
            "ProfileNotFound: Profile 'X' not found in config file /p: it has DEFAULT, OTHER");
  EXPECT_EQ(ParseProfile("", "/p", "DEFAULT", "/").error().message,
            "ProfileNotFound: Profile 'DEFAULT' not found in config file /p: it has none");
}

TEST(ParseProfile, SaysWhichLineIsMalformed) {
  const struct {
    const char* text;
    const char* message;
  } kCases[] = {
      {"user=x\n", "InvalidConfig: /p line 1: a [section] must come before the first key"},
      {"[DEFAULT\n", "InvalidConfig: /p line 1: a [section] has no \"]\""},
      {"[DEFAULT]\nuser\n", "InvalidConfig: /p line 2: it is not `key=value`"},
      {"[DEFAULT]\nuser=a\nUser=b\n", "InvalidConfig: /p line 3: user stands in line 2 already"},
  };
  for (const auto& one : kCases) {
    const auto profile = ParseProfile(one.text, "/p", "DEFAULT", "/");
    ASSERT_FALSE(profile) << one.text;
    EXPECT_EQ(profile.error().message, one.message);
  }
}

TEST(CheckProfile, ListsEveryKeyThatIsMissingOrMalformed) {
  const auto profile = ParseProfile(
      "[P]\nuser=me\ntenancy=ocid1.tenancy.oc1..b\nfingerprint=a6:4b\n", "/p", "P", "/");
  ASSERT_TRUE(profile);
  EXPECT_EQ(CheckProfile(*profile, ProfileUse::kApiKey).error().message,
            "InvalidConfig: {'fingerprint': 'malformed', 'key_file': 'missing', 'region': "
            "'missing', 'user': 'malformed'} in profile P of /p");
  EXPECT_EQ(CheckProfile(*profile, ProfileUse::kSecurityToken).error().message,
            "InvalidConfig: {'key_file': 'missing', 'region': 'missing', 'security_token_file': "
            "'missing'} in profile P of /p");
}

TEST(CheckProfile, KnowsOcids) {
  for (const char* user : {"a.b.c.d", "a.b..c.", ".b.c.d.e", "a.b.c.d.é", "a b.c.d.e.f"}) {
    Profile profile;
    profile.user = user;
    EXPECT_NE(CheckProfile(profile, ProfileUse::kApiKey).error().message.find("'user': 'malf"),
              std::string::npos)
        << user;
  }
  for (const char* user : {"ocid1.user.oc1..x", "a:b:c:d:e", "ocid1.user.oc1.iad.x.y_z-0"}) {
    Profile profile;
    profile.user = user;
    EXPECT_EQ(CheckProfile(profile, ProfileUse::kApiKey).error().message.find("'user'"),
              std::string::npos)
        << user;
  }
}

TEST(ReadProfile, SaysThatThereIsNoFile) {
  const auto profile =
      ReadProfile("/nowhere/config", "DEFAULT", ProfileUse::kApiKey, base::Environment());
  ASSERT_FALSE(profile);
  EXPECT_TRUE(profile.error().message.starts_with(
      "ConfigFileNotFound: Could not find config file at /nowhere/config"));
}

}  // namespace
}  // namespace ads::oci
