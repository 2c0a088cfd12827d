# agentrt_module(NAME [USES modules...] [LIBS libraries...] [TESTS_USE modules...])
#
# One static library per folder of src/, from every *.cc in it that is not a test, and one test
# program NAME_test from every *_test.cc. A folder within a folder (adapters/http) gives
# agentrt_adapters_http and adapters_http_test; the outer folder then leaves it out (WITHOUT). The
# includes a module may make are those of tools/modules.txt; the tidiness test reads that file, and
# USES and TESTS_USE mirror it for the linker.
function(agentrt_module name)
  cmake_parse_arguments(ARG "" "" "USES;LIBS;TESTS_USE;WITHOUT" ${ARGN})
  set(folder ${CMAKE_CURRENT_SOURCE_DIR}/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  foreach(inner ${ARG_WITHOUT})
    list(FILTER sources EXCLUDE REGEX "^${folder}/${inner}/")
  endforeach()
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
  string(REPLACE "/" "_" uses "${ARG_USES}")
  list(TRANSFORM uses PREPEND agentrt_)
  target_link_libraries(agentrt_${target} ${scope} ${uses})
  target_link_libraries(agentrt_${target} ${scope} ${ARG_LIBS})
  if(sources)
    agentrt_precompiled(agentrt_${target} ${name})
  endif()

  if(tests)
    add_executable(${target}_test ${tests} ${CMAKE_SOURCE_DIR}/tests/main.cc)
    string(REPLACE "/" "_" tests_use "${ARG_TESTS_USE}")
    list(TRANSFORM tests_use PREPEND agentrt_)
    target_link_libraries(${target}_test PRIVATE agentrt_${target} ${tests_use})
    agentrt_precompiled(${target}_test ${name})
    add_test(NAME ${target} COMMAND ${target}_test)
  endif()
endfunction()

# agentrt_precompiled(TARGET MODULE)
#
# Gives TARGET the precompiled header of its module: the vocabulary (facts, commands, reports), or
# the standard library alone for the modules below it. Both are built once.
function(agentrt_precompiled target module)
  if(NOT AGENTRT_PCH)
    return()
  endif()
  if(module MATCHES "^(base|schema|ports|adapters/http)$")
    set(header standard)
  else()
    set(header vocabulary)
  endif()
  target_precompile_headers(${target} REUSE_FROM agentrt_pch_${header})
endfunction()

if(AGENTRT_PCH)
  set(standard <algorithm> <array> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional>
    <ranges> <set> <span> <string> <string_view> <unordered_map> <utility> <variant> <vector>
    <boost/describe.hpp> <boost/mp11.hpp> <fmt/format.h>)
  set(vocabulary ${CMAKE_SOURCE_DIR}/src/schema)
  # A target that makes a precompiled header needs a source file.
  if(NOT EXISTS ${CMAKE_BINARY_DIR}/pch.cc)
    file(TOUCH ${CMAKE_BINARY_DIR}/pch.cc)
  endif()
  add_library(agentrt_pch_standard OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
  target_precompile_headers(agentrt_pch_standard PRIVATE ${standard})
  add_library(agentrt_pch_vocabulary OBJECT ${CMAKE_BINARY_DIR}/pch.cc)
  target_include_directories(agentrt_pch_vocabulary PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_precompile_headers(agentrt_pch_vocabulary PRIVATE ${standard} ${vocabulary}/commands.h
    ${vocabulary}/facts.h ${vocabulary}/reports.h ${vocabulary}/snapshots.h)
endif()
