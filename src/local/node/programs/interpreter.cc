#include "local/node/programs/interpreter.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "base/file.h"
#include "base/strings.h"

namespace local::node {

namespace {

constexpr std::array<const char*, 2> kNames = {"python3", "python"};
constexpr const char* kLastResort = "/usr/bin/python3";

class System : public FileProbe {
 public:
  bool IsExecutable(const std::string& path) const override {
    struct stat info{};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
           ::access(path.c_str(), X_OK) == 0;
  }
  bool Exists(const std::string& path) const override { return ::access(path.c_str(), F_OK) == 0; }
  std::string Canonical(const std::string& path) const override {
    std::array<char, PATH_MAX> resolved{};
    if (::realpath(path.c_str(), resolved.data()) == nullptr) return "";
    return resolved.data();
  }
};

// pyenv's shims are one script that examines the name by which it was called.
bool IsPyenvShimDirectory(std::string_view directory) { return directory.ends_with("/shims"); }

bool IsSameProgram(const std::string& a, const std::string& b, const FileProbe& files) {
  if (!files.IsExecutable(a) || !files.IsExecutable(b)) return false;
  if (base::DirectoryOf(a) == base::DirectoryOf(b) && IsPyenvShimDirectory(base::DirectoryOf(a)))
    return true;
  // Two virtualenvs of one interpreter differ although their canonical paths are the same.
  return files.Canonical(a) == files.Canonical(b) &&
         (base::DirectoryOf(a) == base::DirectoryOf(b) ||
          (!files.Exists(base::DirectoryOf(base::DirectoryOf(a)) + "/pyvenv.cfg") &&
           !files.Exists(base::DirectoryOf(base::DirectoryOf(b)) + "/pyvenv.cfg")));
}

// The first executable with that name on `path`; "" when there is none.
std::string Which(std::string_view path, const std::string& name, const FileProbe& files) {
  for (const std::string& directory : base::Split(path, ':')) {
    if (!directory.starts_with('/')) continue;  // relative: a pod would resolve it differently
    std::string candidate = directory + (directory.ends_with('/') ? "" : "/") + name;
    if (files.IsExecutable(candidate)) return candidate;
  }
  return "";
}

}  // namespace

const FileProbe& SystemFiles() {
  static const System system;
  return system;
}

base::Result<std::string> ChooseInterpreter(const std::string& configured,
                                            const base::Environment& environment,
                                            const FileProbe& files) {
  if (!configured.empty()) {
    if (configured.starts_with('/') && files.IsExecutable(configured)) return configured;
    return base::Fail(
        base::Code::kInvalidArgument,
        fmt::format("local.python: \"{}\" is not the absolute path of an executable file",
                    configured));
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = environment.GetOr(variable, "");
    if (!prefix.starts_with('/')) continue;
    for (const char* name : kNames) {
      std::string candidate = prefix + "/bin/" + name;
      if (files.IsExecutable(candidate)) return candidate;
    }
  }
  for (const char* name : kNames) {
    std::string found = Which(environment.GetOr("PATH", ""), name, files);
    if (!found.empty()) return found;
  }
  if (files.IsExecutable(kLastResort)) return std::string(kLastResort);
  return base::Fail(base::Code::kNotFound,
                    "no Python: put python3 on PATH, or set local.python in muster's config.yaml");
}

InterpreterPath PlanInterpreterPath(const std::string& interpreter, std::string_view path,
                                    const std::string& state, const FileProbe& files) {
  InterpreterPath plan;
  const std::string own = base::DirectoryOf(interpreter);
  const bool is_found_already = IsSameProgram(Which(path, "python", files), interpreter, files) &&
                                IsSameProgram(Which(path, "python3", files), interpreter, files);
  if (is_found_already) return plan;
  if (IsSameProgram(own + "/python", interpreter, files) &&
      IsSameProgram(own + "/python3", interpreter, files)) {
    plan.directory = own;
    return plan;
  }
  plan.directory = state + "/python/" + base::Md5Hex(interpreter).substr(0, 16);
  // Python finds its virtualenv, and pyenv its version, by the path of the program: a link
  // elsewhere would break both.
  const bool is_bound_to_its_path =
      files.Exists(base::DirectoryOf(own) + "/pyvenv.cfg") || IsPyenvShimDirectory(own);
  plan.form = is_bound_to_its_path ? InterpreterPath::Form::kWrapper : InterpreterPath::Form::kLink;
  for (const char* name : kNames) {
    plan.files[name] = is_bound_to_its_path ? fmt::format("#!/bin/sh\nexec {} \"$@\"\n",
                                                          base::ShellQuote(interpreter))
                                            : interpreter;
  }
  return plan;
}

base::Status MakeInterpreterPath(const InterpreterPath& plan) {
  if (plan.files.empty()) return {};
  TRY(base::MakeDirs(plan.directory));
  for (const auto& [name, content] : plan.files) {
    const std::string path = plan.directory + "/" + name;
    if (plan.form == InterpreterPath::Form::kWrapper) {
      if (::access(path.c_str(), X_OK) == 0) continue;
      TRY(base::WriteFileAtomic(path, content, 0700, base::Durability::kNone));
    } else if (::symlink(content.c_str(), path.c_str()) != 0 && errno != EEXIST) {
      return base::Fail(base::Errno(errno, "link " + path));
    }
  }
  return {};
}

}  // namespace local::node
