/**
 * Labels and names by which the installation, pool and host of a container are found again. They are the orchestrator's
 * only durable memory: a successor adopts containers by them, and never touches a container with another installation's
 * label.
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

/** Role of a container: the host itself, or the container that loads its firewall rules. */
export type Role = 'host' | 'fence';

/** Installation, pool and host that own a container, and the digest of the settings that it was made from. */
export type Owner = { installation: string; pool: string; hostId: string; digest: string };

/** Returns the name of a host's container. A host has only this one name, so a second launch of the host fails. */
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

/** Reads labels back; returns undefined when they are not those of a world host. */
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

/** Returns the labels of a process: arguments at the end of its command line. */
export const argumentsOf = (owner: Owner): string[] => [
  `${flags.installation}${owner.installation}`,
  `${flags.pool}${owner.pool}`,
  `${flags.hostId}${owner.hostId}`,
  `${flags.digest}${owner.digest}`,
];

/** Reads the labels back from a command line; returns undefined when it is not a world host's. */
export const ownerOfCommand = (command: readonly string[]): Owner | undefined => {
  const read = (flag: string): string | undefined =>
    command.find((word) => word.startsWith(flag))?.slice(flag.length);
  const installation = read(flags.installation);
  const pool = read(flags.pool);
  const hostId = read(flags.hostId);
  const digest = read(flags.digest) ?? '';
  return installation && pool && hostId ? { installation, pool, hostId, digest } : undefined;
};
