# One static library per room of src/, with only the rooms it names on its include path, so that
# an arrow that the design forbids does not compile. Tests (*_test.cc) beside the sources are
# gathered into one test program per room.
#
#   muster_room(<name> [USES room...] [LIBS target...] [EXCLUDE regex...])
#
# `name` may be a path such as local/store; the target is then muster_local_store.

set(MUSTER_INCLUDE_ROOT ${CMAKE_BINARY_DIR}/include)

function(_muster_top room out)
  string(REGEX REPLACE "/.*" "" top ${room})
  set(${out} ${top} PARENT_SCOPE)
endfunction()

# build/include/<top>/<top> -> src/<top>: `#include "base/error.h"` then resolves only for those
# who have build/include/base on their path.
function(_muster_include_dir room out)
  _muster_top(${room} top)
  set(dir ${MUSTER_INCLUDE_ROOT}/${top})
  if(NOT EXISTS ${dir}/${top})
    file(MAKE_DIRECTORY ${dir})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${top} ${dir}/${top} SYMBOLIC)
  endif()
  set(${out} ${dir} PARENT_SCOPE)
endfunction()

function(muster_room name)
  cmake_parse_arguments(ROOM "" "" "USES;LIBS;TEST_LIBS;EXCLUDE" ${ARGN})
  string(REPLACE "/" "_" target "muster_${name}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  foreach(pattern ${ROOM_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  _muster_include_dir(${name} own)
  target_include_directories(${target} ${scope} ${own})
  foreach(used ${ROOM_USES})
    string(REPLACE "/" "_" used_target "muster_${used}")
    target_link_libraries(${target} ${scope} ${used_target})
  endforeach()
  target_link_libraries(${target} ${scope} muster_options ${ROOM_LIBS})

  if(MUSTER_TESTS AND tests)
    set(test_target ${target}_test)
    add_executable(${test_target} ${tests})
    target_link_libraries(${test_target} PRIVATE ${target} ${ROOM_TEST_LIBS} GTest::gtest
                                                 GTest::gtest_main)
    gtest_discover_tests(${test_target} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 300
                         PROPERTIES LABELS unit TIMEOUT 600)
  endif()
endfunction()
