/**
 * The table `[pools.<name>.kubernetes]` of the configuration file: what the pods of a pool have that
 * containers of other runtimes do not. Its keys are the Kubernetes driver's to know.
 */
import { type Kind, kind, refuseType } from '#language/read/kinds.ts';
import { isTable } from '#language/read/values.ts';

export type KubernetesTable = Readonly<Record<string, unknown>>;

/** Reads the table at its place; every mistake in it is refused there. */
export const kubernetesTable: Kind<KubernetesTable> = kind({ type: 'object' }, (place, value) =>
  isTable(value) ? value : refuseType(place, 'a table', value),
);
