# SPDX-License-Identifier: Apache-2.0
# Build type, language standards, warnings, sanitizers, ccache.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug or Release" FORCE)
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# -std=c17 hides POSIX: every C file sees it, as if it began with `#define _GNU_SOURCE`.
add_compile_options("$<$<COMPILE_LANGUAGE:C>:-D_GNU_SOURCE=>")
add_compile_definitions(_FILE_OFFSET_BITS=64)

set(warnings_are_errors ON)
if(CMAKE_BUILD_TYPE MATCHES "^Rel")
    set(warnings_are_errors OFF)
endif()
option(HUDI_WERROR "warnings are errors (default: in all but release builds)" ${warnings_are_errors})

add_compile_options(-Wall -Wextra -Wshadow -Wvla
    "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>")
# What this one finds depends on the optimization level, and snprintf cuts safely.
add_compile_options($<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)
if(HUDI_WERROR)
    add_compile_options(-Werror)
endif()

set(HUDI_SANITIZE "" CACHE STRING "sanitizers, comma separated: address,undefined or thread")
if(HUDI_SANITIZE)
    # vptr needs the type information of classes that the prebuilt Arrow does not export
    add_compile_options(-fsanitize=${HUDI_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer
        "$<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>")
    add_link_options(-fsanitize=${HUDI_SANITIZE})
    add_compile_definitions(HD_SANITIZE)
endif()

find_program(HUDI_CCACHE ccache)
mark_as_advanced(HUDI_CCACHE)
if(HUDI_CCACHE)
    foreach(language C CXX)
        if(NOT CMAKE_${language}_COMPILER_LAUNCHER)
            set(CMAKE_${language}_COMPILER_LAUNCHER "${HUDI_CCACHE}")
        endif()
    endforeach()
endif()
