// Prints the objects of a dry run.
#pragma once

#include <string>
#include <vector>

#include "arena/jobs/forecast.h"
#include "arena/submit/job/objects.h"
#include "cli/terminal.h"
#include "text/json.h"

namespace arena {

// Everything that would be created but the Secret.
std::vector<text::Json> VisibleObjects(const SubmitOptions& options, const Submission& submission);

// As YAML documents, or a JSON List. Says that the Secret is left out.
base::Status PrintObjects(const SubmitOptions& options, const std::vector<text::Json>& objects,
                          cli::Output& out);

// `configmap/pt-pytorchjob created`, a line each, in the order in which Arena's documents show
// them; `suffix` follows each word "created".
std::string CreatedLines(const SubmitOptions& options, std::string_view suffix);

// For --dry-run=schedule: the job as the scheduler would see it.
WouldBe WouldBeOf(const SubmitOptions& options);

}  // namespace arena
