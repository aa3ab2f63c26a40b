// Which Python a pod gets, and how it comes first on the pod's PATH as `python` and `python3`.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"

namespace local::node {

// What is asked of the file system, so that the choice is pure.
class FileProbe {
 public:
  virtual ~FileProbe() = default;
  // A regular file, after links, that this user may execute.
  virtual bool IsExecutable(const std::string& path) const = 0;
  virtual bool Exists(const std::string& path) const = 0;
  // With every link resolved; "" when it does not exist.
  virtual std::string Canonical(const std::string& path) const = 0;
};
const FileProbe& SystemFiles();

// Absolute path of the interpreter: `configured` (local.python, "" when unset), else that of
// VIRTUAL_ENV, else of CONDA_PREFIX, else the first python3 or python on PATH, else
// /usr/bin/python3. A link is kept as it is: a virtualenv is known by it. So is a pyenv shim, which
// chooses its version at each start by the pod's directory and PYENV_VERSION. kInvalidArgument when
// `configured` cannot be executed, kNotFound when there is none at all.
base::Result<std::string> ChooseInterpreter(const std::string& configured,
                                            const base::Environment& environment,
                                            const FileProbe& files);

// What makes an interpreter `python` and `python3`.
struct InterpreterPath {
  // To be put first on PATH; "" when PATH already starts it under both names.
  std::string directory;
  // File name -> content or link target, to be made in `directory` when not there; empty when it is
  // the interpreter's own.
  enum class Form { kLink, kWrapper };
  Form form = Form::kLink;
  std::map<std::string, std::string> files;
};

// `path` is the pod's PATH, `state` the directory under which python/<hash>/ may be made.
InterpreterPath PlanInterpreterPath(const std::string& interpreter, std::string_view path,
                                    const std::string& state, const FileProbe& files);

// Makes what the plan names; does nothing when it is there. Several at once are fine.
base::Status MakeInterpreterPath(const InterpreterPath& plan);

}  // namespace local::node
