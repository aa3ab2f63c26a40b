#include "api/kinds.h"
#include "api/names.h"
#include "api/object.h"
#include "base/strings.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

constexpr Column kClaimColumns[] = {{"Name", "string"},         {"Status", "string"},
                                    {"Volume", "string"},       {"Capacity", "string"},
                                    {"Access Modes", "string"}, {"Age", "string"}};

void BeginClaim(text::Json& claim) { text::Set(claim, {"status", "phase"}, "Pending"); }

// VOLUME is the directory that the claim stands for.
void ClaimCells(const text::Json& claim, base::Time now, Cells& cells) {
  cells.Text(api::Name(claim));
  cells.Text(text::GetString(claim, {"status", "phase"}));
  cells.Text(api::Annotation(claim, api::kVolumePathAnnotation));
  cells.Text(text::GetString(claim, {"status", "capacity", "storage"}));
  cells.Text(base::Join(api::AccessModes(claim), ","));
  cells.Text(Age(api::CreationTime(claim), now));
}

}  // namespace

const KindRules kClaimRules{
    .short_name = "pvc", .begin = BeginClaim, .columns = kClaimColumns, .cells = ClaimCells};

}  // namespace local::server
