{{/* The environment of each program, and the secrets that it comes from. */}}

{{- define "svc.secretName" -}}{{ .Values.secrets.existing | default (printf "%s-secrets" (include "svc.name" .)) }}{{- end }}

{{/* Name of a key in the installation's secret: svc.secretKey (list $ "pool-token") */}}
{{- define "svc.secretKey" -}}
{{- get (index . 0).Values.secrets.keys (index . 1 | camelcase | untitle) }}
{{- end }}

{{/* The installation's secret. It is generated once; later renders read the existing values back. */}}
{{- define "svc.madeSecret" -}}
{{- if not (hasKey .Values "_made") -}}
{{- $old := (lookup "v1" "Secret" .Release.Namespace (include "svc.secretName" .)).data | default dict -}}
{{- $made := dict -}}
{{- range $key, $prefix := dict "token-secret" "ts-" "pool-token" "pt-" "gateway-token" "gt-" "sender-token" "wt-" "admin-token" "at-" "public-key" "pk-" "secret-key" "sk-" "organization-public-key" "pk-" "organization-secret-key" "sk-" "postgres-password" "pg-" }}
{{- $name := include "svc.secretKey" (list $ $key) -}}
{{- $_ := set $made $name (get $old $name | b64dec | default (printf "%s%s" $prefix (randAlphaNum 40 | lower))) -}}
{{- end -}}
{{- if .Values.postgres.bundled }}
{{- $password := get $made (include "svc.secretKey" (list . "postgres-password")) -}}
{{- $_ := set $made (include "svc.secretKey" (list . "database-url")) (printf "postgresql://svc:%s@%s-postgres:5432/svc" $password (include "svc.name" .)) -}}
{{- end -}}
{{- $_ := set .Values "_made" $made -}}
{{- end -}}
{{- toYaml .Values._made }}
{{- end }}

{{/*
Checksum of the secrets in a program's environment, so that a change rolls the program:
svc.secretSum (list $ "control"). For a secret that the chart did not make, it is read from the cluster.
*/}}
{{- define "svc.secretSum" -}}
{{- $root := index . 0 -}}
{{- $component := index . 1 -}}
{{- $values := $root.Values -}}
{{- $keys := dict "orchestrator" (list "pool-token") "gateway" (list "gateway-token") "sender" (list "sender-token") "control" (list "database-url" "token-secret" "pool-token" "gateway-token" "sender-token" "admin-token" "public-key" "secret-key" "organization-public-key" "organization-secret-key") -}}
{{- $held := dict -}}
{{- if $values.secrets.existing }}
{{- $held = (lookup "v1" "Secret" $root.Release.Namespace $values.secrets.existing).data | default dict -}}
{{- else }}
{{- $held = include "svc.madeSecret" $root | fromYaml -}}
{{- end -}}
{{- $sums := list -}}
{{- range get $keys $component }}
{{- $sums = append $sums (get $held (include "svc.secretKey" (list $root .))) -}}
{{- end -}}
{{- $names := list $values.tracing.secretName -}}
{{- if eq $component "control" }}
{{- $external := $values.postgres.external -}}
{{- $names = concat $names (list $external.secretName $external.tls.caSecretName $values.blobs.s3.secretName) -}}
{{- end -}}
{{- range compact $names }}
{{- $sums = append $sums ((lookup "v1" "Secret" $root.Release.Namespace .).data | default dict | toJson) -}}
{{- end -}}
{{- toJson $sums | sha256sum }}
{{- end }}

{{/* One variable from a secret: svc.fromSecret (list "NAME" "secret" "key") */}}
{{- define "svc.fromSecret" -}}
- name: {{ index . 0 }}
  valueFrom: { secretKeyRef: { name: {{ index . 1 }}, key: {{ index . 2 }} } }
{{- end }}

