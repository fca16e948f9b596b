# The command itself writes a man page for each of its commands, and completions for shells.
if(CMAKE_CROSSCOMPILING)
  message(STATUS "Cross-compiling: no man pages of single commands, no completions for shells")
  return()
endif()
set(manuals ${CMAKE_CURRENT_BINARY_DIR}/manuals)
add_custom_command(
  OUTPUT ${manuals}/quadrille.bash ${manuals}/_quadrille
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manuals}/man1
  COMMAND quadrille document --man ${manuals}/man1
  COMMAND quadrille completion bash > ${manuals}/quadrille.bash
  COMMAND quadrille completion zsh > ${manuals}/_quadrille
  DEPENDS quadrille
  COMMENT "Writing man pages and completions")
add_custom_target(quadrille_manuals ALL DEPENDS ${manuals}/quadrille.bash ${manuals}/_quadrille)
file(MAKE_DIRECTORY ${manuals})

install(DIRECTORY ${manuals}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT command)
install(FILES ${manuals}/quadrille.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME quadrille COMPONENT command)
# Debian's zsh looks elsewhere for what packages bring.
set(zsh_folder $<IF:$<STREQUAL:${CMAKE_INSTALL_PREFIX},/usr>,vendor-completions,site-functions>)
install(FILES ${manuals}/_quadrille DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${zsh_folder} COMPONENT command)
