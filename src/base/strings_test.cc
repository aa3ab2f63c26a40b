#include "base/strings.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace base {
namespace {

using Parts = std::vector<std::string>;

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(Split("a,b,", ','), (Parts{"a", "b", ""}));
  EXPECT_EQ(Split("", ','), (Parts{""}));
  EXPECT_EQ(Split(",", ','), (Parts{"", ""}));
  EXPECT_EQ(Split("abc", ','), (Parts{"abc"}));
}

TEST(OneLine, HasNoControlCharactersAndAnEnd) {
  EXPECT_EQ(OneLine("", 5), "");
  EXPECT_EQ(OneLine(" a\r\n\t b\x1b[2J ", 100), "a b");
  EXPECT_EQ(OneLine("\x1b[1;31mred\x1b[0m word\x1b[", 100), "red word");
  EXPECT_EQ(OneLine("\x1b[4:3mwavy\x1b[>4;2m", 100), "wavy");
  EXPECT_EQ(OneLine("\x1b[1;\xc3\xa4 \x1b[3\nb", 100), "\xc3\xa4 b")
      << "a cut sequence takes no text";
  EXPECT_EQ(OneLine("(e.g. 'my-name',  or", 100), "(e.g. 'my-name',  or");
  EXPECT_EQ(OneLine("\x1b a  \n  b\x1b", 100), "a b");
  EXPECT_EQ(OneLine("a" + std::string(1000, ' ') + "b", 5), "a    ...");
  EXPECT_EQ(OneLine("12345", 5), "12345");
  EXPECT_EQ(OneLine("123456", 5), "12345...");
  EXPECT_EQ(OneLine("1234\u00e4", 5), "1234...");
  EXPECT_EQ(OneLine("\u20ac", 1), "...");
  EXPECT_EQ(OneLine(std::string(1000, '\n') + "a" + std::string(1000, '\n'), 5), "a");
}

TEST(Join, IsTheInverseOfSplit) {
  EXPECT_EQ(Join({}, ","), "");
  EXPECT_EQ(Join({"a"}, ","), "a");
  EXPECT_EQ(Join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(Join(Split("x//y/", '/'), "/"), "x//y/");
}

TEST(ReplaceAll, DoesNotReadWhatItHasPutIn) {
  EXPECT_EQ(ReplaceAll("{a} and {a}{b}", "{a}", "{a}x"), "{a}x and {a}x{b}");
  EXPECT_EQ(ReplaceAll("none", "{a}", "x"), "none");
  EXPECT_EQ(ReplaceAll("", "{a}", "x"), "");
}

TEST(Trim, TakesBlanksOffBothEnds) {
  EXPECT_EQ(Trim(" \t\r\n a b \v\f"), "a b");
  EXPECT_EQ(Trim(" \n"), "");
  EXPECT_EQ(Trim(""), "");
}

TEST(Case, ChangesAsciiOnly) {
  EXPECT_EQ(ToLower("AbZ-\xC3\x84"), "abz-\xC3\x84");
  EXPECT_EQ(ToUpper("aBz_\xC3\xA4"), "ABZ_\xC3\xA4");
  EXPECT_TRUE(EqualsIgnoreCase("Content-Type", "content-tYPE"));
  EXPECT_FALSE(EqualsIgnoreCase("a", "ab"));
  EXPECT_FALSE(EqualsIgnoreCase("@", "`"));
}

TEST(ParseInt, TakesTheWholeTextInRange) {
  EXPECT_EQ(ParseInt("42"), 42);
  EXPECT_EQ(ParseInt("-42"), -42);
  EXPECT_EQ(ParseInt("+42"), 42);
  EXPECT_EQ(ParseInt("007"), 7);
  EXPECT_EQ(ParseInt("9223372036854775807"), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(ParseInt("-9223372036854775808"), std::numeric_limits<int64_t>::min());
  for (const std::string_view text : {"", "+", "-", "+-1", "-+1", "--1", " 1", "1 ", "1x", "0x1",
                                      "1.0", "9223372036854775808", "-9223372036854775809"}) {
    EXPECT_EQ(ParseInt(text), std::nullopt) << text;
  }
}

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("abc", ""), 3U);
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
  EXPECT_EQ(EditDistance("submit", "sumbit"), 2U);
  EXPECT_EQ(EditDistance("list", "list"), 0U);
}