{{/* One variable from the installation's secret: svc.secretEnv (list $ "SVC_POOL_TOKEN" "pool-token") */}}
{{- define "svc.secretEnv" -}}
{{- $root := index . 0 -}}
{{ include "svc.fromSecret" (list (index . 1) (include "svc.secretName" $root) (include "svc.secretKey" (list $root (index . 2)))) }}
{{- end }}

{{/*
Environment of a component: the chart's variables, the settings of the program's config.ts, and further
variables. A variable that is set twice fails: svc.env (list $ "control" (include "svc.controlEnv" $))
*/}}
{{- define "svc.env" -}}
{{- $component := index . 1 -}}
{{- $values := get (index . 0).Values $component -}}
{{- $said := index . 2 | fromYamlArray -}}
{{- $names := dict -}}
{{- if ne $component "postgres" }}
{{- range $name, $value := $values.settings }}
{{- $said = append $said (dict "name" $name "value" $value) }}
{{- end }}
{{- end }}
{{- range $said }}{{ $_ := set $names .name true }}{{ end -}}
{{- range $index, $variable := $values.extraEnv }}
{{- if hasKey $names $variable.name }}
{{- fail (printf "%s.extraEnv[%d] sets %s, which the chart or %s.settings sets" $component $index $variable.name $component) }}
{{- end }}
{{- $_ := set $names $variable.name true }}
{{- $said = append $said $variable }}
{{- end -}}
{{- toYaml $said }}
{{- end }}

{{/* Environment of all programs: svc.programEnv (list $ "control") */}}
{{- define "svc.programEnv" -}}
{{- $root := index . 0 -}}
- name: SVC_LOG_LEVEL
  value: {{ (get $root.Values (index . 1)).logLevel }}
{{- if $root.Values.metrics.enabled }}
- name: SVC_METRICS_LISTEN
  value: 0.0.0.0:9090
{{- else if has (index . 1) (list "orchestrator" "sender") }}
# Only for its own probes, which have no other listener.
- name: SVC_METRICS_LISTEN
  value: 127.0.0.1:9090
{{- end }}
{{- with $root.Values.tracing }}
{{- if and .endpoint (ne (index $ 1) "sender") }}
- name: OTEL_EXPORTER_OTLP_ENDPOINT
  value: {{ .endpoint }}
{{- if .secretName }}
{{ include "svc.fromSecret" (list "OTEL_EXPORTER_OTLP_HEADERS" .secretName .secretKey) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* Time that a program has to stop: svc.endingEnv .Values.control */}}
{{- define "svc.endingEnv" -}}
- name: SVC_DRAIN_MS
  value: {{ mul .drainSeconds 1000 | quote }}
- name: SVC_FINISH_MS
  value: {{ mul .finishSeconds 1000 | quote }}
{{- end }}

{{/* The runtime that the orchestrator launches hosts on. */}}
{{- define "svc.runtimeEnv" -}}
{{- $ofRelease := printf "%s/app.kubernetes.io/instance=%s,app.kubernetes.io/component=" .Release.Namespace .Release.Name -}}
- name: SVC_RUNTIME
  value: kubernetes
- name: SVC_INSTALLATION
  value: {{ include "svc.name" . }}
- name: SVC_KUBE_NAMESPACE
  value: {{ include "svc.hostsNamespace" . }}
- name: SVC_KUBE_CONTROL
  value: {{ $ofRelease }}control
- name: SVC_KUBE_CONTROL_PORTS
  value: {{ ternary "4501 4500" "4501" .Values.control.formerPort | quote }}
- name: SVC_KUBE_CALLERS
  value: {{ $ofRelease }}gateway
- name: SVC_IMAGE
  value: {{ include "svc.image" (list . "worldHost" "svc-world-host") }}
- name: SVC_BROWSER_IMAGE
  value: {{ include "svc.image" (list . "browser" "svc-browser") }}
{{- with .Values.browsers.seccompProfile }}
- name: SVC_KUBE_BROWSER_SECCOMP
  value: {{ . }}
{{- end }}
{{- if .Values.hosts.priorities.create }}
- name: SVC_KUBE_PRIORITY_STANDARD
  value: {{ include "svc.priorityClass" (list . "standard") }}
