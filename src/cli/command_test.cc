#include "cli/command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "base/file.h"

namespace cli {
namespace {

class CommandTest : public testing::Test {
 protected:
  CommandTest() {
    root_.Long("muster runs jobs").Version("muster 1.2");
    root_.persistent_flags().String(&namespace_, "namespace", "", "the namespace").Short('n');
    root_.Before([this](Invocation&) -> base::Status {
      ++befores_;
      return {};
    });
    Command& list = root_.Add("list", "List jobs").Aliases({"ls"}).Args(NoArgs());
    list.Example("  muster list -A\n");
    list.flags().Bool(&all_, "all", false, "all of them").Short('A');
    list.flags().String(&output_, "output", "", "json|yaml").Short('o').Choices({"json", "yaml"});
    list.Run([this](Invocation&) -> base::Result<int> {
      ran_ = "list";
      return 0;
    });
    Command& submit = root_.Add("submit", "Submit a job");
    Command& torch = submit.Add("pytorchjob COMMAND", "Submit a PyTorchJob").Aliases({"pytorch"});
    torch.flags().String(&name_, "name", "", "its name").Required();
    torch.flags().String(&image_, "image", "", "its image").Required();
    torch.Check([](Invocation& call) -> base::Status {
      if (call.args.empty()) return base::Fail(base::Code::kInvalidArgument, "no command");
      return {};
    });
    torch.Run([this](Invocation& call) -> base::Result<int> {
      ran_ = "submit " + call.args[0];
      changed_ = call.command.Changed("namespace");
      return base::Fail(base::Code::kUnavailable, "no cluster");
    });
    root_.Add("daemon", "").Hidden().RawArgs().Run([this](Invocation& call) -> base::Result<int> {
      ran_ = "daemon";
      raw_ = call.args;
      return 7;
    });
  }

  Outcome Do(const std::vector<std::string>& args) { return Execute(root_, args, out_, err_); }
  std::string ErrorOf(const std::vector<std::string>& args, int exit_code) {
    const Outcome outcome = Do(args);
    EXPECT_EQ(outcome.exit_code, exit_code);
    return outcome.error ? outcome.error->message : "";
  }

