/**
 * Dashboards: pages over a project's data that run code of the project. This file has the kinds of dashboards, the
 * limits on their code, and the form in which problems of that code are reported.
 */

/** Kinds of dashboards, by subject: one session, the tasks of a task set, or a world with its sessions. */
export const dashboardKinds = ['session', 'task', 'environment'] as const;
export type DashboardKind = (typeof dashboardKinds)[number];

/** Initial code of a new dashboard: a page with charts, or the smallest page that works. */
export const dashboardTemplates = ['starter', 'empty'] as const;
export type DashboardTemplate = (typeof dashboardTemplates)[number];

export const dashboardLimits = {
  /** Maximum number of dashboards and of task sets of one project, and of tasks of one set. */
  dashboards: 1_000,
  taskSets: 1_000,
  tasksOfSet: 1_000,
  /** Limits on the code of one dashboard; sizes are in bytes of UTF-8. */
  files: 100,
  fileBytes: 256 * 1024,
  codeBytes: 1024 * 1024,
  transformBytes: 64 * 1024,
  /** Maximum size of the built output of a dashboard, in bytes. */
  builtBytes: 2 * 1024 * 1024,
  /** Maximum number of problems reported for one push. */
  problems: 100,
  /** Maximum size of a transform's input, of its output, and of the part of the output that a test shows, in bytes. */
  dataBytes: 4 * 1024 * 1024,
  outputBytes: 1024 * 1024,
  shownOutputBytes: 64 * 1024,
  /** Limits on CPU time and memory of a transform or a build. */
  processorMs: 5_000,
  memoryMb: 256,
} as const;

/** Codes of problems in pushed code; each problem is reported with its code and a message. */
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

/** A problem of pushed code. `path` is the path of a file, or `transform`; lines and columns count from 1. */
export type CodeProblem = {
  path: string | null;
  line: number | null;
  column: number | null;
  code: CodeProblemCode;
  message: string;
};

export type CodeFile = { path: string; content: string };

/**
 * Pushed code: its files, the entry point of the page, and the transform that converts a session's data to the page's
 * data.
 */
export type DashboardCode = {
  files: readonly CodeFile[];
  entrypoint: string | null;
  transform: string | null;
};

/** Modules that a dashboard's page may import besides its own files. */
export const dashboardModules = {
  react: 'react',
  'react/jsx-runtime': 'jsx',
  'react-dom/client': 'client',
  '@observablehq/plot': 'plot',
  'svc/dashboard': 'pieces',
} as const;

/** File extensions of code files, and of files that code imports as data or text. */
export const scriptEndings = ['tsx', 'ts', 'jsx', 'js', 'mjs'] as const;
export const otherEndings = ['json', 'css', 'svg', 'txt', 'md', 'csv'] as const;

export const endingOf = (path: string): string => /\.([^./]+)$/.exec(path)?.[1] ?? '';

export const isScript = (path: string): boolean =>
  (scriptEndings as readonly string[]).includes(endingOf(path));
