// Turns the words after `run` into a replica's command.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace arena {

struct Program {
  std::string command;  // for a shell
  std::string script;   // the file that it needs in the caller's folder; "" if unknown
  std::string program;  // the first word, if it is started as it stands; "" otherwise
  std::string stem;     // what the job is named after: "train" of train.py
};

// `train.py ARGS` and `-m MODULE ARGS` run with Python. Other words are a program and its
// arguments; a single word with a blank is a shell command line. If `line_label` is not "", the
// launcher starts --nproc-per-node processes and puts "[LABELn]:" before each line of local rank n.
base::Result<Program> ReadProgram(const std::vector<std::string>& words, const std::string& module,
                                  const std::string& line_label);

}  // namespace arena
