/**
 * Dashboards: pages over what a project did, whose code is the project's own. What they may be of, how much code there
 * may be, and how a fault of it is told.
 */

/** What a dashboard is of: one session, the tasks of a task set, or a world with its sessions. */
export const dashboardKinds = ['session', 'task', 'environment'] as const;
export type DashboardKind = (typeof dashboardKinds)[number];

/** What the code of a new one is: a page with charts, or the smallest that works. */
export const dashboardTemplates = ['starter', 'empty'] as const;
export type DashboardTemplate = (typeof dashboardTemplates)[number];

export const dashboardLimits = {
  /** That one project may have, and task sets. */
  dashboards: 1_000,
  taskSets: 1_000,
  tasksOfSet: 1_000,
  /** Code of one dashboard, in UTF-8. */
  files: 100,
  fileBytes: 256 * 1024,
  codeBytes: 1024 * 1024,
  transformBytes: 64 * 1024,
  /** What is built of it. */
  builtBytes: 2 * 1024 * 1024,
  /** Problems that are told of one push. */
  problems: 100,
  /** What a transform is given, what it may make of it, and how much of that a test shows. */
  dataBytes: 4 * 1024 * 1024,
  outputBytes: 1024 * 1024,
  shownOutputBytes: 64 * 1024,
  /** What a transform, or building, may take. */
  processorMs: 5_000,
  memoryMb: 256,
} as const;

/** What can be wrong with code; each has its words beside it. */
export const codeProblemCodes = [
  'path',
  'size',
  'count',
  'type',
  'entrypoint',
  'syntax',
  'import',
  'address',
  'bundle',
  'transform',
  'limit',
] as const;
export type CodeProblemCode = (typeof codeProblemCodes)[number];

/** A problem of pushed code. `path` is of a file, or `transform`; lines and columns are counted from 1. */
export type CodeProblem = {
  path: string | null;
  line: number | null;
  column: number | null;
  code: CodeProblemCode;
  message: string;
};

export type CodeFile = { path: string; content: string };

/** Code as it is pushed: files, the one that the page begins with, and what makes its data of a session's. */
export type DashboardCode = {
  files: readonly CodeFile[];
  entrypoint: string | null;
  transform: string | null;
};

/** What the page of a dashboard may import besides its own files. */
export const dashboardModules = {
  react: 'react',
  'react/jsx-runtime': 'jsx',
  'react-dom/client': 'client',
  '@observablehq/plot': 'plot',
  'svc/dashboard': 'pieces',
} as const;

/** Endings of files that are code, and of those that are imported as data or text. */
export const scriptEndings = ['tsx', 'ts', 'jsx', 'js', 'mjs'] as const;
export const otherEndings = ['json', 'css', 'svg', 'txt', 'md', 'csv'] as const;

export const endingOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1] ?? '';

export const isScript = (path: string): boolean =>
  (scriptEndings as readonly string[]).includes(endingOf(path));
