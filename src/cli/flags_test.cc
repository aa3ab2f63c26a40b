#include "cli/flags.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

using std::chrono::nanoseconds;

class FlagsTest : public testing::Test {
 protected:
  FlagsTest() {
    set_.String(&name_, "name", "", "the `NAME` of it").Short('n');
    set_.String(&dir_, "working-dir", "/root", "where").OldName("workingDir");
    set_.StringArray(&env_, "env", "variables").Short('e');
    set_.Int(&gpus_, "gpus", 0, "how many");
    set_.Int(&workers_, "workers", 1, "how many\nin all");
    set_.Bool(&follow_, "follow", false, "go on").Short('f');
    set_.Bool(&wide_, "wide", true, "much").Short('w');
    set_.Duration(&timeout_, "timeout", nanoseconds(0), "how long").Short('t');
    set_.Bool(&secret_, "secret", false, "not shown").Hidden();
  }

  base::Result<ParsedArgs> Parse(const std::vector<std::string>& args, bool interspersed = true) {
    std::vector<Flag*> flags;
    for (const auto& flag : set_.flags()) flags.push_back(flag.get());
    return FlagParser(flags, [this](std::string_view line) { notices_.emplace_back(line); })
        .Parse(args, interspersed);
  }
  std::string ErrorOf(const std::vector<std::string>& args) {
    auto parsed = Parse(args);
    return parsed ? "" : parsed.error().message;
  }

  FlagSet set_;
  std::string name_, dir_;
  std::vector<std::string> env_, notices_;
  int64_t gpus_, workers_;
  bool follow_, wide_, secret_;
  nanoseconds timeout_;
};

TEST_F(FlagsTest, DefaultsStandBeforeParsing) {
  EXPECT_EQ(dir_, "/root");
  EXPECT_EQ(workers_, 1);
  EXPECT_TRUE(wide_);
}

TEST_F(FlagsTest, LongFormsTakeTheirValueEitherWay) {
  ASSERT_TRUE(Parse({"--name", "a", "--gpus=2", "--env=A=b,c", "--env", "B="}));
  EXPECT_EQ(name_, "a");
  EXPECT_EQ(gpus_, 2);
  EXPECT_EQ(env_, (std::vector<std::string>{"A=b,c", "B="}));
}

TEST_F(FlagsTest, ShortFormsTakeTheirValueEveryWay) {
  for (const std::vector<std::string>& args : {std::vector<std::string>{"-n", "x"},
                                               {"-nx"},
                                               {"-n=x"},
                                               {"-fn", "x"},
                                               {"-fnx"},
                                               {"-fn=x"}}) {
    name_.clear();
    ASSERT_TRUE(Parse(args)) << args[0];
    EXPECT_EQ(name_, "x") << args[0];
  }
  EXPECT_TRUE(follow_);
}

TEST_F(FlagsTest, BoolsTakeAValueOnlyAfterAnEqualsSign) {
  auto parsed = Parse({"--wide=false", "--follow", "false", "-w=T"});
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(wide_);
  EXPECT_TRUE(follow_);
  EXPECT_EQ(parsed->positionals, (std::vector<std::string>{"false"}));
}

