#include "local/node/programs/warm_command.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace local::node {
namespace {

using Words = std::vector<std::string>;

std::string WarmText(const std::string& text) {
  const auto warm = WarmCommand({"sh", "-c", text}, "/l/warm python");
  return warm ? (*warm)[2] : "(as it is)";
}

TEST(WarmCommand, PythonItselfIsOne) {
  for (const char* python : {"python", "python3", "python3.11", "/opt/venv/bin/python"}) {
    EXPECT_EQ(WarmCommand({python, "a.py", "b"}, "/w"), (Words{"/w", python, "a.py", "b"}));
  }
  for (const char* other : {"pythonw", "python-config", "ipython", "/opt/python/run", "torchrun"}) {
    EXPECT_FALSE(WarmCommand({other, "a.py"}, "/w")) << other;
  }
  EXPECT_FALSE(WarmCommand({}, "/w"));
}

TEST(WarmCommand, AShellsOnlyCommandIsOneWhateverItsWords) {
  EXPECT_EQ(WarmText("python a.py"), "'/l/warm python' python a.py");
  EXPECT_EQ(WarmText("  python3 -u a.py --lr 1 \n"), "'/l/warm python' python3 -u a.py --lr 1");
  EXPECT_EQ(WarmText("exec python a.py"), "exec '/l/warm python' python a.py");
  EXPECT_EQ(WarmText("A=1 B=$HOME python a.py"), "A=1 B=$HOME '/l/warm python' python a.py");
  EXPECT_EQ(WarmText("python a.py --rank=${RANK} \"$X;y\" 'a; `b`' \\; c#d \\\n --e"),
            "'/l/warm python' python a.py --rank=${RANK} \"$X;y\" 'a; `b`' \\; c#d \\\n --e");
  EXPECT_EQ(WarmCommand({"/bin/bash", "-c", "python a.py"}, "/w"),
            (Words{"/bin/bash", "-c", "'/w' python a.py"}));
}

TEST(WarmCommand, MoreThanASimpleCommandStaysAsItIs) {
  for (const char* text : {"python a.py; echo",
                           "python a.py && echo",
                           "python a.py | tee log",
                           "python a.py > log",
                           "python a.py &",
                           "cd /x && python a.py",
                           "(python a.py)",
                           "{ python a.py; }",
                           "python $(which a.py)",
                           "python `which a.py`",
                           "python \"$(a)\"",
                           "python a.py # why",
                           "python a.py\npython b.py",
                           "python 'a",
                           "python {a,b}.py",
                           "",
                           "echo python",
                           "time python a.py",
                           "! python a.py",
                           "A=1",
                           "$PYTHON a.py",
                           "'python' a.py"}) {
    EXPECT_EQ(WarmText(text), "(as it is)") << text;
  }
  EXPECT_FALSE(WarmCommand({"sh", "-lc", "python a.py"}, "/w"));
  EXPECT_FALSE(WarmCommand({"sh", "-c", "python a.py", "name"}, "/w"));
  EXPECT_FALSE(WarmCommand({"sh", "-c", "python a.py"}, "/it's/w"));
}

}  // namespace
}  // namespace local::node
