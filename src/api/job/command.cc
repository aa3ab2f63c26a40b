#include "api/job/command.h"

#include <vector>

#include "api/names.h"
#include "api/object.h"
#include "api/variable_references.h"
#include "base/strings.h"

namespace api {

const text::Json* FirstContainer(const text::Json& job) {
  const text::Object* replicas = text::FindObject(job, {"spec", "pytorchReplicaSpecs"});
  if (replicas == nullptr) return nullptr;
  for (const std::string_view type : {kMaster, kWorker}) {
    const auto found = replicas->find(type);
    if (found == replicas->end()) continue;
    const text::Array* containers =
        text::FindArray(found->value(), {"template", "spec", "containers"});
    if (containers != nullptr && !containers->empty()) return &containers->front();
  }
  return nullptr;
}

std::string CommandOf(const text::Json& job) {
  const std::string_view told = Annotation(job, kCommandAnnotation);
  if (!told.empty()) return std::string(told);
  const text::Json* container = FirstContainer(job);
  if (container == nullptr) return "";
  std::vector<std::string> words;
  for (const char* field : {"command", "args"}) {
    const text::Array* list = text::FindArray(*container, {field});
    if (list == nullptr) continue;
    for (const text::Json& word : *list)
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
