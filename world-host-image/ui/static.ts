/**
 * Serves the page: the files of the directory that `[ui] static` names. Paths are looked up in a list of files, so no
 * path leads out of the directory. If a browser navigates to a path without a file, it gets the file `entry`, because
 * the page's own code may handle that path. Other requests for missing files get a 404.
 */
import fresh from 'fresh';
import rangeParser from 'range-parser';
import type { UiContract } from '#language/contract.ts';
import type { PageFile } from '../session/session.ts';
import { codingFor, isWorthwhile } from './compression.ts';
import type { UiFiles } from './files.ts';
import { type UiAnswer, type UiRequest, uiJson } from './service.ts';

/** Files of a page, by their paths relative to the page's directory. */
export type Page = { files: ReadonlyMap<string, PageFile>; entry: string };

const indexFile = 'index.html';

/** Makes a page of a world's files. An `entry` that browsers would interpret as another host is ignored. */
export const pageOf = ({ entry }: Pick<UiContract, 'entry'>, files: readonly PageFile[]): Page => ({
  files: new Map(files.map((file) => [file.path, file])),
  entry: /^\/(?![/\\])/.test(entry) ? entry : '/',
});

const decode = (path: string): string | undefined => {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined; // a malformed escape
  }
};

type Found = { file: PageFile } | { redirect: string } | undefined;

const find = ({ files }: Page, path: string): Found => {
  const name = decode(path.slice(1));
  if (name === undefined) return undefined;
  const file = files.get(name === '' || name.endsWith('/') ? `${name}${indexFile}` : name);
  if (file !== undefined) return { file };
  return files.has(`${name}/${indexFile}`) ? { redirect: `${path}/` } : undefined;
};

/** Returns the document for paths that the page itself handles: the file `entry`, or else the index file. */
const entryFile = (page: Page): PageFile | undefined => {
  const found = find(page, page.entry.split(/[?#]/, 1)[0] ?? '/');
  return found !== undefined && 'file' in found ? found.file : page.files.get(indexFile);
};

/** Returns true if a browser navigates to the URL, and does not load a resource of a page. */
const isNavigation = ({ headers }: UiRequest): boolean => {
  const { 'sec-fetch-mode': mode, accept } = headers;
  return mode === undefined ? accept?.includes('text/html') === true : mode === 'navigate';
};

const redirect = (to: string): UiAnswer => ({
  status: 302,
  headers: { location: to, 'cache-control': 'no-store' },
  body: null,
});

/**
 * Returns the range that the request's `Range` header selects. Undefined means that the whole file is sent; null means
 * that the file does not have the range.
 */
const partOf = (
  { method, headers }: UiRequest,
  tag: string,
  size: number,
): { start: number; end: number } | null | undefined => {
  const { range, 'if-range': ifRange = tag } = headers;
  if (method !== 'GET' || range === undefined || ifRange !== tag) return undefined;
  const ranges = rangeParser(size, range, { combine: true });
  if (ranges === -1) return null;
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
};

const sendFile = async (files: UiFiles, request: UiRequest, file: PageFile): Promise<UiAnswer> => {
  const loaded = await files.load(file);
  const { type, bytes } = loaded;
  const digest = file.sha256.slice('sha256:'.length, 'sha256:'.length + 32);
  const varies = isWorthwhile(type, bytes.length);
  const steady = {
    'cache-control': 'no-cache',
    'accept-ranges': 'bytes',
    ...(varies ? { vary: 'accept-encoding' } : {}),
  };
  const part = partOf(request, `"${digest}"`, bytes.length);
  if (part === null) {
    const headers = { ...steady, 'content-range': `bytes */${bytes.length}` };
    return { status: 416, headers, body: null };
  }
  const coding = varies && part === undefined ? codingFor(request.headers) : undefined;
  const etag = coding === undefined ? `"${digest}"` : `"${digest}-${coding}"`;
  const named = { ...steady, etag };
  if (fresh(request.headers, named)) return { status: 304, headers: named, body: null };
  const headers = { ...named, 'content-type': type };
  if (part !== undefined) {
    const { start, end } = part;
    const range = { 'content-range': `bytes ${start}-${end}/${bytes.length}` };
    return {
      status: 206,
      headers: { ...headers, ...range },
      body: bytes.subarray(start, end + 1),
    };
  }
  const encoded = coding === undefined ? undefined : await loaded.encoded(coding);
  if (coding === undefined || encoded === undefined) return { status: 200, headers, body: bytes };
  return { status: 200, headers: { ...headers, 'content-encoding': coding }, body: encoded };
};

/**
 * Answers a request for a file of the page, or a range of the file. Throws `unavailable` if a file cannot be fetched
 * now.
 */
export const answerStatic = async (
  files: UiFiles,
  page: Page,
  request: UiRequest,
): Promise<UiAnswer> => {
  const { method, path, query } = request;
  if (method !== 'GET' && method !== 'HEAD') {
    const answer = uiJson(405, { message: `the page can only be read; ${method} is not allowed` });
    return { ...answer, headers: { ...answer.headers, allow: 'GET, HEAD' } };
  }
  if (path === '/' && page.entry.split(/[?#]/, 1)[0] !== '/') return redirect(page.entry);
  const found = find(page, path);
  if (found !== undefined && 'redirect' in found) {
    return redirect(query.size === 0 ? found.redirect : `${found.redirect}?${query}`);
  }
  const file = found?.file ?? (isNavigation(request) ? entryFile(page) : undefined);
  return file === undefined
    ? uiJson(404, { message: 'the page has no file at this path' })
    : sendFile(files, request, file);
};