- name: SVC_KUBE_PRIORITY_PREMIUM
  value: {{ include "svc.priorityClass" (list . "premium") }}
{{- end }}
- name: SVC_KUBE_PULL_POLICY
  value: {{ .Values.images.pullPolicy }}
- name: SVC_KUBE_PRE_PULL
  value: {{ ternary "yes" "no" .Values.hosts.prePull | quote }}
- name: SVC_KUBE_DRAIN_WAIT_MINUTES
  value: {{ .Values.hosts.drainWaitMinutes | int64 | quote }}
- name: SVC_KUBE_CPU_REQUEST_MILLI
  value: {{ .Values.hosts.cpuRequestMilli | int64 | quote }}
{{- end }}

{{- define "svc.orchestratorEnv" -}}
{{ include "svc.runtimeEnv" . }}
- name: SVC_CONTROL_URL
  value: {{ include "svc.internalUrl" . }}
- name: SVC_HOST_CONTROL_URL
  value: {{ include "svc.hostControlUrl" . }}
- name: SVC_POOLS_FILE
  value: /etc/svc/pools.toml
- name: SVC_ON_STOP
  value: leave
{{ include "svc.programEnv" (list . "orchestrator") }}
{{ include "svc.secretEnv" (list . "SVC_POOL_TOKEN" "pool-token") }}
{{- end }}

{{- define "svc.gatewayEnv" -}}
- name: SVC_LISTEN
  value: 0.0.0.0:4600
- name: SVC_CONTROL_URL
  value: {{ include "svc.internalUrl" . }}
- name: SVC_GATEWAY_URL
  value: {{ .Values.surfaceUrl | quote }}
- name: SVC_HOST_NETWORKS
  value: {{ join "," .Values.gateway.hostNetworks | quote }}
- name: SVC_HOST_PORTS
  value: "8080"
- name: SVC_TRUSTED_HOPS
  value: {{ .Values.gateway.trustedHops | quote }}
{{ include "svc.endingEnv" .Values.gateway }}
{{ include "svc.programEnv" (list . "gateway") }}
{{ include "svc.secretEnv" (list . "SVC_GATEWAY_TOKEN" "gateway-token") }}
{{- end }}

{{- define "svc.senderEnv" -}}
- name: SVC_CONTROL_URL
  value: {{ include "svc.internalUrl" . }}
{{ include "svc.programEnv" (list . "sender") }}
{{ include "svc.secretEnv" (list . "SVC_SENDER_TOKEN" "sender-token") }}
{{- end }}

{{/* Store of blobs of the control plane. */}}
{{- define "svc.blobsEnv" -}}
{{- $s3 := .Values.blobs.s3 -}}
{{- if $s3.url -}}
- name: SVC_BLOB_URL
  value: {{ $s3.url }}
{{- with $s3.region }}
- name: AWS_REGION
  value: {{ . }}
{{- end }}
{{- with $s3.endpoint }}
- name: AWS_ENDPOINT_URL_S3
  value: {{ . }}
{{- end }}
{{- with $s3.secretName }}
{{ include "svc.fromSecret" (list "AWS_ACCESS_KEY_ID" . $s3.accessKeyIdKey) }}
{{ include "svc.fromSecret" (list "AWS_SECRET_ACCESS_KEY" . $s3.secretAccessKeyKey) }}
{{- end }}
{{- else if .Values.blobs.inDatabase -}}
- name: SVC_BLOB_URL
  value: database
{{- else -}}
- name: SVC_BLOB_DIR
  value: /var/lib/svc/blobs
{{- end }}
{{- end }}

