# SPDX-License-Identifier: Apache-2.0
# One static library per top folder of src/, with the links that src/LAYERS allows. A folder without
# sources becomes an empty interface library, so that adding its first file needs no change here.

file(STRINGS "${PROJECT_SOURCE_DIR}/src/LAYERS" lines REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/LAYERS")

set(HUDI_LAYERS "")
foreach(line IN LISTS lines)
    string(REGEX MATCH "^([a-z_]+)[a-z_/]*:(.*)$" _ "${line}")
    set(layer "${CMAKE_MATCH_1}")
    string(REGEX MATCHALL "[a-z_/]+" folders "${CMAKE_MATCH_2}")
    list(APPEND HUDI_LAYERS ${layer})
    foreach(folder IN LISTS folders)
        string(REGEX REPLACE "/.*" "" below "${folder}")
        if(NOT below STREQUAL layer)
            list(APPEND below_${layer} hd_${below})
        endif()
    endforeach()
endforeach()
list(REMOVE_DUPLICATES HUDI_LAYERS)

set(HUDI_LAYER_OBJECTS "")
foreach(layer IN LISTS HUDI_LAYERS)
    set(dir "${PROJECT_SOURCE_DIR}/src/${layer}")
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${dir}/*.c")
    file(GLOB cpp_sources CONFIGURE_DEPENDS "${dir}/arrow_cpp/*.cc") # src/store only
    if(sources)
        add_library(hd_${layer} STATIC ${sources})
        target_link_libraries(hd_${layer} PUBLIC ${below_${layer}} hd_dependencies)
        target_include_directories(hd_${layer} PUBLIC "${PROJECT_SOURCE_DIR}/src"
            "${PROJECT_SOURCE_DIR}/include")
        list(APPEND HUDI_LAYER_OBJECTS $<TARGET_OBJECTS:hd_${layer}>)
    else()
        add_library(hd_${layer} INTERFACE)
        target_link_libraries(hd_${layer} INTERFACE ${below_${layer}} hd_dependencies)
        target_include_directories(hd_${layer} INTERFACE "${PROJECT_SOURCE_DIR}/src"
            "${PROJECT_SOURCE_DIR}/include")
    endif()
    if(cpp_sources)
        # A library of its own that does not search src/: there is an arrow/type.h in it, as in Arrow.
        add_library(hd_${layer}_cpp OBJECT ${cpp_sources})
        target_include_directories(hd_${layer}_cpp PRIVATE "${PROJECT_SOURCE_DIR}/include")
        target_link_libraries(hd_${layer}_cpp PRIVATE hd_arrow_cpp)
        target_sources(hd_${layer} PRIVATE $<TARGET_OBJECTS:hd_${layer}_cpp>)
        list(APPEND HUDI_LAYER_OBJECTS $<TARGET_OBJECTS:hd_${layer}_cpp>)
        target_link_libraries(hd_${layer} PRIVATE $<LINK_ONLY:hd_arrow_cpp>)
        set_target_properties(hd_${layer} PROPERTIES LINKER_LANGUAGE CXX)
    endif()
endforeach()
