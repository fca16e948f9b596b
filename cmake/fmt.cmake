# quadrille::fmt: fmt as a part of what is built, so that it runs on systems with another version of it. Distributions
# ship no static library. Its headers can be one, by an option of GCC; other compilers link fmt as they find it.
find_package(fmt REQUIRED)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_library(quadrille_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
  target_include_directories(quadrille_fmt SYSTEM PUBLIC
                             $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
  target_compile_definitions(quadrille_fmt PRIVATE FMT_HEADER_ONLY)
  target_compile_options(quadrille_fmt PRIVATE -O2 -fno-inline -fkeep-inline-functions -ffunction-sections -w)
  target_link_options(quadrille_fmt INTERFACE -Wl,--gc-sections)
else()
  add_library(quadrille_fmt INTERFACE)
  target_link_libraries(quadrille_fmt INTERFACE fmt::fmt)
endif()
add_library(quadrille::fmt ALIAS quadrille_fmt)
