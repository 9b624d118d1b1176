/**
 * Scans the files of a dashboard without running them. It finds syntax errors, unknown imports, and external URLs that
 * the files would load. The page's policy blocks all loading in any case; the scan tells authors in advance what will
 * not load.
 */
import { dirname, join } from 'node:path/posix';
import { parseSync } from 'rolldown/experimental';
import {
  type CodeFile,
  type CodeProblem,
  dashboardModules,
  endingOf,
  isScript,
  scriptEndings,
} from '#domain/dashboard.ts';
import { createTextPositions } from '#language/read/text-position.ts';
import { problemOf } from './check.ts';

/**
 * Returns true for an external URL such as `https://…`, `wss://…` or `//…`. Addresses within the page (`data:`,
 * `blob:`, `#…`) are not external.
 */
const isOutside = (address: string): boolean => /^\s*(?:(?:https?|wss?|ftp):|\/\/)/i.test(address);

/** Functions and methods whose first argument is a URL to load, and attributes whose value is one. */
const loaders = new Set(['fetch', 'WebSocket', 'EventSource', 'Worker', 'SharedWorker', 'Image']);
const loadingMethods = new Set(['sendBeacon', 'importScripts', 'open']);
const loadingAttributes = new Set(['src', 'srcSet', 'poster', 'data', 'action', 'xlinkHref']);

export const isOwnImport = (specifier: string): boolean => /^\.{1,2}(?:\/|$)/.test(specifier);
export const isKnownModule = (specifier: string): boolean =>
  Object.hasOwn(dashboardModules, specifier);

const endings = [...scriptEndings, 'json'];

/** Returns the path of the pushed file that an import refers to; undefined if there is no such file. */
export const resolveOwn = (
  has: (path: string) => boolean,
  importer: string,
  specifier: string,
): string | undefined => {
  const path = join(dirname(importer), specifier);
  const candidates = [
    path,
    ...endings.map((ending) => `${path}.${ending}`),
    // As in TypeScript, a file may be imported by the name of its build output.
    ...(/\.jsx?$/.test(path) ? [path.replace(/\.js(x?)$/, '.ts$1')] : []),
    ...endings.map((ending) => `${path}/index.${ending}`),
  ];
  return candidates.find(has);
};

type Node = { type: string; start: number; [member: string]: unknown };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'start' in value;

/** Yields each node of a tree. It uses an explicit stack, because user code may nest without limit. */
function* nodesOf(root: unknown): Generator<Node> {
  const waiting: unknown[] = [root];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (Array.isArray(value)) waiting.push(...value);
    else if (isNode(value)) {
      yield value;
      waiting.push(...Object.values(value).filter((member) => typeof member === 'object'));
    }
  }
}

const textOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined;
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type === 'JSXExpressionContainer') return textOf(node.expression);
  if (node.type !== 'TemplateLiteral') return undefined;
  const [first] = node.quasis as { value?: { cooked?: string } }[];
  return first?.value?.cooked;
};

const nameOf = (node: unknown): string =>
  isNode(node) && typeof node.name === 'string' ? node.name : '';

const isLoader = (callee: unknown): boolean => {
  if (!isNode(callee)) return false;
  if (callee.type === 'Identifier') return loaders.has(nameOf(callee));
  if (callee.type !== 'MemberExpression') return false;
  const name = nameOf(callee.property);
  return loadingMethods.has(name) || loaders.has(name);
};

/** Returns the child nodes that hold a URL which the given node would load. */
const loadedBy = (node: Node): unknown[] => {
  if (node.type === 'CallExpression' || node.type === 'NewExpression') {
    return isLoader(node.callee) ? (node.arguments as unknown[]) : [];
  }
  if (node.type === 'JSXAttribute')
    return loadingAttributes.has(nameOf(node.name)) ? [node.value] : [];
  return [];
};

const importedBy = (node: Node): unknown => {
  if (node.type === 'ImportExpression') return node.source;
  if (/^(?:Import|Export(?:All|Named))Declaration$/.test(node.type)) return node.source;
  const isRequire = node.type === 'CallExpression' && nameOf(node.callee) === 'require';
  return isRequire ? (node.arguments as unknown[])[0] : undefined;
};