TEST_F(FlagsTest, PositionalsMayStandBetweenFlags) {
  auto parsed = Parse({"one", "-f", "-", "--gpus", "1", "--", "--name", "-x"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->positionals, (std::vector<std::string>{"one", "-", "--name", "-x"}));
  EXPECT_EQ(parsed->dash, 2u);
  EXPECT_EQ(name_, "");
}

TEST_F(FlagsTest, ErrorsHavePflagsWords) {
  EXPECT_EQ(ErrorOf({"--nothing-like-it"}), "unknown flag: --nothing-like-it");
  EXPECT_EQ(ErrorOf({"--gpu=1"}), "unknown flag: --gpu\n\nDid you mean this?\n\t--gpus\n");
  EXPECT_EQ(ErrorOf({"-fx"}), "unknown shorthand flag: 'x' in -x");
  EXPECT_EQ(ErrorOf({"--name"}), "flag needs an argument: --name");
  EXPECT_EQ(ErrorOf({"-fn"}), "flag needs an argument: 'n' in -n");
  EXPECT_EQ(ErrorOf({"--=x"}), "bad flag syntax: --=x");
  EXPECT_EQ(
      ErrorOf({"--gpus=x"}),
      R"(invalid argument "x" for "--gpus" flag: strconv.ParseInt: parsing "x": invalid syntax)");
  EXPECT_EQ(
      ErrorOf({"--gpus=99999999999999999999"}),
      R"(invalid argument "99999999999999999999" for "--gpus" flag: strconv.ParseInt: parsing "99999999999999999999": value out of range)");
  EXPECT_EQ(
      ErrorOf({"-f=maybe"}),
      R"(invalid argument "maybe" for "-f, --follow" flag: strconv.ParseBool: parsing "maybe": invalid syntax)");
  EXPECT_EQ(ErrorOf({"--timeout=x"}),
            R"(invalid argument "x" for "-t, --timeout" flag: time: invalid duration "x")");
}

TEST_F(FlagsTest, TheFirstPositionalEndsTheFlagsWhenAsked) {
  auto parsed = Parse({"-f", "cmd", "--gpus", "1"}, false);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->positionals, (std::vector<std::string>{"cmd", "--gpus", "1"}));
  EXPECT_EQ(gpus_, 0);
}

TEST_F(FlagsTest, AFlagMayEndTheFlags) {
  set_.Find("working-dir")->EndsFlags();
  auto parsed = Parse({"--working-dir", "x", "--gpus", "1", "cmd"});
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->positionals, (std::vector<std::string>{"--gpus", "1", "cmd"}));
}

TEST_F(FlagsTest, AnOldSpellingWorksAndSaysSo) {
  ASSERT_TRUE(Parse({"--workingDir=/w", "--working-dir", "/v"}));
  EXPECT_EQ(dir_, "/v");
  EXPECT_EQ(notices_,
            std::vector<std::string>{
                "Flag --workingDir has been deprecated, please use --working-dir instead"});
}

TEST_F(FlagsTest, HelpEndsParsing) {
  for (const char* help : {"-h", "--help"}) {
    auto parsed = Parse({"a", help, "--no-such-flag"});
    ASSERT_TRUE(parsed);
    EXPECT_TRUE(parsed->help);
  }
}

TEST_F(FlagsTest, UsagesFitATerminalOf80Columns) {
  std::string long_name = "a-name";
  for (int i = 0; i < 6; ++i) long_name += "-that-goes-on";
  std::string words, text;
  for (int i = 0; i < 40; ++i) words += "word ";
  set_.String(&text, "brief", "", words);
  set_.String(&text, long_name.substr(0, 50), "", words);
  std::string line;
  for (const char c : FlagUsages({set_.Find("brief"), set_.Find(long_name.substr(0, 50))})) {
    line = c == '\n' ? "" : line + c;
    ASSERT_LE(line.size(), 80U) << line;
  }
}

TEST_F(FlagsTest, UsagesAreSortedAlignedAndQuoteDefaults) {
  timeout_ = {};
  set_.Duration(&timeout_, "grace", std::chrono::minutes(90), "patience");
  std::vector<const Flag*> flags;
  for (const auto& flag : set_.flags()) flags.push_back(flag.get());
  EXPECT_EQ(FlagUsages(flags),
            R"(  -e, --env stringArray      variables
  -f, --follow               go on
      --gpus int             how many
      --grace duration       patience (default 1h30m0s)
  -n, --name NAME            the NAME of it
  -t, --timeout duration     how long
  -w, --wide                 much (default true)
      --workers int          how many in all (default 1)
      --working-dir string   where (default "/root")
)");
}

}  // namespace
}  // namespace cli