  Command root_{"muster", "run jobs"};
  StringOutput out_, err_;
  std::string namespace_, name_, image_, output_, ran_;
  std::vector<std::string> raw_;
  bool all_ = false, changed_ = false;
  int befores_ = 0;
};

TEST_F(CommandTest, HelpOfCompletionShowsTheLineThatLoadsIt) {
  for (const char* shell : {"bash", "zsh"}) {
    Do({"completion", shell, "--help"});
    EXPECT_NE(out_.text().find(std::string("\n  source <(muster completion ") + shell + ")\n"),
              std::string::npos)
        << out_.text();
  }
}

TEST_F(CommandTest, FindsByAliasAndTakesPersistentFlagsAnywhere) {
  EXPECT_EQ(Do({"-n", "list", "ls", "-A"}).exit_code, 0);
  EXPECT_EQ(ran_, "list");
  EXPECT_EQ(namespace_, "list");
  EXPECT_TRUE(all_);
  EXPECT_EQ(befores_, 1);
}

TEST_F(CommandTest, ChecksAreUsageErrorsAndRunsAreFailures) {
  EXPECT_EQ(ErrorOf({"submit", "pytorch"}, 2), R"(required flag(s) "name", "image" not set)");
  EXPECT_EQ(ErrorOf({"submit", "pytorch", "--name=a", "--image=i"}, 2), "no command");
  EXPECT_EQ(ran_, "");
  EXPECT_EQ(ErrorOf({"submit", "pytorch", "--name=a", "--image=i", "c", "--namespace=x"}, 1),
            "no cluster");
  EXPECT_TRUE(changed_);
}

TEST_F(CommandTest, UnknownCommandsAreSuggestedFor) {
  EXPECT_EQ(ErrorOf({"lst"}, 2), "unknown command \"lst\" for \"muster\" (did you mean list?)");
  EXPECT_EQ(ErrorOf({"submit", "x"}, 2), "unknown command \"x\" for \"muster submit\"");
  EXPECT_EQ(ErrorOf({"list", "x"}, 2), "\"x\" is one argument too many: muster list [flags]");
  for (const char* flag : {"--lr=1", "-x", "--help"}) {
    EXPECT_EQ(ErrorOf({"train", flag}, 2), "unknown command \"train\" for \"muster\"") << flag;
  }
}

TEST_F(CommandTest, WhatIsMissingIsNamedWithTheLineThatHasIt) {
  root_.Add("compare RUN RUN...", "Compare").Args(MinArgs(2)).Run([](Invocation&) { return 0; });
  root_.Add("show RUN", "Show").Args(ExactArgs(1)).Run([](Invocation&) { return 0; });
  EXPECT_EQ(ErrorOf({"show"}, 2), "RUN is missing: muster show RUN [flags]");
  EXPECT_EQ(ErrorOf({"show", "a", "b"}, 2),
            "\"b\" is one argument too many: muster show RUN [flags]");
  EXPECT_EQ(ErrorOf({"compare", "a"}, 2), "RUN... is missing: muster compare RUN RUN... [flags]");
}

TEST_F(CommandTest, ASynonymNamesItsCommand) {
  static constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {{"kill", "delete"}};
  root_.Synonyms(kSynonyms);
  EXPECT_EQ(ErrorOf({"kill"}, 2),
            "unknown command \"kill\" for \"muster\" (did you mean `muster delete`?)");
}

TEST_F(CommandTest, AProgramInPlaceOfACommandNamesTheCommandThatRunsIt) {
  root_.RunsPrograms("run");
  for (const std::string name : {"train.py", "./train", "python3", "a.sh"}) {
    EXPECT_EQ(ErrorOf({name, "--lr", "1"}, 2),
              fmt::format("unknown command \"{0}\" for \"muster\" (did you mean `muster run {0}`?)",
                          name));
  }
  EXPECT_EQ(ErrorOf({"trainpy"}, 2), "unknown command \"trainpy\" for \"muster\"");
}

TEST_F(CommandTest, ACallMakesOnlyTheCommandThatItNames) {
  std::vector<std::string> made;
  const auto add = [this, &made](const std::string& name) {
    root_.AddLater(name, [name, &made](Command& parent) {
      made.push_back(name);
      parent.Add(name, "").Aliases({name + "s"}).Run([](Invocation& call) -> base::Result<int> {
        return static_cast<int>(call.command.Path().size());
      });
    });
  };
  static const std::string kLate = "late", kNever = "never";
  add(kLate);
  add(kNever);
  root_.AddLater("late", [](Command& parent) { parent.FindChild("late")->Hidden(); });
  EXPECT_EQ(Do({"-n", "x", "late"}).exit_code, 11);
  EXPECT_EQ(Do({"list"}).exit_code, 0);
  EXPECT_EQ(made, std::vector<std::string>{"late"});
  EXPECT_EQ(Do({"nevers"}).exit_code, 12) << "an alias may be any command's";
  EXPECT_EQ(Do({"late"}).exit_code, 11);
  EXPECT_EQ(made, (std::vector<std::string>{"late", "never"}));
}

TEST_F(CommandTest, HelpAndSuggestionsKnowTheCommandsThatWereNotMade) {
  root_.AddLater("late", [](Command& parent) { parent.Add("late", "comes late"); });
  EXPECT_EQ(ErrorOf({"latest"}, 2),
            "unknown command \"latest\" for \"muster\" (did you mean late?)");
  root_.FindChild("submit")->AddLater("", [](Command& parent) { parent.Add("tfjob", "as ever"); });
  EXPECT_EQ(Do({"submit", "--help"}).exit_code, 0);
  EXPECT_NE(out_.text().find("as ever"), std::string::npos);
}

TEST_F(CommandTest, RawCommandsGetEverything) {
  EXPECT_EQ(Do({"daemon", "--help", "-x"}).exit_code, 7);
  EXPECT_EQ(raw_, (std::vector<std::string>{"--help", "-x"}));
}

TEST_F(CommandTest, HelpHasCobrasLayout) {
  const std::string expected = R"(muster runs jobs

Usage:
  muster [command]

Available Commands:
  completion  Print a completion script for the shell
  help        Help about any command
  list        List jobs
  submit      Submit a job

Flags:
  -h, --help               help for muster
  -n, --namespace string   the namespace
  -v, --version            version for muster

Use "muster [command] --help" for more information about a command.
)";
  EXPECT_EQ(Do({}).exit_code, 0);
  EXPECT_EQ(out_.text(), expected);
}

TEST_F(CommandTest, HelpShowsGroupsInTheirOrderAndTheRestLast) {
  root_.Group("Jobs", {"submit", "list"});
  EXPECT_EQ(Do({"--help"}).exit_code, 0);
  EXPECT_NE(out_.text().find(R"(
Jobs:
  submit      Submit a job
  list        List jobs

Other Commands:
  completion  Print a completion script for the shell
  help        Help about any command

Flags:
)"),
            std::string::npos)
      << out_.text();
}

TEST_F(CommandTest, WhatRunsAloneDoesSoOnATerminalOnly) {
  root_.RunAlone([this](Invocation&) -> base::Result<int> {
    ran_ = "alone";
    return 0;
  });
  EXPECT_EQ(Do({}).exit_code, 0);
  EXPECT_EQ(ran_, "");
  EXPECT_TRUE(out_.text().starts_with("muster runs jobs\n\nUsage:\n  muster [command]\n"));

  struct Terminal : StringOutput {
    bool IsTerminal() const override { return true; }
  } terminal;
  EXPECT_EQ(Execute(root_, {}, terminal, err_).exit_code, 0);
  EXPECT_EQ(ran_, "alone");
  EXPECT_EQ(Execute(root_, {"lst"}, terminal, err_).exit_code, 2);
  EXPECT_EQ(terminal.text(), "");
}

TEST_F(CommandTest, AnAliasHasAMeaningOfItsOwnWithoutArguments) {
  std::string ran;
  Command& get = root_.Add("fetch JOB", "").Args(ExactArgs(1)).Aliases({"status"});
  get.Run([&ran](Invocation& call) -> base::Result<int> {
    ran = "of " + call.args[0];
    return 0;
  });
  get.CalledAlone("status", [&ran](Invocation&) -> base::Result<int> {
    ran = "of all";
    return 0;
  });
  EXPECT_EQ(Do({"status"}).exit_code, 0);
  EXPECT_EQ(ran, "of all");
  EXPECT_EQ(Do({"status", "x"}).exit_code, 0);
  EXPECT_EQ(ran, "of x");
  EXPECT_EQ(Do({"fetch"}).exit_code, 2);
  EXPECT_EQ(ran, "of x");
}

TEST_F(CommandTest, ThePagesOfTheManualSayWhatHelpSays) {
  const std::string folder = testing::TempDir() + "muster-manual";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  EXPECT_EQ(Do({"__man", folder}).exit_code, 0);
  std::set<std::string> names;
  for (const auto& page : std::filesystem::directory_iterator(folder)) {
    names.insert(page.path().filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{
                       "muster.1", "muster-completion.1", "muster-completion-bash.1",
                       "muster-completion-fish.1", "muster-completion-zsh.1", "muster-help.1",
                       "muster-list.1", "muster-submit.1", "muster-submit-pytorchjob.1"}));
  const auto page = base::ReadFile(folder + "/muster-list.1");
  ASSERT_TRUE(page);
  EXPECT_EQ(*page, R"(.TH "MUSTER\-LIST" 1 "" "muster 1.2" "User Commands"
.SH NAME
muster\-list \- List jobs
.SH SYNOPSIS
.B muster list [flags]
.br
or ls
.SH DESCRIPTION
.nf
List jobs
.fi
.SH OPTIONS
.TP
.B \-A, \-\-all
all of them
.TP
.B \-o, \-\-output string
json|yaml
.SH GLOBAL OPTIONS
.TP
.B \-n, \-\-namespace string
the namespace
.SH EXAMPLES
.nf
  muster list \-A
.fi
.SH SEE ALSO
.BR muster (1)
)");
  std::filesystem::remove_all(folder);
  EXPECT_EQ(ErrorOf({"__man", folder}, 1).find("No such file") != std::string::npos, true);
}

TEST_F(CommandTest, ThePagesOfTheReferenceAreWhatHelpPrints) {
  const std::string folder = testing::TempDir() + "muster-reference";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  EXPECT_EQ(Do({"__reference", folder}).exit_code, 0);
  const auto index = base::ReadFile(folder + "/README.md");
  ASSERT_TRUE(index);
  EXPECT_NE(index->find("| [submit](submit.md) | "), std::string::npos);
  const auto page = base::ReadFile(folder + "/submit.md");
  ASSERT_TRUE(page);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"submit"}, {"submit", "pytorchjob"}}) {
    std::vector<std::string> asked = command;
    asked.emplace_back("--help");
    StringOutput help;
    EXPECT_EQ(Execute(root_, asked, help, err_).exit_code, 0);
    EXPECT_NE(page->find(help.text()), std::string::npos) << *page;
  }
  std::filesystem::remove_all(folder);
}

