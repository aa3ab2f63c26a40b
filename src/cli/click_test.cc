#include "cli/click.h"

#include <gtest/gtest.h>

namespace cli {
namespace {

struct ClickCase {
  std::string framework, registry, image, version;
  int64_t interval = 0;
  bool is_pushed = false, is_dry = false;
};

// The result of `ads opctl init [NAME]` with these arguments.
struct ClickOutcome {
  int code;
  std::string out, err;
  ClickCase flags;
  std::vector<std::string> args;
};
ClickOutcome RunClick(std::vector<std::string> args) {
  ClickOutcome result;
  Command root("ads", "");
  Command& group = root.Add("opctl", "A group.").ClickStyle();
  Command& verb = group.Add("init", "Makes it.").ClickArgs({"[NAME]"});
  FlagSet& flags = verb.flags();
  flags.String(&result.flags.framework, "framework", "", "Which one.")
      .Short('f')
      .Required()
      .OneOf({"dask", "pytorch"});
  flags.String(&result.flags.registry, "registry", "", "Where to.").SingleDash("reg");
  flags.String(&result.flags.image, "image", "", "Image.").Short('i').OptionalValue("alone");
  flags.Bool(&result.flags.is_pushed, "push", false, "Push.").Short('p').SingleDash("push");
  flags.Bool(&result.flags.is_dry, "dry-run", false, "Dry.").Short('r');
  ClickInt(flags, &result.flags.interval, "interval", 3, "Seconds.");
  verb.Run([&](Invocation& call) -> base::Result<int> {
    result.args = call.args;
    if (call.args.empty()) return 0;
    return base::Fail(base::Code::kInvalidArgument, call.args[0]);
  });
  Command& shy = group.Add("shy", "Without -h.").WithoutShortHelp();
  shy.Run([](Invocation&) -> base::Result<int> { return 0; });
  args.insert(args.begin(), "opctl");
  StringOutput out;
  StringOutput err;
  const Outcome outcome = Execute(root, args, out, err);
  EXPECT_FALSE(outcome.error) << outcome.error->message;
  result.code = outcome.exit_code;
  result.out = out.text();
  result.err = err.text();
  return result;
}

TEST(Click_SingleDashLongNames, AreTakenWithAndWithoutEquals) {
  EXPECT_EQ(RunClick({"init", "-f", "dask", "-reg", "a/b"}).flags.registry, "a/b");
  EXPECT_EQ(RunClick({"init", "-f", "dask", "-reg=a/b"}).flags.registry, "a/b");
  EXPECT_EQ(RunClick({"init", "--framework=dask", "--registry", "-x"}).flags.registry, "-x");
  EXPECT_TRUE(RunClick({"init", "-fdask", "-push"}).flags.is_pushed);
}

TEST(Click_Shorts, CombineAndTakeTheRestAsValue) {
  const ClickOutcome run = RunClick({"init", "-rpfdask"});
  EXPECT_TRUE(run.flags.is_dry);
  EXPECT_TRUE(run.flags.is_pushed);
  EXPECT_EQ(run.flags.framework, "dask");
}

TEST(Click_OptionalValue, IsTakenOnlyWhenOneFollows) {
  EXPECT_EQ(RunClick({"init", "-f", "dask", "-i"}).flags.image, "alone");
  EXPECT_EQ(RunClick({"init", "-i", "-f", "dask"}).flags.image, "alone");
  EXPECT_EQ(RunClick({"init", "-f", "dask", "-i", "x"}).flags.image, "x");
}

TEST(Click_Positionals, MayStandAnywhere) {
  EXPECT_EQ(RunClick({"init", "one", "-f", "dask"}).args, std::vector<std::string>{"one"});
  EXPECT_EQ(RunClick({"init", "-f", "dask", "--", "-f"}).args, std::vector<std::string>{"-f"});
}

TEST(Click_UsageErrors, HaveClicksTextsAndCode) {
  const std::string usage =
      "Usage: ads opctl init [OPTIONS] [NAME]\nTry 'ads opctl init --help' for help.\n\nError: ";
  const auto expect = [&](std::vector<std::string> args, const std::string& error) {
    const ClickOutcome run = RunClick(std::move(args));
    EXPECT_EQ(run.code, 2) << error;
    EXPECT_EQ(run.err, usage + error + "\n");
    EXPECT_EQ(run.out, "");
  };
  expect({"init", "-f", "mpi"},
         "Invalid value for '--framework' / '-f': 'mpi' is not one of 'dask', 'pytorch'.");
  expect({"init"}, "Missing option '--framework' / '-f'. Choose from:\n\tdask,\n\tpytorch");
  expect({"init", "-f"}, "Option '-f' requires an argument.");
  expect({"init", "--imag", "x"}, "No such option '--imag'. Did you mean '--image'?");
  expect({"init", "-z"}, "No such option '-z'.");
  expect({"init", "--dry-run=1"}, "Option '--dry-run' does not take a value.");
  expect({"init", "-f", "dask", "a", "b"}, "Got unexpected extra argument (b)");
  expect({"init", "-f", "dask", "a", "b", "c"}, "Got unexpected extra arguments (b c)");
  expect({"init", "-f", "dask", "--interval", "x"},
         "Invalid value for '--interval': 'x' is not a valid integer.");
}

TEST(Click_Commands, AreSuggested) {
  const ClickOutcome run = RunClick({"inti"});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("Error: No such command 'inti'. Did you mean 'init'?"), std::string::npos);
}

TEST(Click_Group, AloneShowsItsHelpAndFails) {
  const ClickOutcome run = RunClick({});
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("Usage: ads opctl [OPTIONS] COMMAND [ARGS]..."), std::string::npos);
  EXPECT_NE(run.err.find("  init  Makes it."), std::string::npos);
}

