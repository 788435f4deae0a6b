# SPDX-License-Identifier: Apache-2.0
# libhudi.so and libhudi.a from the objects of all layers, and the program on top of the shared one.

if(HUDI_LAYER_OBJECTS)
    add_library(libhudi SHARED ${HUDI_LAYER_OBJECTS})
    add_library(libhudi_static STATIC ${HUDI_LAYER_OBJECTS})
    foreach(library libhudi libhudi_static)
        set_target_properties(${library} PROPERTIES OUTPUT_NAME hudi LINKER_LANGUAGE CXX)
        target_include_directories(${library} INTERFACE "${PROJECT_SOURCE_DIR}/include")
        target_link_libraries(${library} PRIVATE hd_arrow_cpp hd_dependencies)
    endforeach()
    set_target_properties(libhudi PROPERTIES VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}
        LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/libhudi.map")
    target_link_options(libhudi PRIVATE
        "LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/libhudi.map")
    if(NOT HUDI_SANITIZE AND NOT HUDI_FUZZ)
        target_link_options(libhudi PRIVATE LINKER:--no-undefined)
    endif()

    # The program sees the public headers and no other.
    file(GLOB cli_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cli/*.c")
    if(cli_sources AND NOT HUDI_FUZZ)
        add_executable(hudi ${cli_sources})
        target_link_libraries(hudi PRIVATE libhudi)
        target_compile_definitions(hudi PRIVATE HUDI_VERSION="${PROJECT_VERSION}")
    endif()
endif()
