/**
 * Builds the environment that a host is started with, with the same names on every runtime. It contains nothing of the
 * orchestrator's own environment. The host gets only this environment and its token.
 */
import type { HostAddressing } from '#domain/host-address.ts';
import type { Isolation } from '#domain/pool.ts';
import type { LogLevel } from '#runtime/log.ts';
import type { LaunchSpec } from './driver.ts';
import { heapOptions, mallocOptions, userCodeMemoryMb } from './heap.ts';

/** Settings that all hosts of an installation share. */
export type HostSettings = {
  /** Address of the control plane's host API as hosts reach it. */
  controlUrl: string;
  logLevel: LogLevel;
  /** Policy for systems without a process boundary for user code; `usual` if absent. */
  userCodeBoundary?: BoundaryChoice;
  /** Folder in which containers of one machine share unpacked snapshots; if absent, each container has its own. */
  sharedSnapshots?: SharedSnapshots | undefined;
  /** Certificate (PEM) of an additional authority that browsers trust. */
  authority?: string | undefined;
};

/** Folder of the machine, or of each node, that hosts may write to, and its size budget. */
export type SharedSnapshots = { path: string; mb: number };

/**
 * Policy for systems without a process boundary for user code: run user code anyway (`auto`), or refuse to start
 * (`require`). `usual` decides by isolation: a container requires the boundary. A plain process, and an isolation with
 * its own kernel (gVisor, Kata), use the boundary only if the system has one; such a kernel may lack Landlock, and
 * separates hosts by itself.
 */
export const boundaryChoices = ['usual', 'auto', 'require'] as const;
export type BoundaryChoice = (typeof boundaryChoices)[number];

const boundaryOf = (choice: BoundaryChoice, isolation: Isolation): string => {
  if (choice !== 'usual') return choice;
  return isolation === 'container' ? 'require' : 'auto';
};

/** Addresses, folders and token source of a host, which depend on the runtime. */
export type PlaceSettings = {
  /** `host:port` of its API server; port 0 takes any. */
  listen: string;
  /** Way in which the host's address becomes known; the host itself reports it unless the runtime assigns it. */
  addressing: HostAddressing;
  /** Folder that the host creates, fills and removes. */
  workDir: string;
  /** File from which the host reads its token; `-` is its standard input. */
  tokenFile: string;
};

/** Settings of a world host that depend on the runtime. */
export type RuntimeSettings = PlaceSettings & {
  /** Folder of unpacked snapshots of large worlds, and its size budget; other hosts may share it. */
  snapshots: { folder: string; mb: number };
  python: string;
  /**
   * File that outlives the host's process, for the number of the ledger's last entry; absent if the runtime has none.
   */
  ledgerMark?: string;
  /**
   * Namespaces that the host has to itself, of `pid`, `ipc`, `mount`, `net`; the host searches these for leftovers of
   * sessions.
   */
  namespaces: readonly string[];
};

/** Builds the variables that hosts of every kind get. */
const sharedEnvironment = (
  spec: LaunchSpec,
  settings: HostSettings,
  { listen, addressing, workDir, tokenFile }: PlaceSettings,
): Record<string, string> => ({
  SVC_CONTROL_URL: settings.controlUrl,
  SVC_LOG_LEVEL: settings.logLevel,
  SVC_HOST_ID: spec.hostId,
  SVC_HOST_GENERATION: String(spec.generation),
  SVC_HOST_TOKEN_FILE: tokenFile,
  SVC_LISTEN: listen,
  SVC_REPORT_ADDRESS: addressing === 'assigned' ? 'no' : 'yes',
  SVC_WORK_DIR: workDir,
});

/** Heap of the browser program, in MiB; its Chromium uses the remaining memory. */
const browserHeapMb = 192;

/** Memory of a host from which on a second Chromium is kept ready, in MiB; the second one takes some 170 MB. */
const spareFromMb = 1_024;

/** Route of a browser to its session's surfaces: directly, or through the control plane. */
export type BrowserRoute = 'direct' | 'tunnel';

/** Builds the environment of a browser. */
export const browserEnvironment = (
  spec: LaunchSpec,
  settings: HostSettings,
  place: PlaceSettings & { route: BrowserRoute },
): Record<string, string> => ({
  NODE_OPTIONS: `--max-old-space-size=${browserHeapMb} --disable-sigusr1`,
  ...sharedEnvironment(spec, settings, place),
  SVC_BROWSER_WAY: place.route,
  ...(settings.authority === undefined ? {} : { SVC_AUTHORITY: settings.authority }),
  SVC_BROWSER_SPARE: spec.shape.size.memoryMb >= spareFromMb ? 'yes' : 'no',
});

/** Builds the environment of a world host. */
export const hostEnvironment = (
  spec: LaunchSpec,
  settings: HostSettings,
  runtimeSettings: RuntimeSettings,
): Record<string, string> => ({
  // No signal may open an inspector: a client that reached it would control the host.
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
