// The kinds of training jobs that Arena names, and which of them are muster's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/result.h"
#include "cli/flags.h"

namespace arena {

// Reads the value of -T/--type: a name, alias or shorthand, in any case. True for PyTorch jobs and
// for "" (every kind); false for another kind, which the embedded cluster never has. Errors have
// Arena's text.
base::Result<bool> MeansPyTorch(std::string_view type);
// -T/--type of a verb for PyTorch jobs only.
void AddTypeFlag(cli::FlagSet& set, std::string* to,
                 std::string usage = "kind of the job: pytorchjob");

// The other kinds of Kubeflow's training operator (kubeflow.org/v1), which a Kubernetes cluster may
// have: muster shows their jobs. The singular is what -T/--type and TRAINER call it.
std::span<const api::Resource> OtherKinds();
// For the completion of -T/--type: pytorchjob and the names of OtherKinds.
std::vector<std::string> TypesToOffer();
// The one of OtherKinds that a value of -T/--type names, or nullptr.
const api::Resource* OtherKindNamed(std::string_view type);

}  // namespace arena