{{/* The database. Its TLS settings apply unless the address has some. */}}
{{- define "svc.databaseEnv" -}}
{{- $external := .Values.postgres.external -}}
{{- if .Values.postgres.bundled -}}
{{ include "svc.secretEnv" (list . "SVC_DATABASE_URL" "database-url") }}
{{- else -}}
{{ include "svc.fromSecret" (list "SVC_DATABASE_URL" $external.secretName $external.secretKey) }}
{{- with $external.tls.mode }}
- name: PGSSLMODE
  value: {{ . }}
{{- end }}
{{- if $external.tls.caSecretName }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/svc/database-ca/{{ $external.tls.caSecretKey }}
{{- end }}
{{- end }}
{{- end }}

{{/* Address to which tunnels of browsers lead; empty: the one in the page's own name. */}}
{{- define "svc.surfacesAt" -}}
{{- $gateway := printf "%s-gateway.%s.svc:4600" (include "svc.name" .) .Release.Namespace -}}
{{- .Values.browsers.surfacesAt | default (ternary $gateway "" (hasPrefix "http://" .Values.surfaceUrl)) -}}
{{- end }}

{{- define "svc.controlEnv" -}}
{{- $former := ternary ",0.0.0.0:4500" "" .Values.control.formerPort -}}
- name: SVC_LISTEN
  value: 0.0.0.0:4500
- name: SVC_HOST_LISTEN
  value: 0.0.0.0:4501{{ $former }}
- name: SVC_INTERNAL_LISTEN
  value: 0.0.0.0:4502{{ $former }}
- name: SVC_PUBLIC_URL
  value: {{ .Values.publicUrl }}
- name: SVC_WORK_DIR
  value: /var/lib/svc/work
- name: SVC_GATEWAY_URL
  value: {{ .Values.surfaceUrl | quote }}
{{- with include "svc.surfacesAt" . }}
- name: SVC_SURFACES_AT
  value: {{ . | quote }}
{{- end }}
- name: SVC_RATE_LIMIT
  value: {{ int64 .Values.control.rateLimit | quote }}
{{ include "svc.blobsEnv" . }}
{{ include "svc.endingEnv" .Values.control }}
{{ include "svc.programEnv" (list . "control") }}
{{ include "svc.databaseEnv" . }}
{{ include "svc.secretEnv" (list . "SVC_SECRET" "token-secret") }}
{{ include "svc.secretEnv" (list . "SVC_POOL_TOKEN" "pool-token") }}
{{ include "svc.secretEnv" (list . "SVC_GATEWAY_TOKEN" "gateway-token") }}
# An operator's own secret may lack the sender's token, which is optional for it.
- name: SVC_SENDER_TOKEN
  valueFrom: { secretKeyRef: { name: {{ include "svc.secretName" . }}, key: {{ include "svc.secretKey" (list . "sender-token") }}, optional: true } }
{{ include "svc.secretEnv" (list . "SVC_ADMIN_TOKEN" "admin-token") }}
{{ include "svc.secretEnv" (list . "SVC_BOOTSTRAP_PUBLIC_KEY" "public-key") }}
{{ include "svc.secretEnv" (list . "SVC_BOOTSTRAP_SECRET_KEY" "secret-key") }}
# An operator's own secret may lack the organization's key pair, which is optional.
- name: SVC_BOOTSTRAP_ORGANIZATION_PUBLIC_KEY
  valueFrom: { secretKeyRef: { name: {{ include "svc.secretName" . }}, key: {{ include "svc.secretKey" (list . "organization-public-key") }}, optional: true } }
- name: SVC_BOOTSTRAP_ORGANIZATION_SECRET_KEY
  valueFrom: { secretKeyRef: { name: {{ include "svc.secretName" . }}, key: {{ include "svc.secretKey" (list . "organization-secret-key") }}, optional: true } }
{{- end }}

{{/* Variables of the database's image. */}}
{{- define "svc.postgresEnv" -}}
- name: PGDATA
  value: /var/lib/postgresql/18/data
- name: POSTGRES_USER
  value: svc
- name: POSTGRES_DB
  value: svc
{{ include "svc.secretEnv" (list . "POSTGRES_PASSWORD" "postgres-password") }}
{{- end }}
