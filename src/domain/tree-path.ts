/**
 * Checks which paths a world tree may have: those that name the same single file on every file system to which a tree
 * is written, and that no program there reserves. All code that receives, writes or compiles a tree checks its paths
 * here.
 */

const treePathLimits = {
  /** Maximum length of a whole path, in characters. */
  path: 512,
  /** Maximum size of one name in a path, in bytes of UTF-8: the limit of common file systems. */
  nameBytes: 255,
  /** Maximum depth of a path, counting its folders and the file. */
  depth: 32,
} as const;

/** Names that Windows treats as devices, with any text after the first dot. */
const deviceName =
  /^(con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$|clock\$) *(\.|$)/iu;

/** Git's own folder or file, and its short name on Windows. */
const gitName = /^\.git$|^git~\d+$/;

/** Invisible characters, which some file systems ignore when they compare names. */
const unseen = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/** Returns a key that is equal for names or paths that some file system treats as the same. */
export const foldPath = (path: string): string =>
  path.normalize('NFKC').replace(unseen, '').toUpperCase().toLowerCase().normalize('NFC');

/** Formats a path for a message; invisible characters and those that control a terminal are escaped. */
export const showPath = (path: string): string =>
  JSON.stringify(path.slice(0, 200).toWellFormed()).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

const nameFault = (name: string, isFolder: boolean): string | undefined => {
  if (name === '') return 'must not have empty segments';
  if (name === '.' || name === '..') return 'must not have "." or ".."';
  if (Buffer.byteLength(name) > treePathLimits.nameBytes) {
    return `must not have a name of more than ${treePathLimits.nameBytes} bytes`;
  }
  const folded = foldPath(name);
  if (gitName.test(folded)) return 'must not have a name that is reserved for Git';
  if (isFolder && name.startsWith('.')) return 'must not be in a hidden folder';
  if (/[. ]$/.test(name)) return 'must not have a name that ends in a dot or a blank';
  if (deviceName.test(folded)) return 'must not have the name of a Windows device';
  return undefined;
};

/**
 * Returns the fault of a path without regard to other paths, worded to follow "the path ..."; undefined if the path is
 * allowed.
 */
export const pathFault = (path: string): string | undefined => {
  if (path === '' || path.length > treePathLimits.path) {
    return `must have 1 to ${treePathLimits.path} characters`;
  }
  if (path.includes('\\')) return 'must separate folders by "/"';
  if (/\p{Cc}/u.test(path)) return 'must have no control character';
  if (!path.isWellFormed()) return 'must be well-formed Unicode';
  if (/[\p{Cf}\p{Zl}\p{Zp}]/u.test(path)) return 'must have no invisible character';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'must be relative';
  if (/[:<>"|?*]/.test(path)) return 'must have none of : < > " | ? *';
  const names = path.split('/');
  if (names.length > treePathLimits.depth) {
    return `must not be nested deeper than ${treePathLimits.depth} levels`;
  }
  for (const [index, name] of names.entries()) {
    const fault = nameFault(name, index < names.length - 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

const foldersOf = (path: string): string[] =>
  path
    .split('/')
    .slice(0, -1)
    .map((_, index, parts) => parts.slice(0, index + 1).join('/'));

/**
 * Returns a function that checks the paths of one tree one after another: each by itself, then against the paths
 * accepted before. The function returns the fault of the path; undefined if the path is accepted.
 */
export const createPathCheck = (): ((path: string) => string | undefined) => {
  /** Accepted spelling of each path, by its folded key. */
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const clash = (path: string, parents: readonly string[]): string | undefined => {
    const folded = foldPath(path);
    const twin = files.get(folded);
    if (twin === path) return 'occurs more than once';
    if (twin !== undefined) return `is the same as ${showPath(twin)} on some file systems`;
    if (folders.has(folded)) return 'is also a folder';
    for (const folder of parents) {
      const at = foldPath(folder);
      if (files.has(at)) return 'is below a path that is a file';
      const other = folders.get(at);
      if (other !== undefined && other !== folder) {
        return `is in a folder that is the same as ${showPath(other)} on some file systems`;
      }
    }
    return undefined;
  };
  return (path) => {
    const parents = foldersOf(path);
    const fault = pathFault(path) ?? clash(path, parents);
    if (fault !== undefined) return fault;
    files.set(foldPath(path), path);
    for (const folder of parents) folders.set(foldPath(folder), folder);
    return undefined;
  };
};

/** Names of folders that programs generate: builds, outputs and installed packages. */
const builtFolders: ReadonlySet<string> = new Set([
  'dist',
  'build',
  'outputs',
  '__pycache__',
  'node_modules',
]);

/** Folders whose subfolders the author names freely, so that a task may have the name `build`. */
const namedFolders: ReadonlySet<string> = new Set(['scenarios/', 'captures/']);

/**
 * Returns true if a folder is never part of a world, whatever it contains: hidden folders and generated ones. `parent`
 * is the path of the folder that contains it, with a trailing slash; '' is the top of the tree.
 */
export const isLeftOutFolder = (name: string, parent: string): boolean =>
  name.startsWith('.') || (builtFolders.has(name) && !namedFolders.has(parent));

/** Returns the first folder on a path that is never part of a world; undefined if there is none. */
export const leftOutFolder = (path: string): string | undefined => {
  const folders = path.split('/').slice(0, -1);
  return folders.find((name, at) =>
    isLeftOutFolder(
      name,
      folders
        .slice(0, at)
        .map((above) => `${above}/`)
        .join(''),
    ),
  );
};

/** Compares texts, such as paths, by their UTF-16 code units, which gives the same order on every machine. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
