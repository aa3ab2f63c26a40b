// What `run` was told to run, as a replica's command.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace arena {

struct Program {
  std::string command;  // for a shell
  std::string script;   // the file that it needs in the caller's folder; "" is not known
  std::string stem;     // what the job is named after: "train" of train.py
};

// `train.py ARGS`, or `-m MODULE ARGS`, is Python's; other words are a program and its arguments, a
// single one with a blank in it is a shell's command line. Where `line_label` is not "", the
// launcher starts it as often as --nproc-per-node says, and puts "[LABELn]:" before each line of
// local rank n.
base::Result<Program> ReadProgram(const std::vector<std::string>& words, const std::string& module,
                                  const std::string& line_label);

}  // namespace arena
