# SPDX-License-Identifier: Apache-2.0
# hd_arrow_cpp: Arrow C++ and Parquet. Looked for in this order:
#   1. the folder of a pyarrow package given as -DHUDI_PYARROW=DIR
#   2. CMake packages Arrow and Parquet (CMAKE_PREFIX_PATH, system)
#   3. the pyarrow of build/venv (made by tools/setup), else of the python3 on the PATH
# HUDI_ARROW_WHEEL_DIR is set when the wheel is the source; HUDI_ARROW_RUNTIME then lists the shared
# libraries that an installation must carry along.

set(HUDI_PYARROW "" CACHE PATH "folder of a pyarrow package (include/, libarrow.so.N) to take Arrow from")
add_library(hd_arrow_cpp INTERFACE)
set(HUDI_ARROW_WHEEL_DIR "")
set(HUDI_ARROW_RUNTIME "")

function(hudi_arrow_from_packages out)
    set(${out} OFF PARENT_SCOPE)
    find_package(Arrow CONFIG QUIET)
    find_package(Parquet CONFIG QUIET)
    if(NOT Arrow_FOUND OR NOT Parquet_FOUND)
        return()
    endif()
    set(targets Parquet::parquet_shared Arrow::arrow_shared)
    target_link_libraries(hd_arrow_cpp INTERFACE ${targets})
    message(STATUS "Arrow ${Arrow_VERSION} of ${Arrow_DIR}")
    set(${out} ON PARENT_SCOPE)
endfunction()

# The folder of the pyarrow package that `python` imports, without importing (and so loading) it.
function(hudi_find_wheel out)
    set(find_spec "import importlib.util as u; print(u.find_spec('pyarrow').submodule_search_locations[0])")
    foreach(python "${PROJECT_SOURCE_DIR}/build/venv/bin/python" python3)
        execute_process(COMMAND "${python}" -c "${find_spec}" OUTPUT_VARIABLE dir RESULT_VARIABLE result
            OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
        if(result EQUAL 0 AND EXISTS "${dir}/include/arrow/api.h")
            set(${out} "${dir}" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()

# The wheel has libarrow.so.2600 and no libarrow.so: name the versioned files.
function(hudi_arrow_from_wheel dir)
    if(NOT EXISTS "${dir}/include/arrow/api.h")
        message(FATAL_ERROR "no Arrow headers under ${dir}/include: HUDI_PYARROW must name a pyarrow package")
    endif()
    set(runtime "")
    foreach(name parquet arrow)
        file(GLOB files "${dir}/lib${name}.so.*")
        if(NOT files)
            message(FATAL_ERROR "no lib${name}.so.* in ${dir}")
        endif()
        list(GET files 0 file)
        get_filename_component(soname "${file}" NAME)
        add_library(hd_wheel_${name} SHARED IMPORTED GLOBAL)
        set_target_properties(hd_wheel_${name} PROPERTIES IMPORTED_LOCATION "${file}"
            IMPORTED_SONAME "${soname}")
        target_link_libraries(hd_arrow_cpp INTERFACE hd_wheel_${name})
        list(APPEND runtime "${file}")
    endforeach()
    target_include_directories(hd_arrow_cpp SYSTEM INTERFACE "${dir}/include")
    message(STATUS "Arrow of the pyarrow wheel in ${dir}")
    set(HUDI_ARROW_WHEEL_DIR "${dir}" PARENT_SCOPE)
    set(HUDI_ARROW_RUNTIME "${runtime}" PARENT_SCOPE)
endfunction()

set(hudi_wheel "${HUDI_PYARROW}")
if(NOT hudi_wheel)
    hudi_arrow_from_packages(hudi_arrow_found)
    if(NOT hudi_arrow_found)
        hudi_find_wheel(hudi_wheel)
        if(NOT hudi_wheel)
            message(FATAL_ERROR "no Arrow C++: install the packages Arrow and Parquet and name their prefix in "
                "CMAKE_PREFIX_PATH, or run tools/setup (pyarrow in build/venv), or give "
                "-DHUDI_PYARROW=DIR of a pyarrow package")
        endif()
    endif()
endif()
if(hudi_wheel)
    hudi_arrow_from_wheel("${hudi_wheel}")
endif()
