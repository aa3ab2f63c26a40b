#include "cluster/exec/port_stream.h"

#include <gtest/gtest.h>

#include "cluster/testing/fake_exec.h"

namespace cluster {
namespace {

using std::string_literals::operator""s;

class PortStreamTest : public testing::Test {
 protected:
  std::string ReadText() {
    auto bytes = stream_.Read();
    if (!bytes) return "error: " + bytes.error().message;
    return bytes->value_or("<end>");
  }

  std::shared_ptr<ExecScript> script_ = std::make_shared<ExecScript>();
  PortStream stream_{std::make_unique<ScriptedSocket>(script_)};
};

TEST_F(PortStreamTest, GivesWhatFollowsThePortsNumber) {
  script_->Say(kPortData, PortNumber(8080));
  script_->Say(kPortError, PortNumber(8080));
  script_->Say(kPortData, "one");
  script_->Say(7, "of another protocol");
  script_->Say(kPortData, "two");
  script_->Close();
  EXPECT_EQ(ReadText(), "one");
  EXPECT_EQ(ReadText(), "two");
  EXPECT_EQ(ReadText(), "<end>");
}

TEST_F(PortStreamTest, TheNumberMayComeInPartsOrWithTheRest) {
  script_->Say(kPortData, PortNumber(0x1f90).substr(0, 1));
  script_->Say(kPortData, PortNumber(0x1f90).substr(1) + "x");
  script_->Close();
  EXPECT_EQ(PortNumber(0x1f90), "\x90\x1f"s);
  EXPECT_EQ(ReadText(), "x");
  EXPECT_EQ(ReadText(), "<end>");
}

TEST_F(PortStreamTest, WhatTheServerComplainsOfIsTheError) {
  script_->Say(kPortData, PortNumber(1));
  script_->Say(kPortError, PortNumber(1));
  script_->Say(kPortError, "error forwarding port 1");
  script_->Say(kPortError, ": refused");
  script_->Close();
  EXPECT_EQ(ReadText(), "error: error forwarding port 1: refused");
}

TEST_F(PortStreamTest, SendsLargeTextsInParts) {
  const std::string text(100'000, 'x');
  ASSERT_TRUE(stream_.Write(text));
  std::string heard;
  for (const std::string& message : script_->Heard(4)) {
    EXPECT_EQ(message.front(), kPortData);
    heard += message.substr(1);
  }
  EXPECT_EQ(heard, text);
}

}  // namespace
}  // namespace cluster
