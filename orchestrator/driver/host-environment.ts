/**
 * The environment that a world host is started with, the same names on every runtime. It is all that
 * the host gets but its token: nothing of the orchestrator's own environment is passed on.
 */
import type { Isolation } from '#domain/pool.ts';
import type { HostShape } from '#pools/pool-config.ts';
import type { LogLevel } from '#runtime/log.ts';
import type { LaunchSpec } from './driver.ts';
import { heapOptions, mallocOptions, userCodeMemoryMb } from './heap.ts';

/** What every host of an installation is told alike. */
export type HostSettings = {
  /** The address of the control plane's host API as hosts reach it. */
  controlUrl: string;
  logLevel: LogLevel;
  /** `usual` unless it is given. */
  userCodeBoundary?: BoundaryChoice;
  /** Where containers of one machine share unpacked snapshots; each has its own unless it is given. */
  sharedSnapshots?: SharedSnapshots | undefined;
  /** The certificate, in PEM, of an authority that browsers trust besides. */
  authority?: string | undefined;
};

/** A folder of the machine, or of each node, that hosts may write to, and how much they keep there. */
export type SharedSnapshots = { path: string; mb: number };

/**
 * Whether a host runs user code where the system cannot hold it in its process (`auto`) or refuses to
 * start (`require`). By its isolation a container requires it; a plain process, and a kernel of its own
 * (gVisor, Kata), which may lack Landlock and parts hosts by itself, take what there is.
 */
export const boundaryChoices = ['usual', 'auto', 'require'] as const;
export type BoundaryChoice = (typeof boundaryChoices)[number];

const boundaryOf = (choice: BoundaryChoice, isolation: Isolation): string => {
  if (choice !== 'usual') return choice;
  return isolation === 'container' ? 'require' : 'auto';
};

/** Where a host listens and works; that depends on the runtime. */
export type PlaceSettings = {
  /** `host:port` of its API server; port 0 takes any. */
  listen: string;
  /** Whether the host itself tells its address, being the only one to know it. */
  reportsAddress: boolean;
  /** A folder that the host makes, fills and removes. */
  workDir: string;
  /** Where the host finds its token; `-` is its standard input. */
  tokenFile: string;
};

/** The same of a world host. */
export type RuntimeSettings = PlaceSettings & {
  /** Where it keeps unpacked snapshots of large worlds, and how much of them; others may share it. */
  snapshots: { folder: string; mb: number };
  python: string;
  /** File that outlives the host's process, for the number of the ledger's last entry; absent: there is none. */
  ledgerMark?: string;
  /** What the host has to itself, of `pid`, `ipc`, `mount`, `net`: there it looks for what sessions leave. */
  namespaces: readonly string[];
};

/** Scratch space of a container, which counts as its memory, and the part of it that snapshots may take. */
export const scratchMb = (memoryMb: number): number => Math.ceil(memoryMb / 2);
const snapshotsInScratch = (memoryMb: number) => ({
  folder: '/tmp/snapshots',
  mb: Math.max(1, Math.floor(scratchMb(memoryMb) * 0.9)),
});

/** Where a container finds the folder that hosts of its machine share. */
export const sharedFolder = '/snapshots';

/**
 * The folder that a container shares with others; none unless their kernel is the machine's: another kernel does
 * not see their locks, and would take those who live for dead.
 */
export const sharedSnapshotsOf = (
  { isolation }: Pick<HostShape, 'isolation'>,
  { sharedSnapshots }: HostSettings,
): SharedSnapshots | undefined => (isolation === 'container' ? sharedSnapshots : undefined);

/** Where a container keeps snapshots. */
export const snapshotsOf = (
  shape: Pick<HostShape, 'isolation' | 'size'>,
  settings: HostSettings,
): RuntimeSettings['snapshots'] => {
  const shared = sharedSnapshotsOf(shape, settings);
  return shared === undefined
    ? snapshotsInScratch(shape.size.memoryMb)
    : { folder: sharedFolder, mb: shared.mb };
};

/** What every host is told, of whatever kind. */
const sharedEnvironment = (
  spec: LaunchSpec,
  settings: HostSettings,
  { listen, reportsAddress, workDir, tokenFile }: PlaceSettings,
): Record<string, string> => ({
  SVC_CONTROL_URL: settings.controlUrl,
  SVC_LOG_LEVEL: settings.logLevel,
  SVC_HOST_ID: spec.hostId,
  SVC_HOST_GENERATION: String(spec.generation),
  SVC_HOST_TOKEN_FILE: tokenFile,
  SVC_LISTEN: listen,
  SVC_REPORT_ADDRESS: reportsAddress ? 'yes' : 'no',
  SVC_WORK_DIR: workDir,
});

/** The heap of the program beside its Chromium, which has the rest of the memory. */
const browserHeapMb = 192;

/** From so much memory on a second Chromium stands ready beside the one that serves; it takes some 170 MB. */
const spareFromMb = 1_024;

/** How a browser comes to its session's surfaces: by itself, or through the control plane. */
export type BrowserWay = 'direct' | 'tunnel';

/** The environment of a browser. */
export const browserEnvironment = (
  spec: LaunchSpec,
  settings: HostSettings,
  place: PlaceSettings & { way: BrowserWay },
): Record<string, string> => ({
  NODE_OPTIONS: `--max-old-space-size=${browserHeapMb} --disable-sigusr1`,
  ...sharedEnvironment(spec, settings, place),
  SVC_BROWSER_WAY: place.way,
  ...(settings.authority === undefined ? {} : { SVC_AUTHORITY: settings.authority }),
  SVC_BROWSER_SPARE: spec.shape.size.memoryMb >= spareFromMb ? 'yes' : 'no',
});

/** The environment of a world host. */
export const hostEnvironment = (
  spec: LaunchSpec,
  settings: HostSettings,
  runtimeSettings: RuntimeSettings,
): Record<string, string> => ({
  // No signal opens an inspector: who reached it would be the host.
  NODE_OPTIONS: `${heapOptions(spec.shape.size.memoryMb)} --disable-sigusr1`,
  ...mallocOptions,
  ...sharedEnvironment(spec, settings, runtimeSettings),
  SVC_SNAPSHOT_DIR: runtimeSettings.snapshots.folder,
  SVC_SNAPSHOT_MB: String(runtimeSettings.snapshots.mb),
  SVC_PYTHON: runtimeSettings.python,
  SVC_USER_CODE_BOUNDARY: boundaryOf(settings.userCodeBoundary ?? 'usual', spec.shape.isolation),
  SVC_USER_CODE_MEMORY_MB: String(userCodeMemoryMb(spec.shape.size.memoryMb)),
  SVC_NAMESPACES: runtimeSettings.namespaces.join(','),
  ...(runtimeSettings.ledgerMark === undefined
    ? {}
    : { SVC_LEDGER_MARK: runtimeSettings.ledgerMark }),
});
