/**
 * Creates the files of a new world: a small world that shows how worlds are written, a small vendor with an HTTP API,
 * or a copy of a template under another name. Files that the compiler generates are not included.
 */
import { AppError } from '#domain/error.ts';
import type { TreeFile } from '#domain/world.ts';
import { compileTree } from '../compile/compile.ts';
import { environmentFile } from '../files/svc-env-toml.ts';
import { parseToml } from '../read/document.ts';
import { generatedPaths } from '../read/paths.ts';
import { createProblems } from '../read/place.ts';
import { outlineToml } from '../read/toml-positions.ts';
import { apiStarterTexts } from './api-starter.ts';
import { starterTexts } from './starter.ts';
import { editText, textFile } from './tree-text.ts';

const maxNameLength = 200;

const reject = (message: string, path: string[]): never => {
  throw new AppError('invalid', message, { fields: [{ path, message }] });
};

const acceptName = (name: string): void => {
  const isUsable = name.trim() !== '' && name.length <= maxNameLength && name.isWellFormed();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (isUsable && !/[\u0000-\u001f\u007f]/.test(name)) return;
  reject(`a world's name is one line of 1 to ${maxNameLength} characters`, ['name']);
};

/** Returns the name in lower-case letters, digits and hyphens, for identifiers. */
const slugOf = (name: string): string => {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return (words ?? ['world']).join('-').slice(0, 64).replace(/-$/, '');
};

/** Returns a text as a TOML string. JSON and TOML write strings in the same way, except for control characters. */
const tomlString = (text: string): string => JSON.stringify(text);

/** Returns the manifest with another name of the world; the rest of its text stays the same. */
const renameIn = (manifest: TreeFile, name: string): TreeFile =>
  editText(manifest, (text) => {
    const problems = createProblems();
    if (parseToml(problems, environmentFile, text) === undefined) {
      const [problem] = problems.list();
      return reject(`${environmentFile} of the template: ${problem?.message}`, ['template']);
    }
    const { parts } = outlineToml(text);
    const table = parts.get('environment') ?? parts.get('env');
    const span = table?.parts.get('name')?.value;
    if (span === undefined) {
      const message = `${environmentFile} of the template has no [environment] name`;
      return reject(message, ['template']);
    }
    return text.slice(0, span.start) + tomlString(name) + text.slice(span.end);
  });

/** Returns the paths of a tree that compiling writes: the fixed paths, and those of this world's page. */
const generatedIn = (tree: readonly TreeFile[]): Set<string> => {
  const compiled = compileTree(tree);
  const written = compiled.ok ? compiled.generated.map(({ path }) => path) : [];
  return new Set([...generatedPaths, ...written]);
};

const copyTemplate = (name: string, template: readonly TreeFile[]): TreeFile[] => {
  const generated = generatedIn(template);
  const kept = template.filter(({ path }) => !generated.has(path));
  if (!kept.some(({ path }) => path === environmentFile)) {
    reject(`the template has no ${environmentFile}`, ['template']);
  }
  return kept.map((file) => (file.path === environmentFile ? renameIn(file, name) : file));
};

const begin = (name: string, textsOf: typeof starterTexts): TreeFile[] => {
  const texts = textsOf({ name, slug: slugOf(name), tomlName: tomlString(name) });
  return Object.entries(texts).map(([path, text]) => textFile(path, text));
};

/**
 * Returns the hand-written files of a new world. Throws `invalid` if the name is not allowed for a world, or if the
 * template is not a world tree.
 */
export const initTree = ({
  name,
  template,
  api = false,
}: {
  name: string;
  /** Tree that is copied; absent to use a starter. */
  template?: readonly TreeFile[];
  /** True for the starter with an HTTP API; false for the smallest starter. */
  api?: boolean;
}): TreeFile[] => {
  acceptName(name);
  if (template !== undefined) return copyTemplate(name, template);
  return begin(name, api ? apiStarterTexts : starterTexts);
};
