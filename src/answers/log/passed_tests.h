// Whether a log is that of a test run in which all tests have passed: such tests print words of
// failures on purpose.
#pragma once

#include <string_view>
#include <vector>

namespace answers {

// By the last line of unittest ("OK" below "Ran 3 tests in 0.1s"), pytest ("3 passed in 0.12s"),
// GoogleTest ("[  PASSED  ] 3 tests.") and CTest ("100% tests passed"). Pure.
bool EndsWithPassedTests(const std::vector<std::string_view>& lines);

}  // namespace answers