TEST(Click_Help, ShowsEverySpellingAndTheChoices) {
  for (const char* flag : {"-h", "--help"}) {
    const ClickOutcome run = RunClick({"init", flag, "--no-such"});
    EXPECT_EQ(run.code, 0);
    EXPECT_NE(run.out.find("-f, --framework [dask|pytorch]"), std::string::npos) << run.out;
    EXPECT_NE(run.out.find("-reg, --registry TEXT"), std::string::npos);
    EXPECT_NE(run.out.find("--interval INTEGER"), std::string::npos);
  }
  EXPECT_EQ(RunClick({"shy", "--help"}).code, 0);
  const ClickOutcome refused = RunClick({"shy", "-h"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("Error: No such option '-h'."), std::string::npos);
}

TEST(Click_Failure, KeepsTheNameOfItsKind) {
  const ClickOutcome named = RunClick({"init", "-f", "dask", "ValueError: tag arg is missing"});
  EXPECT_EQ(named.code, 1);
  EXPECT_EQ(named.err, "ValueError: tag arg is missing \n");
  EXPECT_EQ(RunClick({"init", "-f", "dask", "open \"x\": gone"}).err, "Error: open \"x\": gone \n");
}

TEST(Click_Completion, OffersBothKindsOfNames) {
  Command root("ads", "");
  Command& verb = root.Add("opctl", "").ClickStyle();
  std::string registry;
  verb.flags().String(&registry, "registry", "", "Where to.").SingleDash("reg");
  verb.Run([](Invocation&) -> base::Result<int> { return 0; });
  StringOutput out;
  StringOutput err;
  Execute(root, {"__complete", "opctl", "-"}, out, err);
  EXPECT_NE(out.text().find("--registry\tWhere to.\n"), std::string::npos) << out.text();
  EXPECT_NE(out.text().find("\n-reg\tWhere to.\n"), std::string::npos) << out.text();
}

}  // namespace
}  // namespace cli
