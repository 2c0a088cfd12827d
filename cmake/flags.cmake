# Compiler and linker flags that every target shares.
option(AGENTRT_WERROR "Treat warnings as errors" ON)
set(AGENTRT_SANITIZE "" CACHE STRING "Sanitizers to build with: address,undefined or thread")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion
                    -Wno-sign-conversion -Wno-missing-field-initializers
                    -fno-omit-frame-pointer -fstack-protector-strong
                    -fPIC)  # for programs too, so that they share the precompiled headers
if(AGENTRT_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_compile_options(-march=x86-64-v2)  # SSE4.2: what simdjson needs to be fast
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")  # -O3 gains nothing here and makes the binary larger
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  add_compile_options(-ffunction-sections -fdata-sections)
  add_link_options(-Wl,--gc-sections -Wl,--as-needed)
endif()
if(AGENTRT_SANITIZE)
  add_compile_options(-fsanitize=${AGENTRT_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${AGENTRT_SANITIZE})
endif()
if(NOT AGENTRT_SANITIZE)
  find_program(MOLD mold)
  if(MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()
option(AGENTRT_WEB "Build the inspector page, which needs Node and the packages of web/" ON)
option(AGENTRT_PCH "Precompile the headers that most units include" ON)
# Equal for all targets: a precompiled header can be used only with the macros it was built with.
add_compile_definitions(FMT_SHARED SIMDJSON_THREADS_ENABLED=1)
find_program(CCACHE ccache)
if(CCACHE)
  # ccache needs these two to cache units that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()
