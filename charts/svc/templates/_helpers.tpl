{{/* Names, labels, images and addresses that several objects share. */}}

{{/* Prefix of the names of objects. Services have it too, so it has no dots, unlike a release's name. */}}
{{- define "svc.name" -}}
{{- $override := .Values.nameOverride -}}
{{- $isWhole := or (empty $override) (contains $override .Release.Name) -}}
{{- $joined := ternary .Release.Name (printf "%s-%s" .Release.Name $override) $isWhole -}}
{{- .Values.fullnameOverride | default $joined | replace "." "-" | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* The label app.kubernetes.io/name of everything. */}}
{{- define "svc.app" -}}{{ .Values.nameOverride | default "svc" }}{{- end }}

{{- define "svc.hostsNamespace" -}}
{{ .Values.hosts.namespace | default (printf "%s-hosts" .Release.Namespace | trunc 63 | trimSuffix "-") }}
{{- end }}

{{/* The priority class of hosts of a tier: svc.priorityClass (list $ "premium") */}}
{{- define "svc.priorityClass" -}}
{{- $root := index . 0 -}}
{{- $value := int64 (get $root.Values.hosts.priorities (index . 1)) -}}
{{- printf "%s-%s-%s-%s" $root.Release.Namespace (include "svc.name" $root) (index . 1) (toString $value | replace "-" "minus-") -}}
{{- end }}

{{/* Labels that select all objects of a release. */}}
{{- define "svc.release" -}}
app.kubernetes.io/name: {{ include "svc.app" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Labels that select a component: svc.selector (list $ "control") */}}
{{- define "svc.selector" -}}
{{ include "svc.release" (index . 0) }}
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

{{/* The same labels with an operator's own: svc.labelsWith (list $ "control" $own "the path of their value") */}}
{{- define "svc.labelsWith" -}}
{{- $ours := include "svc.labels" . | fromYaml -}}
{{- $own := index . 2 -}}
{{- range $key := list "name" "instance" "component" }}
{{- if hasKey $own (printf "app.kubernetes.io/%s" $key) }}
{{- fail (printf "%s has app.kubernetes.io/%s, by which the chart selects its objects: leave it out, or set nameOverride" (index $ 3) $key) }}
{{- end }}
{{- end }}
{{- toYaml (mergeOverwrite $ours $own) }}
{{- end }}

{{/* An image: svc.image (list $ "programs" "svc") */}}
{{- define "svc.image" -}}
{{- $root := index . 0 -}}
{{- $images := $root.Values.images -}}
{{- $registry := ternary "" (printf "%s/" (trimSuffix "/" $images.registry)) (empty $images.registry) -}}
{{- $name := get $images (index . 1) | default (printf "%s%s:%s" $registry (index . 2) ($images.tag | default $root.Chart.AppVersion)) -}}
{{- $digest := get $images.digests (index . 1) -}}
{{- if and $digest (contains "@" $name) }}
{{- fail (printf "images.%s has a digest, and so has images.digests.%s: set only one of them" (index . 1) (index . 1)) }}
{{- end -}}
{{- ternary $name (printf "%s@%s" $name $digest) (empty $digest) -}}
{{- end }}

{{/* Addresses of the control plane for clients in the cluster, for hosts, and for the other programs. */}}
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

{{/* Rights of the orchestrator in the namespace of the hosts. Its access check has the same list. */}}
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
  resources: [namespaces]
  verbs: [get]
# An orchestrator of the previous release that still leads applies the owner of its pods.
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

{{/* A disruption budget: at most one replica is evicted at a time; failed replicas do not block a drain. */}}
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

{{/* An autoscaler: svc.autoscaler (list $ "control") */}}
{{- define "svc.autoscaler" -}}
{{- $root := index . 0 -}}
{{- $name := printf "%s-%s" (include "svc.name" $root) (index . 1) -}}
{{- $scaling := (get $root.Values (index . 1)).autoscaling -}}
{{- if gt (int $scaling.minimum) (int $scaling.maximum) }}
{{- fail (printf "%s.autoscaling.minimum is %d, more than %s.autoscaling.maximum, which is %d" (index . 1) (int $scaling.minimum) (index . 1) (int $scaling.maximum)) }}
{{- end -}}
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

{{- /* Peers of a policy: all public addresses, except the networks that the installation names. */ -}}
{{- define "svc.publicNetworks" -}}
{{- $not := .Values.networkPolicy.notReceivers -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except:
      {{- range list "0.0.0.0/8" "10.0.0.0/8" "100.64.0.0/10" "127.0.0.0/8" "169.254.0.0/16" "172.16.0.0/12" "192.0.0.0/24" "192.168.0.0/16" "198.18.0.0/15" "224.0.0.0/3" }}
      - {{ . }}
      {{- end }}
      {{- range $not }}
      {{- if not (contains ":" .) }}
      - {{ . }}
      {{- end }}
      {{- end }}
- ipBlock:
    cidr: 2000::/3
    except:
      {{- range list "2001::/23" "2002::/16" }}
      - {{ . }}
      {{- end }}
      {{- range $not }}
      {{- if contains ":" . }}
      - {{ . | quote }}
      {{- end }}
      {{- end }}
{{- end }}
