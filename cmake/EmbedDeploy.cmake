# Embeds the files of deploy/ that `muster install` applies as text in the binary (src/arena/install/deploy_files.h).
function(muster_embed_deploy target)
  set(out ${CMAKE_BINARY_DIR}/generated/deploy_files.cc)
  set(text "// Made from deploy/ by cmake/EmbedDeploy.cmake.\n#include \"arena/install/deploy_files.h\"\n\nnamespace arena {\n\n")
  foreach(pair
          kDeployRoles=roles.yaml kDeployNamespace=operator/namespace.yaml
          kDeployRbac=operator/rbac.yaml
          kDeployService=operator/service.yaml kDeployDisruption=operator/disruption.yaml
          kDeployWebhook=operator/webhook.yaml
          kDeployDeployment=operator/deployment.yaml kDeployNamespacedRbac=namespaced/rbac.yaml
          kDeployStatus=status/status.yaml kDeployServiceMonitor=monitoring/service-monitor.yaml)
    string(REGEX MATCH "^([^=]+)=(.*)$" ignored ${pair})
    set(file ${CMAKE_SOURCE_DIR}/deploy/${CMAKE_MATCH_2})
    set(name ${CMAKE_MATCH_1})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} content)
    string(APPEND text "const std::string_view ${name} = R\"muster(${content})muster\";\n")
  endforeach()
  string(APPEND text "\n}  // namespace arena\n")
  file(CONFIGURE OUTPUT ${out} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${out})
endfunction()
