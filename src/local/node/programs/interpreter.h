// Which Python a pod gets, and how it is put first on the pod's PATH as `python` and `python3`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"

namespace local::node {

// File system queries as an interface, so that the choice is pure.
class FileProbe {
 public:
  virtual ~FileProbe() = default;
  // Whether it is a regular file, after following links, that this user may execute.
  virtual bool IsExecutable(const std::string& path) const = 0;
  virtual bool Exists(const std::string& path) const = 0;
  // The path with all links resolved; "" when it does not exist.
  virtual std::string Canonical(const std::string& path) const = 0;
};
const FileProbe& SystemFiles();

// Absolute path of the interpreter: `configured` (local.python, "" when unset), or that of
// VIRTUAL_ENV, or of CONDA_PREFIX, or the first python3 or python on PATH, or /usr/bin/python3.
// Links are not resolved, because a virtualenv is recognized by its link; nor are pyenv shims,
// which choose their version at each start by the pod's directory and PYENV_VERSION.
// kInvalidArgument when `configured` cannot be executed, kNotFound when there is no Python.
base::Result<std::string> ChooseInterpreter(const std::string& configured,
                                            const base::Environment& environment,
                                            const FileProbe& files);

// Makes an interpreter available as `python` and `python3`.
struct InterpreterPath {
  // To be put first on PATH; "" when PATH starts the interpreter under both names already.
  std::string directory;
  // File name -> content or link target, to be created in `directory` if absent; empty when the
  // directory is the interpreter's own.
  enum class Form { kLink, kWrapper };
  Form form = Form::kLink;
  std::map<std::string, std::string> files;
};

// `path` is the pod's PATH, `state` the directory under which python/<hash>/ may be created.
InterpreterPath PlanInterpreterPath(const std::string& interpreter, std::string_view path,
                                    const std::string& state, const FileProbe& files);

// Creates the files of the plan unless they exist. May run several times at once.
base::Status MakeInterpreterPath(const InterpreterPath& plan);

}  // namespace local::node
