#include "arena/folder/left_out.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "arena/folder/run_note.h"
#include "text/json.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

class LeftOutTest : public testing::Test {
 protected:
  LeftOutTest() {
    char path[] = "/tmp/muster-left-out-XXXXXX";
    folder_ = ::mkdtemp(path);
    run_ = folder_ + "/runs/a";
    root_ = folder_ + "/mine";
    Touch(root_ + "/sub/data/x.txt");
    Touch(root_ + "/.git/HEAD");
    Touch(root_ + "/kept/x.txt");
    Touch(run_ + "/code/kept/x.txt");
    fs::create_directories(run_ + "/code/sub");
    note_.root = root_;
    note_.inside = "sub";
    note_.snapshot = "12ab";
    Note();
  }
  ~LeftOutTest() override { fs::remove_all(folder_); }

  static void Touch(const std::string& path) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << "x";
  }
  void Note() { std::ofstream(NotePathIn(run_)) << text::ToJson(ToJson(note_)); }
  std::string About(std::string_view line) const { return AdviceOnLeftOut(run_, line); }

  std::string folder_, run_, root_;
  RunNote note_;
};

TEST_F(LeftOutTest, APathIsNamedWithItsReason) {
  const std::string said =
      About("FileNotFoundError: [Errno 2] No such file or directory: 'data/x.txt'");
  EXPECT_EQ(said,
            "sub/data/x.txt is in " + root_ +
                ", but not in the job's copy of it: .gitignore leaves it out, or it is newer. "
                "Run in the folder itself by --live, or name it by its absolute path.");
  EXPECT_EQ(About("Error: could not find file data/x.txt."), said);
  EXPECT_EQ(About("No such file: '" + run_ + "/code/sub/data/x.txt'"), said);
  fs::remove_all(root_ + "/.git");
  EXPECT_NE(About("'data/x.txt'").find(".musterignore leaves it out"), std::string::npos);
}

TEST_F(LeftOutTest, ForAFileToWriteItsFolderIsNamed) {
  EXPECT_EQ(About("No such file or directory: 'data/new/y.txt'").find("sub/data is in "), 0u);
}

TEST_F(LeftOutTest, WhatIsInBothOrInNeitherOrElsewhereIsNot) {
  for (const char* line : {"'../kept/x.txt'", "'../kept/y.txt'", "'nowhere/x'", "'/etc/passwd'",
                           "''", "'.'", "'", "data", "'../../x'", ""}) {
    EXPECT_EQ(About(line), "") << line;
  }
  EXPECT_EQ(AdviceOnLeftOut("", "'data/x.txt'"), "");
  note_.snapshot = "";
  Note();
  EXPECT_EQ(About("'data/x.txt'"), "") << "it ran in the folder itself";
}

TEST_F(LeftOutTest, AModuleIsFoundAsASourceAPackageOrACompiledExtension) {
  Touch(root_ + "/pkg/__init__.py");
  Touch(run_ + "/code/pkg/__init__.py");
  Touch(root_ + "/pkg/_C.cpython-311-x86_64-linux-gnu.so");
  Touch(root_ + "/pkg/_version.py");
  Touch(root_ + "/wandb/run-1/log");
  EXPECT_EQ(About("ModuleNotFoundError: No module named 'pkg._version'"),
            "pkg/_version.py is in " + root_ +
                ", but not in the job's copy of it: .gitignore leaves it out, or it is newer. Run "
                "in the folder itself by --live.");
  const std::string kCompiled = "pkg/_C.cpython-311-x86_64-linux-gnu.so is in ";
  EXPECT_EQ(About("ModuleNotFoundError: No module named 'pkg._C'").find(kCompiled), 0u);
  EXPECT_EQ(
      About("ImportError: cannot import name '_C' from 'pkg' (/a/pkg/__init__.py)").find(kCompiled),
      0u);
  for (const char* line : {"No module named 'wandb'", "No module named 'pkg'", "No module named '",
                           "No module named '/etc'", "cannot import name 'x' from 'pkg'"}) {
    EXPECT_EQ(About(line), "") << line;
  }
}

}  // namespace
}  // namespace arena
