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

// The value of -T/--type: by name, alias or shorthand, any case. True: PyTorch jobs are meant
// ("" means every kind). False: another kind, which the embedded cluster never has. An error
// has Arena's text.
base::Result<bool> MeansPyTorch(std::string_view type);
// -T/--type of a verb that has no other kind.
void AddTypeFlag(cli::FlagSet& set, std::string* to,
                 std::string usage = "kind of the job: pytorchjob");

// The other kinds of Kubeflow's training operator (kubeflow.org/v1), which a Kubernetes cluster may
// have: muster shows their jobs. The singular is what -T/--type and TRAINER call it.
std::span<const api::Resource> OtherKinds();
// For the completion of -T/--type: pytorchjob, and the names of those.
std::vector<std::string> TypesToOffer();
// The one of them that a value of -T/--type names, or nullptr.
const api::Resource* OtherKindNamed(std::string_view type);

}  // namespace arena
