/** Decodes trees that clients send: files in base64, at relative paths, within the limits of a tree. */
import { AppError, type FieldProblem } from '#domain/error.ts';
import { limits } from '#domain/limits.ts';
import { createPathCheck, showPath } from '#domain/tree-path.ts';
import type { TreeFile } from '#domain/world.ts';
import type { CreateWorldBody } from '#wire/public-api/worlds/world.ts';

/** Folder of a tree that contains the rows, in one file for each entity. */
export const dataFolder = 'data/';

type FileBody = NonNullable<CreateWorldBody['overlay']>[number];

/**
 * Decodes base64. Returns undefined for invalid text. The decoder of Node.js skips invalid characters; the number of
 * decoded bytes shows that. It also accepts the URL-safe alphabet, for which the text is checked separately.
 */
const decodeBase64 = (text: string): Buffer | undefined => {
  if (text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return undefined;
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  const bytes = Buffer.from(text, 'base64');
  return bytes.byteLength === (text.length / 4) * 3 - padding ? bytes : undefined;
};

/** Decodes the content of a file in a request body. If the content is not valid, returns the problem with its path. */
export const decodeContent = (
  { path, content }: FileBody,
  place: string[],
): TreeFile | FieldProblem => {
  const bytes = decodeBase64(content);
  if (bytes === undefined) {
    return { path: [...place, 'content'], message: `${path}: is not base64` };
  }
  if (bytes.byteLength > limits.treeFileBytes) {
    const message = `${path}: has ${bytes.byteLength} bytes; the maximum of a file is ${limits.treeFileBytes}`;
    return { path: [...place, 'content'], message };
  }
  return { path, content: bytes };
};

const decodeFile = (
  { path, content }: FileBody,
  place: string[],
  pathFault: (path: string) => string | undefined,
): TreeFile | FieldProblem => {
  const wrong = pathFault(path);
  if (wrong !== undefined) {
    return { path: [...place, 'path'], message: `the path ${showPath(path)} ${wrong}` };
  }
  return decodeContent({ path, content }, place);
};

export const isProblem = (value: TreeFile | FieldProblem): value is FieldProblem =>
  'message' in value;
const isFile = (value: TreeFile | FieldProblem): value is TreeFile => !isProblem(value);

/** Decodes the list of files in the field `field` of a body. Throws `invalid` if a file is not valid. */
export const decodeTree = (files: readonly FileBody[], field: string): TreeFile[] => {
  const pathFault = createPathCheck();
  const decoded = files.map((file, index) => decodeFile(file, [field, String(index)], pathFault));
  const problems = decoded.filter(isProblem);
  if (problems.length > 0) {
    throw new AppError('invalid', `the files in "${field}" do not form a tree`, {
      fields: problems,
    });
  }
  return decoded.filter(isFile);
};

/** Returns the files of both trees. A file of `over` replaces a file of `base` with the same path. */
export const overlay = (base: readonly TreeFile[], over: readonly TreeFile[]): TreeFile[] => {
  const byPath = new Map([...base, ...over].map((file) => [file.path, file]));
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
};

/**
 * Throws `invalid`, at the given field, if a tree has too many files or bytes, or if one of its paths is both a file
 * and the folder of another path.
 */
export const checkTree = (files: readonly TreeFile[], field = 'from'): void => {
  const fail = (message: string): never => {
    throw new AppError('invalid', message, { fields: [{ path: [field], message }] });
  };
  if (files.length > limits.treeFiles) {
    fail(`the tree has ${files.length} files; the maximum is ${limits.treeFiles}`);
  }
  const bytes = files.reduce((sum, { content }) => sum + content.byteLength, 0);
  if (bytes > limits.treeBytes)
    fail(`the tree has ${bytes} bytes; the maximum is ${limits.treeBytes}`);
  const paths = new Set(files.map(({ path }) => path));
  for (const path of paths) {
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      const folder = path.slice(0, end);
      if (paths.has(folder)) fail(`"${folder}" is a file, and "${path}" needs it to be a folder`);
    }
  }
};
