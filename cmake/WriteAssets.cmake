# Run by the build (EmbedAssets.cmake): FILES, gzip'd, as C++ in OUT. A browser has work with each file (Chromium 156 beside other work
# on two processors painted first after 146 ms with nineteen files, after 98 with the page and one script), so
#   - a page contains its style sheet, and
#   - app.js contains the modules that it imports, each as a function that returns what it exports. A module's imports are lines
#     `import {NAME, NAME} from "./MODULE.js";`, and a name is exported where it is declared, at the beginning of a line.
set(types_html "text/html")
set(types_js "text/javascript")
set(types_svg "image/svg+xml")

function(inline_styles file out digest_of_style)
  get_filename_component(folder ${file} DIRECTORY)
  file(READ ${file} page)
  set(digest "")
  if(page MATCHES "<link rel=\"stylesheet\" href=\"/([a-z]+\\.css)\">")
    set(link "${CMAKE_MATCH_0}")
    file(READ ${folder}/${CMAKE_MATCH_1} style)
    string(SHA256 digest "${style}")
    string(REGEX REPLACE "(..)" "\\\\x\\1" digest "${digest}")
    string(REPLACE "${link}" "<style>${style}</style>" page "${page}")
  endif()
  file(WRITE ${out} "${page}")
  set(${digest_of_style} "${digest}" PARENT_SCOPE)
endfunction()

# Appends a module of `folder` to `script`, a global property, after those that it imports.
function(append_module folder name)
  get_property(is_there GLOBAL PROPERTY has_${name})
  if(is_there)
    return()
  endif()
  set_property(GLOBAL PROPERTY has_${name} TRUE)
  file(READ ${folder}/${name}.js text)
  set(text "\n${text}")
  set(import "import ({[^}]*}) from \"\\./([a-z]+)\\.js\";")
  string(REGEX MATCHALL "\n${import}" imports "${text}")
  foreach(each ${imports})
    if(each MATCHES "\\./([a-z]+)\\.js")
      append_module(${folder} ${CMAKE_MATCH_1})
    endif()
  endforeach()
  string(REGEX MATCHALL "\nexport [a-z ]*(const|function|class) [A-Za-z]+" exports "${text}")
  list(TRANSFORM exports REPLACE ".* " "")
  list(JOIN exports ", " exports)
  string(REGEX REPLACE "\n${import}" "\nconst \\1 = \\2_js;" text "${text}")
  string(REPLACE "\nexport " "\n" text "${text}")
  if(text MATCHES "\n((import|export) [^\n]*)")
    message(FATAL_ERROR "${name}.js: \"${CMAKE_MATCH_1}\" has none of the forms that cmake/WriteAssets.cmake reads")
  endif()
  set_property(GLOBAL APPEND_STRING PROPERTY script
               "const ${name}_js = (() => {${text}return {${exports}};\n})();\n")
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
    get_filename_component(folder ${file} DIRECTORY)
    append_module(${folder} app)
    get_property(script GLOBAL PROPERTY script)
    file(WRITE ${source} "${script}")
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
