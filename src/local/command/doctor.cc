#include "local/command/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "local/command/doctor_checks.h"
#include "text/json.h"

namespace local::command {
namespace {

std::string_view WordOf(Finding::State state) {
  switch (state) {
    case Finding::State::kGood:
      return "ok";
    case Finding::State::kPoor:
      return "poor";
    case Finding::State::kBad:
      break;
  }
  return "bad";
}

cli::Paint PaintOf(Finding::State state) {
  switch (state) {
    case Finding::State::kGood:
      return cli::Paint::kGood;
    case Finding::State::kPoor:
      return cli::Paint::kWaiting;
    case Finding::State::kBad:
      break;
  }
  return cli::Paint::kBad;
}

text::Json ToJson(const std::vector<Finding>& findings) {
  text::Array array;
  for (const Finding& finding : findings) {
    array.push_back(text::Object{{"check", finding.name},
                                 {"state", WordOf(finding.state)},
                                 {"found", finding.text},
                                 {"advice", finding.advice}});
  }
  return array;
}

// Advice gets a line of its own below the finding.
std::string Render(const std::vector<Finding>& findings, const cli::Output& out) {
  std::string text;
  for (const Finding& finding : findings) {
    const std::string word(WordOf(finding.state));
    text += fmt::format("{}{} {:<11} {}\n", cli::Painted(out, PaintOf(finding.state), word),
                        std::string(5 - word.size(), ' '), finding.name, finding.text);
    if (!finding.advice.empty()) text += fmt::format("{:18}-> {}\n", "", finding.advice);
  }
  return text;
}

base::Result<int> Examine(const ClusterContext& context, bool is_json, cli::Output& out) {
  std::vector<Finding> findings = CheckMachine(context.environment);
  findings.push_back(CheckPython(context.environment));
  const auto chosen = FindChosenCluster(context);
  if (!chosen) {
    findings.push_back({Finding::State::kBad, "cluster", "none is chosen", chosen.error().message});
  } else if (!chosen->is_embedded) {
    const auto connection = Connect(context, {});
    if (connection) {
      const std::string in =
          connection->namespace_name.empty() ? "default" : connection->namespace_name;
      for (Finding& finding : CheckKubernetes(*connection->client, in)) {
        findings.push_back(std::move(finding));
      }
    } else {
      findings.push_back(
          {Finding::State::kBad, "cluster", "cannot be reached", connection.error().message});
    }
  }
  TRY(out.Write(is_json ? text::ToPrettyJson(ToJson(findings)) + "\n" : Render(findings, out)));
  const bool is_bad = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.state == Finding::State::kBad;
  });
  return is_bad ? cli::kExitFailure : 0;
}

}  // namespace

void AddDoctor(cli::Command& root, const ClusterContext& context) {
  cli::Command& verb = root.Add("doctor", "Check whether this machine is ready for jobs");
  auto output = std::make_shared<std::string>();
  verb.flags().String(output.get(), "output", "", "json").Short('o').Choices({"json"});
  verb.Help("local/command/doctor", "muster")
      .Args(cli::NoArgs())
      .Check([output](cli::Invocation&) -> base::Status {
        if (output->empty() || *output == "json") return {};
        return base::Fail(base::Code::kInvalidArgument, "--output is invalid: it must be json");
      })
      .Run([context, output](cli::Invocation& call) {
        return Examine(context, *output == "json", call.out);
      });
}

}  // namespace local::command
