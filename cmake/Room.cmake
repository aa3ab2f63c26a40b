# One static library for each room of src/. Its include path has only its own headers and those of the rooms that it names, so
# an undeclared dependency does not compile (tests/structure). A room names every room whose headers it reads, even
# indirectly. The tests (*_test.cc) beside the sources form one test program for each room; code that they share is in
# <room>/testing, which the tests of a room see for every room that it names, and libraries never.
#
#   muster_room(<name> [LAYERS folder...] [USES room...] [TEST_USES room...] [LIBS target...]
#               [TEST_LIBS target...] [ALONE file...] [EXCLUDE regex...])
#
# `name` is the path below src/: local/store, whose target is muster_local_store. LAYERS are folders
# of it that are not rooms, in order: each includes only those before it (checked by tests/structure). A layer may be inside
# another, which is named after it: submit/job submit. ALONE are files, without .cc, that become objects of their own in a
# unity build: those that a program takes without the rest of the room, and one of two with equal anonymous names.

set(MUSTER_INCLUDE_ROOT ${CMAKE_BINARY_DIR}/include)
file(REMOVE_RECURSE ${MUSTER_INCLUDE_ROOT})

function(_muster_target name out)
  string(REPLACE "/" "_" target "muster_${name}")
  set(${out} ${target} PARENT_SCOPE)
endfunction()

# <build>/include/muster_local_store/local/store/*.h: links to the headers, so that `#include "local/store/store.h"` is found by
# those alone who have <build>/include/muster_local_store on their path.
function(_muster_include_root target path out)
  set(root ${MUSTER_INCLUDE_ROOT}/${target})
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/*.h)
  file(MAKE_DIRECTORY ${root}/${path})
  foreach(header ${headers})
    get_filename_component(name ${header} NAME)
    file(CREATE_LINK ${header} ${root}/${path}/${name} SYMBOLIC)
  endforeach()
  foreach(folder ${ARGN})
    if(folder MATCHES "/")
      continue()  # the link to the folder that contains it is enough
    endif()
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/src/${path}/${folder} ${root}/${path}/${folder} SYMBOLIC)
  endforeach()
  set(${out} ${root} PARENT_SCOPE)
endfunction()

# Adds <room>/testing, and that of the folder that contains the room, to the include path of `target`.
function(_muster_see_testing target room)
  string(REGEX REPLACE "/[^/]*$" "" above ${room})
  set(folders ${room} ${above})
  list(REMOVE_DUPLICATES folders)
  foreach(folder ${folders})
    if(EXISTS ${CMAKE_SOURCE_DIR}/src/${folder}/testing)
      _muster_target(${folder}/testing testing)
      if(NOT TARGET ${testing})
        add_library(${testing} INTERFACE)
        _muster_include_root(${testing} ${folder}/testing root)
        target_include_directories(${testing} INTERFACE ${root})
      endif()
      target_link_libraries(${target} PRIVATE ${testing})
    endif()
  endforeach()
endfunction()

function(muster_room name)
  cmake_parse_arguments(ROOM "" "" "LAYERS;USES;TEST_USES;LIBS;TEST_LIBS;ALONE;EXCLUDE" ${ARGN})
  _muster_target(${name} target)
  set(patterns ${CMAKE_SOURCE_DIR}/src/${name}/*.cc)
  foreach(folder ${ROOM_LAYERS})
    list(APPEND patterns ${CMAKE_SOURCE_DIR}/src/${name}/${folder}/*.cc)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  foreach(pattern ${ROOM_EXCLUDE})
    list(FILTER sources EXCLUDE REGEX ${pattern})
  endforeach()
  foreach(file ${ROOM_ALONE})
    set(path ${CMAKE_SOURCE_DIR}/src/${name}/${file}.cc)
    if(NOT path IN_LIST sources)
      message(FATAL_ERROR "muster_room(${name} ... ALONE ${file}): there is no ${path}")
    endif()
    set_source_files_properties(${path} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")

  add_library(${target} STATIC ${sources})
  _muster_include_root(${target} ${name} root ${ROOM_LAYERS})
  target_include_directories(${target} PUBLIC ${root})
  set(uses)
  foreach(used ${ROOM_USES})
    _muster_target(${used} used_target)
    list(APPEND uses ${used_target})
  endforeach()
  target_link_libraries(${target} PRIVATE ${uses} PUBLIC muster_options ${ROOM_LIBS})
  set_property(GLOBAL PROPERTY MUSTER_USES_${name} ${ROOM_USES})

  if(MUSTER_TESTS AND tests)
    set(test_target ${target}_test)
    add_executable(${test_target} ${tests})
    foreach(used ${ROOM_TEST_USES})
      _muster_target(${used} used_target)
      list(APPEND uses ${used_target})
    endforeach()
    foreach(room ${name} ${ROOM_USES} ${ROOM_TEST_USES})
      _muster_see_testing(${test_target} ${room})
    endforeach()
    target_link_libraries(${test_target} PRIVATE ${target} ${uses} ${ROOM_TEST_LIBS} GTest::gtest GTest::gtest_main)
    gtest_discover_tests(${test_target} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 300
                         PROPERTIES LABELS unit TIMEOUT 600)
  endif()
endfunction()

# A program, which is not a room, sees the rooms that it names and all rooms that they use.
#
#   muster_use_rooms(<target> room...)
function(muster_use_rooms target)
  set(left ${ARGN})
  set(seen)
  while(left)
    list(POP_FRONT left room)
    if(NOT room IN_LIST seen)
      list(APPEND seen ${room})
      get_property(uses GLOBAL PROPERTY MUSTER_USES_${room})
      list(APPEND left ${uses})
      _muster_target(${room} used)
      target_link_libraries(${target} PRIVATE ${used})
      if(${target} MATCHES "test$")
        _muster_see_testing(${target} ${room})
      endif()
    endif()
  endwhile()
endfunction()
