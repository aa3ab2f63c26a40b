#include "base/machine/uncaught.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <system_error>

namespace base {
namespace {

const std::system_error kNoThread(std::make_error_code(std::errc::resource_unavailable_try_again));

TEST(Uncaught, OnlyLimitsOfTheMachineAreDescribed) {
  EXPECT_TRUE(LimitOf(std::make_exception_ptr(kNoThread)).starts_with("no further thread"));
  EXPECT_TRUE(LimitOf(std::make_exception_ptr(std::bad_alloc())).starts_with("out of memory"));
  EXPECT_EQ(LimitOf(std::make_exception_ptr(std::runtime_error("else"))), "");
  EXPECT_EQ(LimitOf(std::make_exception_ptr(
                std::system_error(std::make_error_code(std::errc::invalid_argument)))),
            "");
  EXPECT_EQ(LimitOf(nullptr), "");
}

TEST(Uncaught, ALimitEndsTheProgramWithOneLine) {
  const auto throw_it = []() noexcept {
    std::rethrow_exception(std::make_exception_ptr(kNoThread));
  };
  const auto repeat = [](const std::string& line) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  };
  EXPECT_EXIT(
      {
        ReportUncaughtLimits(repeat);
        throw_it();
      },
      ::testing::ExitedWithCode(1), "thread can be started.*\n.*thread can be started");
}

TEST(Uncaught, AnotherExceptionIsNamedBeforeTheProgramAborts) {
  const auto throw_it = []() noexcept {
    std::rethrow_exception(std::make_exception_ptr(std::runtime_error("something else")));
  };
  EXPECT_EXIT(
      {
        ReportUncaughtLimits();
        ReportUncaughtLimits();
        throw_it();
      },
      ::testing::KilledBySignal(SIGABRT), "runtime_error.*something else");
}

}  // namespace
}  // namespace base
