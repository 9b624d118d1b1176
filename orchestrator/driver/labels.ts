/**
 * How a container says whose it is. Labels and names are the orchestrator's only memory: a successor
 * adopts by them, and what carries another installation's label is never touched.
 */
import type { HostKind } from '#domain/host.ts';

export const labelNames = {
  installation: 'svc.installation',
  pool: 'svc.pool',
  host: 'svc.host',
  kind: 'svc.kind',
  role: 'svc.role',
  digest: 'svc.digest',
} as const;

/** What a container is to its host: the host itself, or the one that puts up its fence. */
export type Role = 'host' | 'fence';

/** Whose a container is, and what it was made from. */
export type Owner = { installation: string; pool: string; hostId: string; digest: string };

/** The one name that a host's container can have, so that a second launch of it cannot succeed. */
export const containerName = (hostId: string): string => `svc-${hostId}`;

export const labelsOf = (
  owner: Owner,
  role: Role,
  kind: HostKind = 'world',
): Record<string, string> => ({
  [labelNames.installation]: owner.installation,
  [labelNames.pool]: owner.pool,
  [labelNames.host]: owner.hostId,
  [labelNames.digest]: owner.digest,
  [labelNames.role]: role,
  [labelNames.kind]: kind,
});

/** Reads labels back; undefined when they are not those of a world host. */
export const ownerOf = (labels: Readonly<Record<string, string>>): Owner | undefined => {
  const installation = labels[labelNames.installation];
  const pool = labels[labelNames.pool];
  const hostId = labels[labelNames.host];
  const digest = labels[labelNames.digest] ?? '';
  return installation && pool && hostId ? { installation, pool, hostId, digest } : undefined;
};

const flags = {
  installation: '--installation=',
  pool: '--pool=',
  hostId: '--host=',
  digest: '--digest=',
} as const;

/** The labels of a process: arguments at the end of its command line. */
export const argumentsOf = (owner: Owner): string[] => [
  `${flags.installation}${owner.installation}`,
  `${flags.pool}${owner.pool}`,
  `${flags.hostId}${owner.hostId}`,
  `${flags.digest}${owner.digest}`,
];

/** Reads the labels of a command line back; undefined when it is not a world host's. */
export const ownerOfCommand = (command: readonly string[]): Owner | undefined => {
  const read = (flag: string): string | undefined =>
    command.find((word) => word.startsWith(flag))?.slice(flag.length);
  const installation = read(flags.installation);
  const pool = read(flags.pool);
  const hostId = read(flags.hostId);
  const digest = read(flags.digest) ?? '';
  return installation && pool && hostId ? { installation, pool, hostId, digest } : undefined;
};
