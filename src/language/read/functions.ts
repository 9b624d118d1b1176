/**
 * Finds the functions that a user-code file offers, by searching its text and without running user code. Two kinds
 * count: declarations at the beginning of a line, where the usual style of both languages has top-level ones, and names
 * that the file imports from modules in the same folder. So a handlers module may consist of re-exports.
 */
const declarations = {
  py: [/^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*[([]/gm],
  ts: [
    /^export[ \t]+(?:async[ \t]+)?function[ \t]+([A-Za-z_$][\w$]*)/gm,
    /^export[ \t]+const[ \t]+([A-Za-z_$][\w$]*)/gm,
  ],
};

/** Patterns of lists of names that are re-exported from relative modules. */
const reexports = {
  py: /^from[ \t]+\.[\w.]*[ \t]+import[ \t]+(?:\(([^)]*)\)|([^(\n]*))/gm,
  ts: /^export[ \t]*\{([^}]*)\}[ \t]*from[ \t]*['"]\./gm,
};

/** Returns the exported names of a list like `one, two as three`, without its comments. */
const listedNames = (list: string): string[] =>
  list
    .replace(/#.*$|\/\/.*$/gm, '')
    .split(',')
    .map(
      (item) =>
        item
          .trim()
          .split(/\s+as\s+/)
          .at(-1) ?? '',
    )
    .filter((name) => name !== '');

/** Returns the names declared in or imported into the top level of a `.py` file, or exported from a `.ts` file. */
export const declaredFunctions = (path: string, text: string): Set<string> => {
  const language = path.endsWith('.py') ? 'py' : 'ts';
  const declared = declarations[language].flatMap((pattern) =>
    [...text.matchAll(pattern)].map(([, name = '']) => name),
  );
  const taken = [...text.matchAll(reexports[language])].flatMap(([, inside, bare]) =>
    listedNames(inside ?? bare ?? ''),
  );
  return new Set([...declared, ...taken]);
};
