// The static program: build/muster-launch.
#include "base/standard_descriptors.h"
#include "launch/launch.h"

int main(int argc, char** argv) {
  base::HoldStandardDescriptors();
  return launch::LaunchMain(argc > 0 ? argv[0] : "muster-launch", {argv + 1, argv + argc});
}