TEST_F(CommandTest, HelpOfALeafShowsAliasesExamplesAndGlobalFlags) {
  EXPECT_EQ(Do({"help", "list"}).exit_code, 0);
  EXPECT_EQ(out_.text(), R"(List jobs

Usage:
  muster list [flags]

Aliases:
  list, ls

Examples:
  muster list -A

Flags:
  -A, --all             all of them
  -h, --help            help for list
  -o, --output string   json|yaml

Global Flags:
  -n, --namespace string   the namespace
)");
}

TEST(CommandErrors, AreInGosWordsUnderTheNameArenaAlone) {
  const auto error_of = [](const char* name, const char* flag) {
    Command root(name, "");
    int64_t count = 0;
    bool is_wanted = false;
    std::chrono::nanoseconds time{};
    root.flags().Int(&count, "count", 0, "");
    root.flags().Bool(&is_wanted, "wanted", false, "");
    root.flags().Duration(&time, "time", time, "");
    root.Run([](Invocation&) -> base::Result<int> { return 0; });
    StringOutput out, err;
    return Execute(root, {flag}, out, err).error.value().message;
  };
  EXPECT_EQ(error_of("muster", "--count=x"),
            R"(invalid argument "x" for "--count" flag: must be a whole number)");
  EXPECT_EQ(error_of("muster", "--count=99999999999999999999"),
            R"(invalid argument "99999999999999999999" for "--count" flag: it is too large)");
  EXPECT_EQ(error_of("muster", "--wanted=maybe"),
            R"(invalid argument "maybe" for "--wanted" flag: must be true or false)");
  EXPECT_EQ(error_of("muster", "--time=7d"),
            R"(invalid argument "7d" for "--time" flag: must be a duration such as 90s or 2h30m)");
  EXPECT_EQ(
      error_of("arena", "--count=x"),
      R"(invalid argument "x" for "--count" flag: strconv.ParseInt: parsing "x": invalid syntax)");
}

