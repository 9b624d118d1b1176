/**
 * Reads the table `[pools.<name>.kubernetes]` of the configuration file: settings of a pool's pods, under the names
 * that Kubernetes uses. Settings that isolate a host (its user, rights, volumes, environment and limits) cannot be
 * changed here. The contents of lists and tables are not checked: the cluster rejects a pod that it does not
 * understand.
 */
import {
  flag,
  integer,
  type Kind,
  kind,
  listOf,
  refuseType,
  text,
  textMatching,
} from '#language/read/kinds.ts';
import { optional, type TableOf, tableOf } from '#language/read/table.ts';
import { isTable, type Table } from '#language/read/values.ts';

const table: Kind<Table> = kind({ type: 'object' }, (place, value) =>
  isTable(value) ? value : refuseType(place, 'a table', value),
);

const texts: Kind<Record<string, string>> = kind(
  { type: 'object', additionalProperties: { type: 'string' } },
  (place, value) => {
    const read = table(place, value);
    if (read === undefined) return undefined;
    const entries = Object.entries(read).flatMap(([key, held]): [string, string][] => {
      const word = text(place.at(key), held);
      return word === undefined ? [] : [[key, word]];
    });
    return Object.fromEntries(entries);
  },
);

const quantity = textMatching('an amount such as 250m or 0.5', /^\d+(?:\.\d+)?m?$/);

const keys = {
  labels: optional(texts),
  annotations: optional(texts),
  nodeSelector: optional(texts),
  tolerations: optional(listOf(table)),
  affinity: optional(table),
  topologySpreadConstraints: optional(listOf(table)),
  priorityClassName: optional(text),
  /**
   * Runtime class of the pods. If absent: `gvisor` or `kata` for pools with one of these isolations, otherwise the
   * default of the cluster.
   */
  runtimeClassName: optional(text),
  schedulerName: optional(text),
  imagePullSecrets: optional(listOf(table)),
  /** False maps the pod's users to unprivileged users of the node (a user namespace), if the node supports that. */
  hostUsers: optional(flag),
  terminationGracePeriodSeconds: optional(integer(1, 3_600)),
  /** CPU request of a host. */
  cpuRequest: optional(quantity),
};

export type KubernetesTable = Partial<TableOf<typeof keys>>;

/** Reads the table, and reports each mistake at the key that contains it. */
export const kubernetesTable: Kind<KubernetesTable> = tableOf(keys);
