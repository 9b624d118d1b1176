{{/*
Parts that all pods share. A component is a table of values (control, orchestrator, gateway, sender, postgres).
Its `pods` takes precedence over the `pods` of all; hooks have no table.
*/}}

{{/* An operator's settings for a component's pods: svc.podValues (list $ "control") */}}
{{- define "svc.podValues" -}}
{{- $root := index . 0 -}}
{{- $all := $root.Values.pods -}}
{{- $own := (get $root.Values (index . 1) | default dict).pods | default dict -}}
{{- $said := dict "tolerations" (concat ($own.tolerations | default list) $all.tolerations) -}}
{{- range $map := list "annotations" "labels" "nodeSelector" }}
{{- $_ := set $said $map (mergeOverwrite (deepCopy (get $all $map)) (get $own $map | default dict)) }}
{{- end -}}
{{- range $one := list "affinity" "priorityClassName" }}
{{- $_ := set $said $one (get $own $one | default (get $all $one)) }}
{{- end -}}
{{- toYaml $said }}
{{- end }}

{{/* Metadata of a pod: svc.podMeta (list $ "control"); a third item has further annotations. */}}
{{- define "svc.podMeta" -}}
{{- $root := index . 0 -}}
{{- $said := include "svc.podValues" . | fromYaml -}}
{{- $path := ternary (printf "pods.labels or %s.pods.labels" (index . 1)) "pods.labels" (hasKey $root.Values (index . 1)) -}}
labels:
  {{- include "svc.labelsWith" (list $root (index . 1) $said.labels $path) | nindent 2 }}
{{- $annotations := $said.annotations -}}
{{- if gt (len .) 2 }}{{ $annotations = mergeOverwrite (deepCopy $annotations) (index . 2) }}{{ end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* Placement of a pod, and the logins for its images: svc.placement (list $ "control") */}}
{{- define "svc.placement" -}}
{{- $root := index . 0 -}}
{{- $said := include "svc.podValues" . | fromYaml -}}
{{- $logins := list -}}
{{- range $root.Values.images.pullSecrets }}{{ $logins = append $logins (dict "name" .) }}{{ end -}}
{{- $placement := dict -}}
{{- with $logins }}{{ $_ := set $placement "imagePullSecrets" . }}{{ end -}}
{{- $keys := list "nodeSelector" "tolerations" "affinity" -}}
{{- if hasKey $root.Values (index . 1) }}{{ $keys = append $keys "priorityClassName" }}{{ end -}}
{{- range $key := $keys }}
{{- with get $said $key }}{{ $_ := set $placement $key . }}{{ end }}
{{- end -}}
{{- with $placement }}{{ toYaml . }}{{ end }}
{{- end }}

{{/* Settings of every pod. A container meets the Pod Security level "restricted". */}}
{{- define "svc.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "svc.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Settings of every pod of a program: svc.pod (list $ "control") */}}
{{- define "svc.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
serviceAccountName: {{ include "svc.name" $root }}-{{ $component }}
automountServiceAccountToken: {{ eq $component "orchestrator" }}
enableServiceLinks: false
securityContext:
  {{- include "svc.podSecurity" $root | nindent 2 }}
{{- with include "svc.placement" . }}
{{ . }}
{{- end }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    # Replicas of one release only: those that an upgrade removes do not count.
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels:
        {{- include "svc.selector" (list $root $component) | nindent 8 }}
  {{- end }}
{{- end }}

{{/* Settings of every pod of a job. */}}
{{- define "svc.jobPod" -}}
restartPolicy: Never
enableServiceLinks: false
securityContext:
  {{- include "svc.podSecurity" . | nindent 2 }}
{{- with include "svc.placement" (list . "jobs") }}
{{ . }}
{{- end }}
{{- end }}

{{/* Resources of a container of a job, and of an init container. */}}
{{- define "svc.smallResources" -}}
requests: { cpu: 10m, memory: 128Mi, ephemeral-storage: 16Mi }
limits: { memory: 512Mi, ephemeral-storage: 128Mi }
{{- end }}

{{/* Volume for temporary files of a pod: svc.scratch (list "tmp" "64Mi") */}}
{{- define "svc.scratch" -}}
- name: {{ index . 0 }}
  emptyDir: { sizeLimit: {{ index . 1 }} }
{{- end }}

{{/* An operator's own volumes and their mounts: svc.extraVolumes (list $ "control") */}}
{{- define "svc.extraVolumes" -}}
{{- with (get (index . 0).Values (index . 1)).extraVolumes }}{{ toYaml . }}{{ end }}
{{- end }}
{{- define "svc.extraVolumeMounts" -}}
{{- with (get (index . 0).Values (index . 1)).extraVolumeMounts }}{{ toYaml . }}{{ end }}
{{- end }}
