// The static program: build/muster-launch.
#include "launch/launch.h"

int main(int argc, char** argv) {
  return launch::LaunchMain(argc > 0 ? argv[0] : "muster-launch", {argv + 1, argv + argc});
}