TEST(PercentDecode, LeavesWhatIsNoEscape) {
  EXPECT_EQ(PercentDecode("p%40ss%2f%2F"), "p@ss//");
  EXPECT_EQ(PercentDecode("100%"), "100%");
  EXPECT_EQ(PercentDecode("%4"), "%4");
  EXPECT_EQ(PercentDecode("%zz%41"), "%zzA");
}

TEST(ShellWords, AreThoseOfAShell) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ShellWords("--a 1  --b 'x y'"), (Words{"--a", "1", "--b", "x y"}));
  EXPECT_EQ(ShellWords(R"(a\ b "c \"d\" \n" '')"), (Words{"a b", "c \"d\" \\n", ""}));
  EXPECT_EQ(ShellWords(""), Words{});
  EXPECT_EQ(ShellWords("a 'b"), std::nullopt);
}

TEST(ShellWords, ALineThatABackslashEndsGoesOn) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ShellWords("--a 1 \\\n  --b\\\nc"), (Words{"--a", "1", "--bc"}));
  EXPECT_EQ(ShellWords("\\\n"), Words{});
  EXPECT_EQ(ShellWords("\"a\\\nb\" '\\\n'"), (Words{"ab", "\\\n"}));
  EXPECT_EQ(ShellWords("\"a\\\n"), std::nullopt);
}

TEST(ShellWords, InDoubleQuotesABackslashEscapesWhatAShellWouldSubstitute) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ShellWords(R"("\$A \`b\` \\ \a" '\$A')"), (Words{R"($A `b` \ \a)", R"(\$A)"}));
  EXPECT_EQ(ShellWords(R"("a\")"), std::nullopt);
}

// What Python 3.11 answers.
TEST(ShellWords, AreThoseOfShlexWhereItsRulesAreAskedFor) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(ShellWords("a\\\nb \"x\\$y\\\nz\\\"\" c \\\n d", WordRules::kShlex),
            (Words{"a\nb", "x\\$y\\\nz\"", "c", "\n", "d"}));
}

TEST(ShellQuote, MakesOneWord) {
  EXPECT_EQ(ShellQuote("plain-1_2./=:,@%+"), "plain-1_2./=:,@%+");
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("a b"), "'a b'");
  EXPECT_EQ(ShellQuote("it's"), "'it'\\''s'");
  EXPECT_EQ(ShellQuote("$HOME"), "'$HOME'");
  EXPECT_EQ(ShellQuote("~"), "'~'");
  EXPECT_EQ(ShellQuote("a\nb"), "'a\nb'");
}

TEST(Md5Hex, IsMd5) {
  EXPECT_EQ(Md5Hex(""), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(Md5Hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(Md5Hex(std::string(55, 'a')), "ef1772b6dff9a122358552954ad0df65");
  EXPECT_EQ(Md5Hex(std::string(56, 'a')), "3b0c8ac703f828b04c6c197006d17218");
  EXPECT_EQ(Md5Hex(std::string(64, 'a')), "014842d480b571495a4a0363793f7367");
  EXPECT_EQ(Md5Hex(std::string(119, 'a')), "8a7bd0732ed6a28ce75f6dabc90e1613");
  EXPECT_EQ(Md5Hex(std::string(1000, 'a')), "cabe45dcc9ae5b66ba86600cca6b8ba8");
}

// RFC 4648, section 10.
TEST(Base64, FollowsTheVectorsOfTheRfc) {
  const std::pair<std::string, std::string> kVectors[] = {{"", ""},
                                                          {"f", "Zg=="},
                                                          {"fo", "Zm8="},
                                                          {"foo", "Zm9v"},
                                                          {"foob", "Zm9vYg=="},
                                                          {"fooba", "Zm9vYmE="},
                                                          {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : kVectors) {
    EXPECT_EQ(Base64Encode(bytes), text);
    EXPECT_EQ(Base64Decode(text), bytes);
  }
}

TEST(Base64, CarriesEveryByte) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(Base64Decode(Base64Encode(bytes)), bytes);
}

TEST(Base64, RefusesWhatIsMalformed) {
  for (const std::string_view text :
       {"Z", "Zg", "Zg=", "Z===", "====", "Zg==Zg==", "Zg=v", "Z g=", "Zm9v\n", "Zm9-", "=m9v"}) {
    EXPECT_EQ(Base64Decode(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace base
