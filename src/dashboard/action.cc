#include "dashboard/action.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "api/names.h"
#include "base/strings.h"

namespace dashboard {
namespace {

using base::Code;
using base::Fail;

constexpr std::array<std::string_view, 4> kVerbs = {"suspend", "resume", "delete", "rerun"};

base::Error Invalid(std::string_view member, std::string_view value, std::string_view what) {
  return {Code::kInvalidArgument, fmt::format("{} \"{}\" is invalid: {}", member, value, what), 0};
}

}  // namespace

base::Result<Action> ParseAction(std::string_view json) {
  TRY_ASSIGN(const text::Json value, text::ParseJson(json));
  Action action{std::string(text::GetString(value, {"verb"})),
                std::string(text::GetString(value, {"namespace"})),
                std::string(text::GetString(value, {"run"})),
                std::string(text::GetString(value, {"uid"}))};
  if (std::find(kVerbs.begin(), kVerbs.end(), action.verb) == kVerbs.end()) {
    return Fail(Invalid("verb", action.verb, "one of suspend, resume, delete and rerun"));
  }
  if (!api::IsObjectName(action.namespace_name)) {
    return Fail(Invalid("namespace", action.namespace_name, "the name of a namespace"));
  }
  if (!api::IsObjectName(action.run)) {
    return Fail(Invalid("run", action.run, "a job's name, or an id of a run"));
  }
  if (action.uid.empty() && action.verb != "rerun") {
    return Fail(Invalid("uid", "", "that of the job"));
  }
  return action;
}

std::vector<std::string> WordsOf(const Action& action, const arena::GlobalFlags& flags) {
  std::vector<std::string> words = {action.verb, action.run};
  if (action.verb == "rerun") words.push_back("--detach");
  if (action.verb == "suspend" || action.verb == "delete") words.push_back("--wait=false");
  if (flags.local) words.push_back("--local");
  if (!flags.KubeconfigPath().empty()) words.push_back("--kubeconfig=" + flags.KubeconfigPath());
  if (!flags.context.empty()) words.push_back("--context=" + flags.context);
  words.push_back("--namespace=" + action.namespace_name);
  return words;
}

std::string CommandLine(std::string_view program, const std::vector<std::string>& words) {
  std::string line(program);
  for (const std::string& word : words) line += " " + base::ShellQuote(word);
  return line;
}

}  // namespace dashboard
