#include "arena/run/sweep_plan.h"

#include <fmt/format.h>

namespace arena {

base::Result<SweepPlan> PlanSweep(const std::vector<std::string>& sweeps, size_t max,
                                  const std::vector<std::string>& words, const std::string& module,
                                  const std::string& line_label) {
  TRY_ASSIGN(const std::vector<TrialValues> all, ReadSweep(sweeps, max));
  SweepPlan plan;
  for (const TrialValues& values : all) {
    TRY_ASSIGN(const std::vector<std::string> own, Substituted(words, values));
    TRY_ASSIGN(plan.program, ReadProgram(own, module, line_label));
    plan.trials.push_back({static_cast<int64_t>(plan.trials.size()), values, plan.program.command});
  }
  TRY_ASSIGN(const Program plain, ReadProgram(words, module, line_label));
  plan.shown = fmt::format("{} ({} trial{})", plain.command, plan.trials.size(),
                           plan.trials.size() == 1 ? "" : "s");
  for (const auto& [name, value] : all.front()) {
    const std::string quoted = fmt::format("'{{{}}}'", name);
    const size_t at = plan.shown.find(quoted);
    if (at != std::string::npos) plan.shown.replace(at, quoted.size(), "{" + name + "}");
  }
  if (plan.shown.starts_with("exec ")) plan.shown.erase(0, 5);
  return plan;
}

}  // namespace arena
