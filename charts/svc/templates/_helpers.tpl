{{/* Names, labels, and what pods of the programs have in common. */}}

{{/* Services are called by it, so it has no dots, which a release may have. */}}
{{- define "svc.name" -}}{{ .Release.Name | replace "." "-" | trunc 40 | trimSuffix "-" }}{{- end }}

{{- define "svc.hostsNamespace" -}}
{{ .Values.hosts.namespace | default (printf "%s-hosts" .Release.Namespace | trunc 63 | trimSuffix "-") }}
{{- end }}

{{- define "svc.secretName" -}}{{ .Values.secrets.existing | default (printf "%s-secrets" (include "svc.name" .)) }}{{- end }}

{{/* Labels of a component by which it is selected: svc.selector (list $ "control") */}}
{{- define "svc.selector" -}}
{{- $root := index . 0 -}}
app.kubernetes.io/name: svc
app.kubernetes.io/instance: {{ $root.Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{/* Labels of an object of a component. */}}
{{- define "svc.labels" -}}
{{- $root := index . 0 -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end }}

{{/* An image: svc.image (list $ "programs" "svc") */}}
{{- define "svc.image" -}}
{{- $root := index . 0 -}}
{{- $images := $root.Values.images -}}
{{- $registry := ternary "" (printf "%s/" (trimSuffix "/" $images.registry)) (empty $images.registry) -}}
{{- get $images (index . 1) | default (printf "%s%s:%s" $registry (index . 2) ($images.tag | default $root.Chart.AppVersion)) -}}
{{- end }}

{{/* The control plane as clients in the cluster, hosts, and the other programs reach it. */}}
{{- define "svc.controlUrl" -}}
http://{{ include "svc.name" . }}-control.{{ .Release.Namespace }}.svc:4500
{{- end }}
{{- define "svc.hostControlUrl" -}}
http://{{ include "svc.name" . }}-control-internal.{{ .Release.Namespace }}.svc:4501
{{- end }}
{{- define "svc.internalUrl" -}}
http://{{ include "svc.name" . }}-control-internal.{{ .Release.Namespace }}.svc:4502
{{- end }}

{{/* The wildcard host of surfaces, from their template. */}}
{{- define "svc.surfaceHost" -}}
*{{ regexReplaceAll "^https?://\\{session\\}--\\{surface\\}([^:/]+).*$" .Values.surfaceUrl "${1}" }}
{{- end }}

{{- define "svc.publicHost" -}}{{ (urlParse .Values.publicUrl).hostname }}{{- end }}

{{/* A container meets the Pod Security level "restricted". */}}
{{- define "svc.restricted" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "svc.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{/* Metadata of a pod: svc.podMeta (list $ "control") */}}
{{- define "svc.podMeta" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "svc.labels" . | nindent 2 }}
  {{- with $root.Values.pods.labels }}{{ toYaml . | nindent 2 }}{{ end }}
{{- with $root.Values.pods.annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* What every pod of a component has: svc.pod (list $ "control") */}}
{{- define "svc.pod" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
serviceAccountName: {{ include "svc.name" $root }}-{{ $component }}
automountServiceAccountToken: {{ eq $component "orchestrator" }}
enableServiceLinks: false
securityContext:
  {{- include "svc.podSecurity" $root | nindent 2 }}
{{- include "svc.placement" $root }}
{{- with $root.Values.pods.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
topologySpreadConstraints:
  {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    # Of one release: replicas that an upgrade takes away do not count.
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels:
        {{- include "svc.selector" (list $root $component) | nindent 8 }}
  {{- end }}
{{- end }}

{{/* Where any pod of the chart may run, and with which logins its images are pulled. */}}
{{- define "svc.placement" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.pods.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.pods.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* One variable from the installation's secret: svc.secretEnv (list $ "SVC_POOL_TOKEN" "pool-token") */}}
{{- define "svc.secretEnv" -}}
- name: {{ index . 1 }}
  valueFrom: { secretKeyRef: { name: {{ include "svc.secretName" (index . 0) }}, key: {{ index . 2 }} } }
{{- end }}

{{/* What an operator sets besides: variables of the program's config.ts. */}}
{{- define "svc.settings" -}}
{{- range $name, $value := . }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}

{{/* Metrics of a program. */}}
{{- define "svc.metricsEnv" -}}
{{- if .Values.metrics.enabled }}
- name: SVC_METRICS_LISTEN
  value: 0.0.0.0:9090
{{- end }}
{{- end }}

{{/* Traces of a program. */}}
{{- define "svc.tracingEnv" -}}
{{- with .Values.tracing.endpoint }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ . }}
{{- with $.Values.tracing.secretName }}
- name: OTEL_EXPORTER_OTLP_HEADERS
  valueFrom: { secretKeyRef: { name: {{ . }}, key: headers } }
{{- end }}
{{- end }}
{{- end }}

{{/* Rights of the orchestrator in the namespace of the hosts; its access check asks for the same. */}}
{{- define "svc.hostRules" -}}
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, delete, patch]
- apiGroups: [""]
  resources: [pods/log]
  verbs: [get]
- apiGroups: [""]
  resources: [events]
  verbs: [list]
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [networkpolicies]
  verbs: [create, patch, delete]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [create, patch, delete]
- apiGroups: [apps]
  resources: [daemonsets]
  verbs: [create, patch, delete, list]
{{- end }}

{{/* The runtime that the orchestrator launches hosts on. */}}
{{- define "svc.runtimeEnv" -}}
- name: SVC_RUNTIME
  value: kubernetes
- name: SVC_INSTALLATION
  value: {{ include "svc.name" . }}
- name: SVC_KUBE_NAMESPACE
  value: {{ include "svc.hostsNamespace" . }}
- name: SVC_KUBE_CONTROL
  value: {{ .Release.Namespace }}/app.kubernetes.io/instance={{ .Release.Name }},app.kubernetes.io/component=control
- name: SVC_KUBE_CONTROL_PORTS
  value: {{ ternary "4501 4500" "4501" .Values.control.formerPort | quote }}
- name: SVC_KUBE_CALLERS
  value: {{ .Release.Namespace }}/app.kubernetes.io/instance={{ .Release.Name }},app.kubernetes.io/component=gateway
- name: SVC_IMAGE
  value: {{ include "svc.image" (list . "worldHost" "svc-world-host") }}
- name: SVC_KUBE_PRE_PULL
  value: {{ ternary "yes" "no" .Values.hosts.prePull | quote }}
- name: SVC_KUBE_CPU_REQUEST_MILLI
  value: {{ .Values.hosts.cpuRequestMilli | int64 | quote }}
{{- end }}

{{/* Where a namespace's name servers are, for network policies. */}}
{{- define "svc.nameServers" -}}
- to:
    - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: kube-system } }
    {{- with .Values.networkPolicy.nameServers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
{{- end }}

{{/* A disruption budget: at most one replica at a time; replicas that fail hold no node up. */}}
{{- define "svc.budget" -}}
{{- $root := index . 0 -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "svc.name" $root }}-{{ index . 1 }}
  labels:
    {{- include "svc.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "svc.selector" . | nindent 6 }}
{{- end }}

{{/* An autoscaler: svc.autoscaler (list $ "control" .Values.control.autoscaling) */}}
{{- define "svc.autoscaler" -}}
{{- $root := index . 0 -}}
{{- $name := printf "%s-%s" (include "svc.name" $root) (index . 1) -}}
{{- $scaling := index . 2 -}}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels:
    {{- include "svc.labels" . | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: Deployment, name: {{ $name }} }
  minReplicas: {{ $scaling.minimum }}
  maxReplicas: {{ $scaling.maximum }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ $scaling.cpuPercent }} }
{{- end }}
