#include "local/node/programs/interpreter.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <map>

#include "base/file.h"

namespace local::node {
namespace {

// Paths and their link targets ("" for a regular file).
class FakeFiles : public FileProbe {
 public:
  FakeFiles(std::map<std::string, std::string> files) : files_(std::move(files)) {}
  bool IsExecutable(const std::string& path) const override {
    return Exists(path) && !path.ends_with(".cfg");
  }
  bool Exists(const std::string& path) const override { return files_.contains(path); }
  std::string Canonical(const std::string& path) const override {
    const auto it = files_.find(path);
    if (it == files_.end()) return "";
    return it->second.empty() ? path : Canonical(it->second);
  }

 private:
  std::map<std::string, std::string> files_;
};

const FakeFiles kMachine({
    {"/usr/bin/python3", "/usr/bin/python3.11"},
    {"/usr/bin/python3.11", ""},
    {"/opt/both/bin/python", "/opt/both/bin/python3.12"},
    {"/opt/both/bin/python3", "/opt/both/bin/python3.12"},
    {"/opt/both/bin/python3.12", ""},
    {"/opt/old/bin/python", "/opt/old/bin/python2.7"},
    {"/opt/old/bin/python2.7", ""},
    {"/opt/old/bin/python3", ""},
    {"/venv/pyvenv.cfg", ""},
    {"/venv/bin/python", "/usr/bin/python3"},
    {"/venv/bin/python3", "/venv/bin/python"},
    {"/half/pyvenv.cfg", ""},
    {"/half/bin/python3", "/usr/bin/python3"},
    {"/conda/bin/python", "/conda/bin/python3.10"},
    {"/conda/bin/python3", "/conda/bin/python3.10"},
    {"/conda/bin/python3.10", ""},
    {"/home/u/.pyenv/shims/python", ""},
    {"/home/u/.pyenv/shims/python3", ""},
});

struct ChoiceCase {
  std::string name;
  std::string configured;
  std::map<std::string, std::string> environment;
  std::string chosen;
};

TEST(ChooseInterpreter, ByConfigurationThenEnvironmentThenPath) {
  const std::vector<ChoiceCase> cases = {
      {"configured wins",
       "/opt/both/bin/python3",
       {{"VIRTUAL_ENV", "/venv"}},
       "/opt/both/bin/python3"},
      {"the active virtualenv",
       "",
       {{"VIRTUAL_ENV", "/venv"}, {"CONDA_PREFIX", "/conda"}},
       "/venv/bin/python3"},
      {"conda", "", {{"CONDA_PREFIX", "/conda"}, {"PATH", "/usr/bin"}}, "/conda/bin/python3"},
      {"a virtualenv that is gone is passed over",
       "",
       {{"VIRTUAL_ENV", "/gone"}, {"PATH", "/usr/bin"}},
       "/usr/bin/python3"},
      {"the first on PATH",
       "",
       {{"PATH", "/nothing:/opt/both/bin:/usr/bin"}},
       "/opt/both/bin/python3"},
      {"a pyenv shim stays one",
       "",
       {{"PATH", "/home/u/.pyenv/shims:/usr/bin"}},
       "/home/u/.pyenv/shims/python3"},
      {"relative entries of PATH do not count", "", {{"PATH", "bin::."}}, "/usr/bin/python3"},
      {"without PATH", "", {}, "/usr/bin/python3"},
  };
  for (const ChoiceCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto chosen = ChooseInterpreter(c.configured, base::Environment(c.environment), kMachine);
    ASSERT_TRUE(chosen) << chosen.error().message;
    EXPECT_EQ(*chosen, c.chosen);
  }
}

TEST(ChooseInterpreter, SaysWhatIsWrong) {
  for (const char* bad : {"/nowhere/python3", "python3", "bin/python3"}) {
    const auto chosen = ChooseInterpreter(bad, base::Environment(), kMachine);
    ASSERT_FALSE(chosen) << bad;
    EXPECT_EQ(chosen.error().message, std::string("local.python: \"") + bad +
                                          "\" is not the absolute path of an executable file");
  }
  EXPECT_EQ(ChooseInterpreter("", base::Environment(), FakeFiles({})).error().code,
            base::Code::kNotFound);
}

struct PathCase {
  std::string name;
  std::string interpreter;
  std::string path;
  std::string directory;  // "*" is one under /state/python
  bool is_wrapper = false;
};

TEST(PlanInterpreterPath, MakesBothNamesStartIt) {
  const std::vector<PathCase> cases = {
      {"Debian has no python", "/usr/bin/python3", "/usr/bin:/bin", "*"},
      {"the interpreter's own directory", "/opt/both/bin/python3", "/usr/bin", "/opt/both/bin"},
      {"PATH finds it under both names", "/opt/both/bin/python3", "/opt/both/bin:/usr/bin", ""},
      {"another comes first on PATH", "/opt/both/bin/python3", "/conda/bin:/opt/both/bin",
       "/opt/both/bin"},
      {"python is another one there", "/opt/old/bin/python3", "/usr/bin", "*"},
      {"an active virtualenv", "/venv/bin/python3", "/venv/bin:/usr/bin", ""},
      {"a virtualenv that is not on PATH", "/venv/bin/python3", "/usr/bin", "/venv/bin"},
      {"a virtualenv without python", "/half/bin/python3", "/half/bin:/usr/bin", "*", true},
      {"the base of a virtualenv on PATH is not the virtualenv", "/usr/bin/python3",
       "/venv/bin:/usr/bin", "*"},
      {"pyenv's shims", "/home/u/.pyenv/shims/python3", "/usr/bin", "/home/u/.pyenv/shims"},
      {"pyenv's shims on PATH", "/home/u/.pyenv/shims/python3", "/home/u/.pyenv/shims:/usr/bin",
       ""},
  };
  for (const PathCase& c : cases) {
    SCOPED_TRACE(c.name);
    const InterpreterPath plan = PlanInterpreterPath(c.interpreter, c.path, "/state", kMachine);
    if (c.directory != "*") {
      EXPECT_EQ(plan.directory, c.directory);
      EXPECT_TRUE(plan.files.empty());
      continue;
    }
    EXPECT_TRUE(plan.directory.starts_with("/state/python/")) << plan.directory;
    ASSERT_EQ(plan.files.size(), 2u);
    EXPECT_EQ(plan.form == InterpreterPath::Form::kWrapper, c.is_wrapper);
    EXPECT_EQ(plan.files.at("python"),
              c.is_wrapper ? "#!/bin/sh\nexec " + c.interpreter + " \"$@\"\n" : c.interpreter);
    EXPECT_EQ(plan.files.at("python3"), plan.files.at("python"));
  }
}

TEST(MakeInterpreterPath, MakesLinksAndWrappersOnce) {
  std::string temporary = ::testing::TempDir() + "interpreter-XXXXXX";
  ASSERT_NE(::mkdtemp(temporary.data()), nullptr);
  for (const InterpreterPath::Form form :
       {InterpreterPath::Form::kLink, InterpreterPath::Form::kWrapper}) {
    InterpreterPath plan;
    plan.directory = temporary + (form == InterpreterPath::Form::kLink ? "/link" : "/wrapper");
    plan.form = form;
    for (const char* name : {"python", "python3"}) {
      plan.files[name] =
          form == InterpreterPath::Form::kLink ? "/bin/echo" : "#!/bin/sh\nexec /bin/echo \"$@\"\n";
    }
    for (int i = 0; i < 2; ++i) {
      const base::Status made = MakeInterpreterPath(plan);
      ASSERT_TRUE(made) << made.error().message;
    }
    EXPECT_TRUE(SystemFiles().IsExecutable(plan.directory + "/python"));
    EXPECT_TRUE(SystemFiles().IsExecutable(plan.directory + "/python3"));
  }
  EXPECT_TRUE(base::RemoveTree(temporary));
}

}  // namespace
}  // namespace local::node