TEST_F(CommandTest, FlagsStandUnderTheirHeadings) {
  Command root("muster", "");
  std::string text;
  FlagSet& flags = root.flags();
  flags.String(&text, "zone", "", "none of both");
  flags.BeginGroup("Second things, which come first");
  flags.String(&text, "b", "", "a b");
  flags.String(&text, "a", "", "an a");
  flags.BeginGroup("First things");
  flags.String(&text, "long-name", "", "a name");
  root.Run([](Invocation&) -> base::Result<int> { return 0; });
  const std::string help = root.HelpText();
  EXPECT_NE(help.find(R"(Flags:
      --zone string   none of both

Second things, which come first:
      --a string   an a
      --b string   a b

First things:
      --long-name string   a name
)"),
            std::string::npos)
      << help;
}

TEST_F(CommandTest, HelpWinsOverWhatIsMissing) {
  EXPECT_EQ(Do({"submit", "pytorch", "--help"}).exit_code, 0);
  EXPECT_TRUE(out_.text().starts_with(
      "Submit a PyTorchJob\n\nUsage:\n  muster submit pytorchjob COMMAND [flags]\n"));
  EXPECT_EQ(ErrorOf({"help", "nothing"}, 2), "Unknown help topic `nothing`");
}

TEST_F(CommandTest, VersionFlagPrintsTheVersion) {
  EXPECT_EQ(Do({"--version"}).exit_code, 0);
  EXPECT_EQ(out_.text(), "muster 1.2\n");
}

