# Run by the build (EmbedAssets.cmake): FILES, gzip'd, as C++ in OUT. A browser has work with each file (Chromium 156 beside other work
# on two processors painted first after 146 ms with nineteen files, after 98 with the page and one script), so a page contains its style
# sheet, and app.js the modules that it imports.
set(types_html "text/html")
set(types_js "text/javascript")
set(types_svg "image/svg+xml")

function(bundle file out)
  execute_process(COMMAND ${ESBUILD} ${file} --bundle --minify --format=esm --target=es2022 --log-level=warning --outfile=${out}
                  COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(inline_styles file out digest_of_style)
  get_filename_component(folder ${file} DIRECTORY)
  file(READ ${file} page)
  set(digest "")
  if(page MATCHES "<link rel=\"stylesheet\" href=\"/([a-z]+\\.css)\">")
    set(link "${CMAKE_MATCH_0}")
    bundle(${folder}/${CMAKE_MATCH_1} ${out}.css)
    file(READ ${out}.css style)
    string(SHA256 digest "${style}")
    string(REGEX REPLACE "(..)" "\\\\x\\1" digest "${digest}")
    string(REPLACE "${link}" "<style>${style}</style>" page "${page}")
  endif()
  file(WRITE ${out} "${page}")
  set(${digest_of_style} "${digest}" PARENT_SCOPE)
endfunction()

set(arrays "")
set(entries "")
set(number 0)
foreach(file ${FILES})
  get_filename_component(name ${file} NAME)
  get_filename_component(extension ${file} LAST_EXT)
  string(SUBSTRING ${extension} 1 -1 extension)
  set(digest "")
  set(source ${file})
  if(name STREQUAL "app.js")
    set(source ${OUT}.js)
    bundle(${file} ${source})
  elseif(extension MATCHES "css|js$")
    continue()
  elseif(extension STREQUAL "html")
    set(source ${OUT}.html)
    inline_styles(${file} ${source} digest)
  endif()
  execute_process(COMMAND ${GZIP} -9nc ${source} OUTPUT_FILE ${OUT}.gz COMMAND_ERROR_IS_FATAL ANY)
  file(READ ${OUT}.gz hex HEX)
  file(MD5 ${OUT}.gz etag)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${hex}")
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(LENGTH "${digest}" digits)
  math(EXPR digest_size "${digits} / 4")
  # Lines of C++, each a literal of its own.
  string(REGEX REPLACE "((\\\\x[0-9a-f][0-9a-f])(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?(\\\\x[0-9a-f][0-9a-f])?)" "\"\\1\"" bytes "${bytes}")
  string(REPLACE "\"\"" "\"\n    \"" bytes "${bytes}")
  string(APPEND arrays "constexpr char kAsset${number}[] =\n    ${bytes};\n")
  string(APPEND entries "    {\"/${name}\", \"${types_${extension}}; charset=utf-8\", {kAsset${number}, ${size}}, \"${etag}\", {\"${digest}\", ${digest_size}}},\n")
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
