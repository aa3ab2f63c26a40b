#include "api/job/pytorch_job.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kJobColumns[] = {{"Name", "string"},
                                  {"State", "string"},
                                  {"Age", "date"},
                                  {"Status", "string", 1},
                                  {"Trainer", "string", 1},
                                  {"Duration", "string", 1},
                                  {"GPU(Requested)", "number", 1},
                                  {"GPU(Allocated)", "number", 1},
                                  {"Node", "string", 1},
                                  {"Created", "string", 1},
                                  {"Stall", "string", 1}};
}  // namespace

// Its cells come from a JobRow (tables.h).
const KindRules kJobRules{.has_generation = true,
                          .can_scale = true,
                          .set_defaults = api::ApplySchemaDefaults,
                          .columns = kJobColumns};

}  // namespace local::server
