#include "base/result.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

namespace base {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return Fail(Code::kInvalidArgument, "odd");
  return value / 2;
}

Result<int> Quarter(int value) {
  TRY_ASSIGN(const int half, Half(value));
  TRY_ASSIGN(const int quarter, Half(half));
  return quarter;
}

Status BothEven(int a, int b) {
  TRY(Half(a));
  TRY(Half(b));
  return {};
}

Result<std::unique_ptr<int>> Boxed(bool ok) {
  if (!ok) return Fail(Code::kNotFound, "no box");
  return std::make_unique<int>(7);
}

Result<int> Unboxed(bool ok) {
  TRY_ASSIGN(const std::unique_ptr<int> box, Boxed(ok));
  return *box;
}

TEST(Result, TryAssignHandsOnValueOrError) {
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).error().message, "odd");
  EXPECT_EQ(Quarter(5).error().code, Code::kInvalidArgument);
  EXPECT_EQ(Unboxed(true).value(), 7);
  EXPECT_EQ(Unboxed(false).error().code, Code::kNotFound);
}

TEST(Result, TryHandsOnErrors) {
  EXPECT_TRUE(BothEven(2, 4).has_value());
  EXPECT_FALSE(BothEven(2, 3).has_value());
  EXPECT_FALSE(BothEven(1, 2).has_value());
}

TEST(Error, WrapPutsContextBeforeTheMessage) {
  const Error error = Errno(ENOENT, "open \"/x\"").Wrap("load kubeconfig");
  EXPECT_EQ(error.message, "load kubeconfig: open \"/x\": No such file or directory");
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_EQ(error.os_errno, ENOENT);
}

TEST(Error, ErrnoMapsToWhatTheCallerCanDo) {
  const std::pair<int, Code> kCases[] = {{ENOENT, Code::kNotFound},
                                         {EEXIST, Code::kAlreadyExists},
                                         {EACCES, Code::kPermissionDenied},
                                         {EPERM, Code::kPermissionDenied},
                                         {ENOSPC, Code::kExhausted},
                                         {EDQUOT, Code::kExhausted},
                                         {ENOMEM, Code::kExhausted},
                                         {EMFILE, Code::kExhausted},
                                         {ECONNREFUSED, Code::kUnavailable},
                                         {ETIMEDOUT, Code::kTimeout},
                                         {EIO, Code::kInternal}};
  for (const auto& [os_errno, code] : kCases) {
    EXPECT_EQ(Errno(os_errno, "x").code, code) << os_errno;
    EXPECT_EQ(Errno(os_errno, "x").os_errno, os_errno);
  }
  EXPECT_EQ(Fail(Code::kInternal, "x").value().os_errno, 0);
}

TEST(Code, HasANameEach) {
  EXPECT_EQ(CodeName(Code::kNotFound), "NotFound");
  EXPECT_EQ(CodeName(Code::kExhausted), "Exhausted");
}

}  // namespace
}  // namespace base