/** Returns why an import cannot be resolved; undefined if it can. */
type ImportRule = (importer: string, specifier: string) => string | undefined;

export const importRule =
  (files: readonly CodeFile[], modules: (specifier: string) => boolean): ImportRule =>
  (importer, specifier) => {
    const paths = new Set(files.map(({ path }) => path));
    if (isOwnImport(specifier)) {
      const found = resolveOwn((path) => paths.has(path), importer, specifier);
      return found === undefined ? `there is no file "${specifier}" to import` : undefined;
    }
    if (modules(specifier)) return undefined;
    if (isOutside(specifier)) return undefined; // reported as an address
    const known = Object.keys(dashboardModules).filter(modules);
    const what =
      known.length === 0 ? 'its own files alone' : `its own files and ${known.join(', ')}`;
    return `"${specifier.slice(0, 200)}" cannot be imported: the dashboard may import ${what}`;
  };

const outsideMessage = (address: string): string =>
  `"${address.trim().slice(0, 200)}" is an external address, and a dashboard loads nothing: push what it shows as a file`;

const scanScript = (
  path: string,
  { name, content }: { name: string; content: string },
  faultOf: ImportRule,
): CodeProblem[] => {
  const placeOf = createTextPositions(content);
  const { errors, program } = parseSync(name, content);
  if (errors.length > 0) {
    return errors.map(({ message, labels }) =>
      problemOf(path, 'syntax', message, placeOf(labels[0]?.start ?? 0)),
    );
  }
  const found: CodeProblem[] = [];
  for (const node of nodesOf(program)) {
    const source = importedBy(node);
    const specifier = textOf(source);
    const place = placeOf(isNode(source) ? source.start : node.start);
    if (specifier !== undefined) {
      const fault = faultOf(path, specifier);
      if (fault !== undefined) found.push(problemOf(path, 'import', fault, place));
    }
    const texts = [specifier, ...loadedBy(node).map(textOf)].filter((text) => text !== undefined);
    const outside = texts.find(isOutside);
    if (outside !== undefined) {
      found.push(problemOf(path, 'address', outsideMessage(outside), placeOf(node.start)));
    }
  }
  return found.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
};

const scanStyle = (path: string, content: string): CodeProblem[] => {
  const placeOf = createTextPositions(content);
  const blank = (comment: string): string => comment.replace(/[^\n]/g, ' ');
  const bare = content.replace(/\/\*[\s\S]*?(?:\*\/|$)/g, blank);
  const loads = bare.matchAll(/(?:url\(\s*|@import\s+(?:url\(\s*)?)["']?([^"')\s;]{1,2000})/gi);
  return [...loads].flatMap(({ 0: whole, 1: address = '', index }) => {
    const place = placeOf(index);
    if (/^@import/i.test(whole)) {
      const message = 'a style sheet cannot import another one: import each of them from the code';
      return [problemOf(path, isOutside(address) ? 'address' : 'import', message, place)];
    }
    return isOutside(address) ? [problemOf(path, 'address', outsideMessage(address), place)] : [];
  });
};

const scanJson = (path: string, content: string): CodeProblem[] => {
  try {
    JSON.parse(content);
    return [];
  } catch (error) {
    return [problemOf(path, 'syntax', (error as Error).message.slice(0, 300))];
  }
};

/** Returns all problems found in the contents of the files and the transform. */
export const scanCode = (files: readonly CodeFile[], transform: string | null): CodeProblem[] => {
  const pageRule = importRule(files, isKnownModule);
  const found = files.flatMap(({ path, content }) => {
    if (isScript(path)) return scanScript(path, { name: path, content }, pageRule);
    if (endingOf(path) === 'css') return scanStyle(path, content);
    return endingOf(path) === 'json' ? scanJson(path, content) : [];
  });
  if (transform === null) return found;
  const transformRule = importRule(files, () => false);
  const code = { name: 'transform.ts', content: transform };
  return [...found, ...scanScript('transform', code, transformRule)];
};