TEST_F(CommandTest, CompletesCommandsFlagsAndValues) {
  const auto complete = [this](std::vector<std::string> words) {
    Command root("muster", "");
    std::string output;
    Command& list = root.Add("list", "List jobs").Aliases({"ls"});
    list.flags().String(&output, "output", "", "how").Short('o').Choices({"json", "yaml"});
    list.Run([](Invocation&) -> base::Result<int> { return 0; });
    root.Add("get JOB", "Get a job")
        .Run([](Invocation&) -> base::Result<int> { return 0; })
        .CompleteArgs([](Invocation&, std::string_view) {
          return std::vector<std::string>{"job-a", "job-b", "other"};
        });
    Command& run = root.Add("run COMMAND...", "Run").StopAtFirstArg();
    run.flags().String(&output, "format", "", "how").Choices({"long"});
    run.Run([](Invocation&) -> base::Result<int> { return 0; });
    root.Add("raw", "Raw").RawArgs().Run([](Invocation&) -> base::Result<int> { return 0; });
    StringOutput out;
    words.insert(words.begin(), "__complete");
    EXPECT_EQ(Execute(root, words, out, err_).exit_code, 0);
    return out.text();
  };
  EXPECT_EQ(complete({"l"}), "list\tList jobs\n:4\n");
  EXPECT_EQ(complete({"list", "--o"}), "--output\thow\n:4\n");
  EXPECT_EQ(complete({"list", "-o", ""}), "json\nyaml\n:4\n");
  EXPECT_EQ(complete({"list", "--output=y"}), "--output=yaml\n:4\n");
  EXPECT_EQ(complete({"get", "job"}), "job-a\njob-b\n:4\n");
  EXPECT_EQ(complete({"list", "x"}), ":0\n");
  // From its first argument on, what follows belongs to a program.
  EXPECT_EQ(complete({"run", "-"}), "--format\thow\n--help\thelp for run\n:4\n");
  EXPECT_EQ(complete({"run", "train.py", "-"}), ":0\n");
  EXPECT_EQ(complete({"run", "train.py", "--format="}), ":0\n");
  EXPECT_EQ(complete({"run", "train.py", "--format", ""}), ":0\n");
  EXPECT_EQ(complete({"run", "--", "-"}), ":0\n");
  EXPECT_EQ(complete({"raw", "--"}), ":0\n");
}

TEST_F(CommandTest, CompletionScriptsNameTheProgram) {
  EXPECT_EQ(Do({"completion", "bash"}).exit_code, 0);
  EXPECT_NE(out_.text().find("complete -F __muster_complete muster\n"), std::string::npos);
  EXPECT_NE(out_.text().find("\"${words[@]:1}\""), std::string::npos);
}

}  // namespace
}  // namespace cli
