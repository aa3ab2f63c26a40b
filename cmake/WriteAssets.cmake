# Run by the build (EmbedAssets.cmake): FILES, gzip'd, as C++ in OUT.
set(types_html "text/html")
set(types_css "text/css")
set(types_js "text/javascript")
set(types_svg "image/svg+xml")

set(arrays "")
set(entries "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  get_filename_component(extension ${file} LAST_EXT)
  string(SUBSTRING ${extension} 1 -1 extension)
  execute_process(COMMAND ${GZIP} -9nc ${file} OUTPUT_FILE ${OUT}.gz COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${OUT}.gz hex HEX)
  file(MD5 ${OUT}.gz etag)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  # Lines of C++, each a literal of its own.
  string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f])(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?)" "\"\\1\"" bytes "${bytes}")
  string(REPLACE "\"\"" "\"\n    \"" bytes "${bytes}")
  string(APPEND arrays "constexpr char kAsset${number}[] =\n    ${bytes};\n")
  string(APPEND entries "    {\"/${name}\", \"${types_${extension}}; charset=utf-8\", {kAsset${number}, ${size}}, \"${etag}\"},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(REMOVE ${OUT}.gz)
file(WRITE ${OUT} "// Made from the files of web/ by cmake/WriteAssets.cmake.
#include \"${HEADER}\"

namespace ${SPACE} {
namespace {

${arrays}
constexpr Asset kFiles[] = {
${entries}};

}  // namespace

const std::span<const Asset> kAssets = kFiles;

}  // namespace ${SPACE}
")
