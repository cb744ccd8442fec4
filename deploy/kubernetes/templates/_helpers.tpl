{{/*
SPDX-License-Identifier: ISC
*/}}

{{/* Merge a patch into an object, (list OBJECT PATCH), as kustomize does: maps by their keys, lists
of containers, variables, volumes and mounts by name or path. Other values are replaced, and those that
are null in the patch removed. */}}
{{- define "tfs-tools.merge" -}}
{{- $to := index . 0 -}}
{{- range $key, $value := index . 1 -}}
{{- $old := get $to $key -}}
{{- if and (kindIs "map" $old) (kindIs "map" $value) -}}
{{- include "tfs-tools.merge" (list $old $value) -}}
{{- else if and (kindIs "slice" $old) (kindIs "slice" $value) (include "tfs-tools.id" (first $value)) -}}
{{- $added := list -}}
{{- range $item := $value -}}
{{- $found := false -}}
{{- range $other := $old -}}
{{- if eq (include "tfs-tools.id" $item) (include "tfs-tools.id" $other) -}}
{{- $found = true -}}
{{- include "tfs-tools.merge" (list $other $item) -}}
{{- end -}}
{{- end -}}
{{- if not $found }}{{ $added = append $added $item }}{{ end -}}
{{- end -}}
{{- $_ := set $to $key (concat $added $old) -}}
{{- else if kindIs "invalid" $value -}}
{{- $_ := unset $to $key -}}
{{- else -}}
{{- $_ := set $to $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Print the name or path of an item of a list, or nothing. */}}
{{- define "tfs-tools.id" -}}
{{- if kindIs "map" . }}{{ coalesce .mountPath .name "" }}{{ end -}}
{{- end -}}

{{/* the labels that Helm's objects have besides those of the manifests */}}
{{- define "tfs-tools.labels" -}}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "tfs-tools.policy" -}}
{{ .Values.policy.text | default (.Files.Get "policy/policy") }}
{{- end -}}

{{/* the name of the PriorityClass */}}
{{- define "tfs-tools.priority" -}}
{{- $own := .Release.Name -}}
{{- if ne .Release.Namespace $own }}{{ $own = printf "%s-%s" .Release.Namespace $own }}{{ end -}}
{{- .Values.priorityClassName | default $own -}}
{{- end -}}

{{/* the DaemonSet: that of the directories beside this one, which kustomize reads too, with the values */}}
{{- define "tfs-tools.daemonset" -}}
{{- $object := .Files.Get "base/daemonset.yaml" | fromYaml }}
{{- $directories := list .Values.profile }}
{{- if .Values.policy.enabled }}{{ $directories = append $directories "policy" }}{{ end }}
{{- if .Values.logging.enabled }}{{ $directories = append $directories "logging" }}{{ end }}
{{- if .Values.names.enabled }}{{ $directories = append $directories "names" }}{{ end }}
{{- range $directories }}
{{- range (printf "%s/kustomization.yaml" . | $.Files.Get | fromYaml).patches }}
{{- include "tfs-tools.merge" (list $object (fromYaml .patch)) }}
{{- end }}
{{- end }}
{{- include "tfs-tools.merge" (list $object (include "tfs-tools.values" . | fromYaml)) }}
{{- include "tfs-tools.merge" (list $object .Values.patch) }}
{{- toYaml $object }}
{{- end -}}

{{/* the values as a patch of the DaemonSet */}}
{{- define "tfs-tools.values" -}}
{{- $image := index (.Files.Get "base/kustomization.yaml" | fromYaml).images 0 -}}
metadata:
  name: {{ .Release.Name }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "tfs-tools.labels" . | nindent 4 }}
spec:
  selector:
    matchLabels:
      app.kubernetes.io/instance: {{ .Release.Name }}
  template:
    metadata:
      labels:
        app.kubernetes.io/instance: {{ .Release.Name }}
      {{- if .Values.policy.enabled }}
      annotations: # a new policy starts new pods
        checksum/policy: {{ include "tfs-tools.policy" . | sha256sum }}
      {{- end }}
    spec:
      nodeSelector:
        kubernetes.io/arch: {{ .Values.arch | default "null" }}
      priorityClassName: {{ include "tfs-tools.priority" . }}
      {{- with .Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
      - name: tfs-tools
        {{- $name := .Values.image.repository | default $image.newName }}
        {{- $tag := printf ":%s" (.Values.image.tag | default $image.newTag) }}
        {{- if .Values.image.digest }}{{ $tag = printf "@%s" .Values.image.digest }}{{ end }}
        image: {{ $name }}{{ $tag }}
        {{- if and .Values.logging.enabled .Values.logging.trace }}
        env:
        - name: TFS_TRACE
          value: {{ quote .Values.logging.trace }}
        {{- end }}
      {{- if .Values.policy.enabled }}
      volumes:
      - name: policy
        configMap:
          name: {{ .Release.Name }}-policy
      {{- end }}
{{- end -}}
