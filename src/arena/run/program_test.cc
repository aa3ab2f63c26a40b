#include "arena/run/program.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

std::string CommandOf(const std::vector<std::string>& words, bool has_ranks = false,
                      const std::string& module = "") {
  return ReadProgram(words, module, has_ranks ? "rank" : "")->command;
}

TEST(Program, AScriptIsPythons) {
  EXPECT_EQ(CommandOf({"train.py", "--lr", "0.1"}), "exec python train.py --lr 0.1");
  EXPECT_EQ(CommandOf({"a b.py", "$x"}), "exec python 'a b.py' '$x'");
  const Program program = *ReadProgram({"src/train.py"}, "", "");
  EXPECT_EQ(program.script, "src/train.py");
  EXPECT_EQ(program.stem, "train");
}

TEST(Program, AModuleTakesTheRest) {
  EXPECT_EQ(CommandOf({"--lr", "1"}, false, "pkg.train"), "exec python -m pkg.train --lr 1");
  EXPECT_EQ(CommandOf({"x"}, true, "pkg.train"),
            "exec torchrun --role=rank --tee=3 -m pkg.train x");
  EXPECT_EQ(ReadProgram({}, "pkg.train", "")->stem, "train");
}

TEST(Program, RanksAreTheLaunchers) {
  EXPECT_EQ(CommandOf({"train.py", "x"}, true), "exec torchrun --role=rank --tee=3 train.py x");
  EXPECT_EQ(CommandOf({"python", "-u", "train.py"}, true),
            "exec torchrun --role=rank --tee=3 train.py");
  EXPECT_EQ(CommandOf({"python3", "-m", "pkg"}, true), "exec torchrun --role=rank --tee=3 -m pkg");
  EXPECT_EQ(CommandOf({"python3.11", "-m", "pkg"}, true),
            "exec torchrun --role=rank --tee=3 --no-python python3.11 -m pkg");
  EXPECT_EQ(CommandOf({"/env/bin/python", "-u", "train.py"}, true),
            "exec torchrun --role=rank --tee=3 --no-python /env/bin/python -u train.py");
  EXPECT_EQ(CommandOf({"python", "-O", "train.py"}, true),
            "exec torchrun --role=rank --tee=3 --no-python python -O train.py");
  EXPECT_EQ(CommandOf({"./prog", "x"}, true),
            "exec torchrun --role=rank --tee=3 --no-python ./prog x");
}

TEST(Program, OtherWordsAreAProgramAndASingleOneWithBlanksAShells) {
  EXPECT_EQ(CommandOf({"python", "-c", "print(1)"}), "exec python -c 'print(1)'");
  EXPECT_EQ(CommandOf({"nvidia-smi"}), "exec nvidia-smi");
  EXPECT_EQ(CommandOf({"echo a; exit 3"}), "echo a; exit 3");
  EXPECT_EQ(ReadProgram({"echo a; exit 3"}, "", "")->stem, "echo");
  EXPECT_EQ(CommandOf({"echo a; exit 3"}, true),
            "exec torchrun --role=rank --tee=3 --no-python sh -c 'echo a; exit 3'");
}

TEST(Program, StdinIsNone) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"-"},
                                                {"python"},
                                                {"python3", "-", "--lr", "1"},
                                                {"/env/bin/python3.11", "-u", "-"},
                                                {"bash"},
                                                {"/bin/sh", "-"},
                                                {"bash", "-s"}}) {
    const auto program = ReadProgram(words, "", "rank");
    ASSERT_FALSE(program) << words[0];
    EXPECT_NE(program.error().message.find("from stdin"), std::string::npos);
  }
  EXPECT_TRUE(ReadProgram({"python", "-c", "-"}, "", ""));
  EXPECT_TRUE(ReadProgram({"bash", "-c", "x"}, "", ""));
  EXPECT_TRUE(ReadProgram({"bash", "-", "x.sh"}, "", ""));
  EXPECT_TRUE(ReadProgram({"cat", "-"}, "", ""));
}

}  // namespace
}  // namespace arena
