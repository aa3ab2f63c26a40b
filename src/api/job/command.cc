#include "api/job/command.h"

#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "api/variable_references.h"
#include "base/strings.h"

namespace api {

const text::Json* FirstContainer(const text::Json& job) {
  for (const std::string_view type : {kMaster, kWorker}) {
    const text::Array& containers =
        text::Items(job, {"spec", "pytorchReplicaSpecs", type, "template", "spec", "containers"});
    if (!containers.empty()) return &containers.front();
  }
  return nullptr;
}

std::string CommandOf(const text::Json& job) {
  const std::string_view noted = Annotation(job, kCommandAnnotation);
  if (!noted.empty()) return std::string(noted);
  const text::Json* container = FirstContainer(job);
  if (container == nullptr) return "";
  std::vector<std::string> words;
  for (const char* field : {"command", "args"}) {
    for (const text::Json& word : text::Items(*container, {field}))
      words.push_back(UnescapeReferences(word.if_string() ? *word.if_string() : ""));
  }
  // sh -c "what was meant"
  if (words.size() == 3 && words[1] == "-c") {
    return words[2].starts_with("exec ") ? words[2].substr(5) : words[2];
  }
  std::string command;
  for (const std::string& word : words) {
    command += (command.empty() ? "" : " ") + base::ShellQuote(word);
  }
  return command;
}

}  // namespace api
