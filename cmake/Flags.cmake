# SPDX-License-Identifier: Apache-2.0
# MARLINE_SANITIZE: empty, or one of thread, address (with undefined), undefined: applied to every target of the build.
set(least_GNU 12)
set(least_Clang 16)
if(NOT DEFINED least_${CMAKE_CXX_COMPILER_ID} OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS least_${CMAKE_CXX_COMPILER_ID})
  # CMake does not wrap a line that begins with a blank. Clang 14 crashes on the device's dispatcher.
  message(FATAL_ERROR " Marline's libraries are built by GCC 12 or later or Clang 16 or later, and ${CMAKE_CXX_COMPILER} \
is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}: name another one by CC and CXX, e.g. CC=gcc-12 CXX=g++-12")
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2 -g")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(MARLINE_SANITIZE "" CACHE STRING "thread, address or undefined")

add_library(marline_warnings INTERFACE)
target_compile_options(marline_warnings INTERFACE
  -Wall -Wextra -Wshadow -Wpointer-arith -Wundef $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)

if(MARLINE_SANITIZE)
  set(flags -fsanitize=${MARLINE_SANITIZE})
  if(MARLINE_SANITIZE STREQUAL "address")
    # vptr: would need a C++ runtime in libmarline.
    set(flags -fsanitize=address,undefined -fno-sanitize=vptr -fno-sanitize-recover=all)
  endif()
  add_compile_options(${flags} -fno-omit-frame-pointer)
  add_link_options(${flags})
endif()

# marline_precompile(TARGET [more headers]): what most files include of the standard library is translated once for each
# library, which halves the time that its files take. The debug preset does without: it finds what a file forgot to
# include. Headers in angle brackets only.
function(marline_precompile TARGET)
  set(headers <algorithm> <atomic> <bit> <cerrno> <climits> <cstdint> <cstdio> <cstdlib> <cstring> <new> <unistd.h>
      ${ARGN})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:\\1")
  list(TRANSFORM headers REPLACE ">$" "$<ANGLE-R>>")
  target_precompile_headers(${TARGET} PRIVATE ${headers})
endfunction()
