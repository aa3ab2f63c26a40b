#include "answers/rule.h"

namespace answers {

std::vector<Rule> FileRules() {
  return {
      {.kind = "file-missing",
       .title = "no model or dataset has that name",
       .advice = Advice::kFixFirst,
       .advice_text = "Check its name or path; a private one needs a token that may read it.",
       .exceptions = {"is not a valid model identifier listed on",
                      "doesn't exist on the Hub or cannot be accessed", "RepositoryNotFoundError",
                      "Couldn't find a dataset script at", "Couldn't find any data file at",
                      "EntryNotFoundError: 404", "RevisionNotFoundError", "(NoSuchKey)",
                      "(NoSuchBucket)", "exceptions.NotFound: 404", "An error occurred (404)",
                      "HFValidationError: ", "DataFilesNotFoundError: ",
                      "Error: /*: No such file or directory", "OSError: Can't load ",
                      "RuntimeError: Dataset not found", "does not appear to have a file named",
                      "Repository Not Found for url",
                      "is not a local folder and is not a valid model identifier"}},
      {.kind = "program-missing",
       .title = "a program is not found",
       .advice = Advice::kFixFirst,
       .advice_text = "Check its name, install it into the environment (or image) that the job "
                      "runs with, or give its path: the job's PATH does not have it.",
       .exceptions = {},
       .lines = {"sh: *: not found", ": command not found", "env: *: No such file or directory",
                 "execve(): *: No such file or directory",
                 "exec: \"*\": executable file not found in $PATH",
                 "exec: \"*\": stat *: no such file or directory"}},
      {.kind = "file-missing",
       .title = "a file is not there",
       .advice = Advice::kFixFirst,
       .advice_text = "Check the path as the job sees it: its working folder, the snapshot of your "
                      "folder, its volumes (--data).",
       .exceptions = {"^FileNotFoundError", "^NotADirectoryError", "^IsADirectoryError",
                      "RuntimeError: Parent directory * does not exist"},
       .lines = {"can't open file '*': [Errno 2] No such file or directory",
                 ": cannot stat '*': No such file or directory",
                 ": cannot access '*': No such file or directory",
                 "bash: *: No such file or directory", "^FATAL: *could not open image"}},
  };
}

}  // namespace answers
