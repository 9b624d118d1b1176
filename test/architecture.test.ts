/**
 * Checks which folder may import which, read from the imports themselves. Between programs the
 * table below is the rule: shared libraries import only earlier ones, programs import shared
 * libraries and themselves. Inside a program the rule is `floors.ts`.
 */
import { builtinModules } from 'node:module';
import { relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { floors } from './floors.ts';
import {
  circlesOf,
  floorOf,
  type Import,
  importGraph,
  importsOf,
  isTest,
  sourceFiles,
  targetOf,
  textOf,
  valueImport,
} from './support/repository/imports.ts';

const shared: Record<string, readonly string[]> = {
  'src/domain': [],
  'src/language': ['src/domain'],
  'src/store': ['src/domain', 'src/language'],
  'src/wire': ['src/domain', 'src/language'],
  'src/runtime': ['src/domain'],
  'src/hosting': ['src/domain', 'src/wire', 'src/runtime'],
  'src/data': ['src/domain', 'src/language', 'src/store', 'src/runtime'],
  'src/egress': ['src/domain'],
  'src/pools': ['src/domain', 'src/language', 'src/runtime'],
  'src/observability': ['src/domain'],
  'src/mirror': ['src/domain', 'src/language', 'src/runtime'],
};
const programs = [
  'src/control',
  'src/gateway',
  'src/sender',
  'src/cli',
  'src/mcp',
  'orchestrator',
  'world-host-image',
  'browser-image',
];
const allowed: Record<string, readonly string[]> = {
  ...shared,
  ...Object.fromEntries(programs.map((program) => [program, Object.keys(shared)])),
};

/** Packages that only one folder may import. */
const confined: Record<string, string> = {
  pg: 'src/control/db',
  'node-pg-migrate': 'src/control/db',
  '@aws-sdk/client-s3': 'src/control/platform/blobs',
  '@aws-sdk/s3-request-presigner': 'src/control/platform/blobs',
  dockerode: 'orchestrator',
  '@kubernetes/client-node': 'orchestrator/driver',
};

const folderOf = (file: string): string | undefined =>
  Object.keys(allowed).find((folder) => file.startsWith(`${folder}/`));

/** Returns the file's text without comments, which may mention what the code must not do. */
const codeOf = (file: string): string => textOf(file).replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');

const imports: (Import & { folder: string })[] = Object.keys(allowed)
  .flatMap(sourceFiles)
  .filter((file) => !isTest(file))
  .flatMap((file) =>
    importsOf(file).map((specifier) => ({ file, folder: folderOf(file) ?? '', specifier })),
  );

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

describe('architecture', () => {
  it('has more than 100 imports, so that the checks below have something to check', () => {
    expect(imports.length).toBeGreaterThan(100);
  });

  it('lets a folder import only itself and what the table allows', () => {
    const wrong = imports.filter((entry) => {
      const target = targetOf(entry);
      if (target === undefined) return false;
      const folder = folderOf(target);
      return folder !== entry.folder && !(allowed[entry.folder] ?? []).includes(folder ?? '');
    });
    expect(wrong).toEqual([]);
  });

  it('keeps the page separate: it imports only types of the world language, and no program imports it', () => {
    const page = sourceFiles('src/ui').filter((file) => !isTest(file));
    const taken = page.flatMap((file) =>
      importsOf(file, valueImport)
        .map((specifier) => targetOf({ file, specifier }) ?? specifier)
        .filter((target) => target.startsWith('src/') && !target.startsWith('src/ui/')),
    );
    expect(page.length).toBeGreaterThan(10);
    expect(taken).toEqual([]);
    expect(imports.filter((entry) => targetOf(entry)?.startsWith('src/ui/'))).toEqual([]);
  });

  it('names shared libraries by their # name from other folders', () => {
    const wrong = imports.filter((entry) => {
      const target = targetOf(entry);
      return (
        target !== undefined && entry.specifier.startsWith('.') && folderOf(target) !== entry.folder
      );
    });
    expect(wrong).toEqual([]);
  });

  it('keeps the database, the blob service and the container runtimes in one folder each', () => {
    const wrong = imports.filter((entry) => {
      const home = confined[packageOf(entry.specifier)];
      return home !== undefined && !entry.file.startsWith(`${home}/`);
    });
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  it('reads process.env only in main.ts', () => {
    const readers = Object.keys(allowed)
      .flatMap(sourceFiles)
      .filter((file) => !isTest(file) && /process\.env\b/.test(codeOf(file)))
      .filter((file) => !file.endsWith('/main.ts'));
    expect(readers).toEqual([]);
  });

  it('keeps idle connections of every HTTP server as long as clients expect', () => {
    const servers = Object.keys(allowed)
      .flatMap(sourceFiles)
      .filter((file) => !isTest(file) && /\bcreateServer\(/.test(codeOf(file)))
      .filter((file) => /from 'node:http'|from '#wire\/http.ts'/.test(codeOf(file)));
    expect(servers).toContain('world-host-image/api/server.ts');
    const careless = servers.filter((file) => !codeOf(file).includes('keepAliveTimeouts'));
    expect(careless).toEqual([]);
  });

  it('evaluates schemas, patterns and queries of users only in compile processes', () => {
    const evaluators =
      /^src\/(store\/(?!files\/snapshot-files\.ts)|data\/|language\/(schema|check|openapi|capture|compile)\/|language\/edit\/(?!template-summary\.ts)|language\/artifacts\/(?!tool-schemas\.ts)|language\/sql\/verifier\.ts$)/;
    const reached = new Set<string>();
    const reach = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const specifier of importsOf(file, valueImport)) {
        const target = targetOf({ file, specifier });
        if (target?.startsWith('src/control/')) reach(target);
      }
    };
    reach('src/control/main.ts');
    const wrong = [...reached].flatMap((file) =>
      importsOf(file, valueImport)
        .map((specifier) => targetOf({ file, specifier }) ?? '')
        .filter((target) => evaluators.test(target))
        .map((target) => `${file} imports ${target}`),
    );
    expect(reached).toContain('src/control/sessions/lifecycle/task.ts');
    expect(reached).not.toContain('src/control/worlds/compile/check-task.ts');
    expect(reached).not.toContain('src/control/worlds/query/job.ts');
    expect(wrong).toEqual([]);
  });

  it('imports only declared packages and node: built-ins', () => {
    const manifest = JSON.parse(textOf('package.json'));
    const declared = new Set(Object.keys({ ...manifest.dependencies }));
    const wrong = imports.filter((entry) => {
      if (targetOf(entry) !== undefined || entry.specifier.startsWith('node:')) return false;
      if (builtinModules.includes(entry.specifier)) return true;
      return !declared.has(packageOf(entry.specifier)) && packageOf(entry.specifier) !== 'svc_env';
    });
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  it('opens every program with main.ts, config.ts and program.ts', () => {
    const serverPrograms = programs.filter((program) => program !== 'src/cli');
    for (const program of serverPrograms) {
      const names = sourceFiles(program).map((file) => relative(program, file));
      expect(names, program).toEqual(
        expect.arrayContaining(['main.ts', 'config.ts', 'program.ts']),
      );
    }
  });
});

describe('the layers inside a program', () => {
  const graph = importGraph(Object.keys(allowed));

  it.each(Object.entries(floors))('of %s are its folders, each listed once', (program, rows) => {
    const places = rows.map(([place]) => place);
    const found = [...graph.keys()]
      .filter((file) => file.startsWith(`${program}/`))
      .map((file) => floorOf(program, file, places));
    expect(new Set(places).size).toBe(places.length);
    expect([...places].sort()).toEqual([...new Set(found)].sort());
  });

  it.each(Object.entries(floors))('of %s import only lower ones', (program, rows) => {
    const places = rows.map(([place]) => place);
    const levelOf = (file: string): number => places.indexOf(floorOf(program, file, places));
    const wrong = [...graph]
      .filter(([file]) => file.startsWith(`${program}/`))
      .flatMap(([file, targets]) =>
        targets
          .filter((target) => target.startsWith(`${program}/`) && levelOf(target) < levelOf(file))
          .map((target) => `${file} imports ${target}, which stands above it`),
      );
    expect(wrong).toEqual([]);
  });

  it('are at most 14 in the control plane, so that their picture stays readable', () => {
    expect(floors['src/control']?.length).toBeLessThanOrEqual(14);
  });

  it("have the field's words as names in the control plane", () => {
    const coined =
      /^(news|memory|shares|purses|waitingHosts|bell|company|fate|pace|lane|line|turns)(\.test)?(\.ts)?$/;
    const wrong = sourceFiles('src/control').filter((file) =>
      file.split('/').some((name) => coined.test(name)),
    );
    expect(wrong).toEqual([]);
  });

  it('have no files that import each other in a circle', () => {
    expect(circlesOf(graph)).toEqual([]);
  });
});
