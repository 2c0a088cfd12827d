# agentrt_module(NAME [USES modules...] [LIBS libraries...])
#
# One static library per folder of src/, from every *.cc in it that is not a test, and one test
# program NAME_test from every *_test.cc. The includes a module may make are those of
# tools/modules.txt; the tidiness test reads that file, and USES mirrors it for the linker.
function(agentrt_module name)
  cmake_parse_arguments(ARG "" "" "USES;LIBS;TEST_LIBS" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  string(REPLACE "/" "_" target ${name})

  if(sources)
    add_library(agentrt_${target} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(agentrt_${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(agentrt_${target} ${scope} ${CMAKE_SOURCE_DIR}/src)
  foreach(used ${ARG_USES})
    target_link_libraries(agentrt_${target} ${scope} agentrt_${used})
  endforeach()
  target_link_libraries(agentrt_${target} ${scope} ${ARG_LIBS})

  if(tests)
    add_executable(${target}_test ${tests} ${CMAKE_SOURCE_DIR}/tests/main.cc)
    target_link_libraries(${target}_test PRIVATE agentrt_${target} ${ARG_TEST_LIBS})
    add_test(NAME ${target} COMMAND ${target}_test)
  endif()
endfunction()
