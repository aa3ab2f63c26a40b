#include "arena/folder/run_note.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"

namespace arena {
namespace {

class RunNoteTest : public testing::Test {
 protected:
  RunNoteTest() {
    char path[] = "/tmp/muster-note-XXXXXX";
    folder_ = ::mkdtemp(path);
    environment_.Set("XDG_STATE_HOME", folder_);
  }
  ~RunNoteTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  base::Environment environment_{std::map<std::string, std::string>{}};
};

TEST_F(RunNoteTest, IsReadAsItWasWritten) {
  RunNote note;
  note.name = "base";
  note.command = "exec python train.py";
  note.root = "/home/me";
  note.snapshot = "12ab";
  note.flags = {"--nodes=2", "--env=A=b c"};
  note.args = {"train.py", "--lr", "0.1", ""};
  note.environment = {{"FOO", "abc"}};
  note.changes = 2;
  note.diff = "-a\n+caf\xe9\n";
  const auto read = ParseRunNote(text::ToJson(ToJson(note)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, note.name);
  EXPECT_EQ(read->flags, note.flags);
  EXPECT_EQ(read->args, note.args);
  EXPECT_EQ(read->environment, note.environment);
  EXPECT_EQ(read->changes, 2);
  EXPECT_EQ(read->diff, "-a\n+caf\xEF\xBF\xBD\n");
  EXPECT_FALSE(ParseRunNote("[1"));
  EXPECT_TRUE(ParseRunNote("{}")) << "a note that says nothing";
  for (const char* const none : {"[]", R"({"job": {}, "note": null})"}) {
    EXPECT_FALSE(ParseRunNote(none)) << none;
  }
  const auto seen = ParseRunNote(R"({"job": {}, "note": {"name": "base"}})");
  ASSERT_TRUE(seen) << "what is remembered of a run elsewhere";
  EXPECT_EQ(seen->name, "base");
}

TEST_F(RunNoteTest, FilesAreNamedSoThatTheyAreFoundFromAnywhere) {
  cli::FlagSet set;
  std::vector<std::string> sweeps, files, words;
  set.StringArray(&sweeps, "sweep", "");
  set.StringArray(&files, "env-file", "");
  set.StringArray(&words, "env", "");
  std::vector<cli::Flag*> flags;
  for (const auto& flag : set.flags()) flags.push_back(flag.get());
  ASSERT_TRUE(cli::FlagParser(flags, cli::kPflag)
                  .Parse({"--sweep=@grid.jsonl", "--sweep=lr=1", "--env-file=a.env",
                          "--env-file=/b.env", "--env=A=b"}));
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(FlagsToRepeat(set),
            (std::vector<std::string>{"--sweep=@" + here + "/grid.jsonl", "--sweep=lr=1",
                                      "--env-file=" + here + "/a.env", "--env-file=/b.env",
                                      "--env=A=b"}));
}

TEST_F(RunNoteTest, DigestsDistinguishValuesAndDoNotShowThem) {
  const auto first = DigestsOf({{"A", "secret"}, {"B", "secret"}}, environment_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(*first, DigestsOf({{"A", "secret"}, {"B", "secret"}}, environment_).value());
  EXPECT_NE(first->at("A"), first->at("B"));
  EXPECT_NE(first->at("A"), DigestsOf({{"A", "other"}}, environment_).value().at("A"));
  EXPECT_EQ(first->at("A").size(), 12u);
  struct stat info{};
  ASSERT_EQ(::stat((folder_ + "/muster/digest-key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(RunNoteTest, ARunsFolderLiesAmongThoseOfRuns) {
  const auto job = [](const std::string& value) -> text::Json {
    text::Json container = text::Object{
        {"env", text::Array{text::Object{{"name", "MUSTER_RUN_DIR"}, {"value", value}}}}};
    return text::Object{
        {"spec",
         text::Object{
             {"pytorchReplicaSpecs",
              text::Object{
                  {"Master",
                   text::Object{
                       {"template",
                        text::Object{
                            {"spec", text::Object{{"containers", text::Array{container}}}}}}}}}}}}};
  };
  const std::string runs = folder_ + "/muster/runs";
  EXPECT_EQ(RunFolderOf(job(runs + "/a.2/files"), environment_), runs + "/a.2");
  EXPECT_EQ(RunFolderOf(job(runs + "/../../etc/files"), environment_), "");
  EXPECT_EQ(RunFolderOf(job("/home/me/files"), environment_), "");
  EXPECT_EQ(RunFolderOf(text::Object{}, environment_), "");
}

TEST_F(RunNoteTest, APathInARunsCodeIsNamedAsInTheFolderThatWasCopied) {
  const std::string run = folder_ + "/muster/runs/a.2";
  EXPECT_EQ(PathInCode(run + "/code/pkg/train.py", environment_), "pkg/train.py");
  for (const std::string& path :
       {run + "/files/code/x.py", run + "/code", folder_ + "/muster/runs/",
        std::string("code/x.py"), std::string("/home/me/code/x.py"), std::string()}) {
    EXPECT_EQ(PathInCode(path, environment_), path);
  }
}

}  // namespace
}  // namespace arena
