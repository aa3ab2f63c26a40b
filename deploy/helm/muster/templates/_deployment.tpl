{{- /* (list $ DEPLOYMENT): changes the Deployment, and is empty itself. */ -}}
{{- define "muster.fit-deployment" }}
{{- $root := index . 0 }}{{ $spec := (index . 1).spec }}{{ $values := $root.Values }}
{{- $_ := set $spec "replicas" $values.replicas }}
{{- $pod := $spec.template.spec }}
{{- $container := first $pod.containers }}
{{- $_ := set $container "image" ($values.image | default (printf "muster:%s" $root.Chart.AppVersion)) }}
{{- $args := list }}
{{- range $container.args }}
{{- if hasPrefix "--webhook-failure-policy=" . }}{{ $args = append $args (printf "--webhook-failure-policy=%s" $values.failurePolicy) }}
{{- else }}{{ $args = append $args . }}{{ end }}
{{- end }}
{{- if $values.namespaced }}
{{- $kept := list }}
{{- range $args }}{{ if not (hasPrefix "--webhook-" .) }}{{ $kept = append $kept . }}{{ end }}{{ end }}
{{- $args = append (append $kept "--webhook-server-port=0") (printf "--namespace=%s" $root.Release.Namespace) }}
{{- $ports := list }}
{{- range $container.ports }}{{ if ne .name "webhook" }}{{ $ports = append $ports . }}{{ end }}{{ end }}
{{- $_ := set $container "ports" $ports }}
{{- end }}
{{- if $values.statusPosts }}{{ $args = append $args "--status-address=:9444" }}{{ end }}
{{- $_ := set $container "args" (concat $args $values.operatorFlags) }}
{{- with $values.resources }}{{ $_ := set $container "resources" . }}{{ end }}
{{- range $field := list "imagePullSecrets" "nodeSelector" "tolerations" }}
{{- with index $values $field }}{{ $_ := set $pod $field . }}{{ end }}
{{- end }}
{{- end }}
