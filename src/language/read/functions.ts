/**
 * The functions that a user-code file offers, found in its text: user code never runs here. Only
 * declarations at the beginning of a line count, as the languages' own style has them at top level,
 * and names that it takes from modules beside it: a handlers module may be a table of contents.
 */
const declarations = {
  py: [/^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*[([]/gm],
  ts: [
    /^export[ \t]+(?:async[ \t]+)?function[ \t]+([A-Za-z_$][\w$]*)/gm,
    /^export[ \t]+const[ \t]+([A-Za-z_$][\w$]*)/gm,
  ],
};

/** A list of names between the words that begin it and its end; relative modules only. */
const reexports = {
  py: /^from[ \t]+\.[\w.]*[ \t]+import[ \t]+(?:\(([^)]*)\)|([^(\n]*))/gm,
  ts: /^export[ \t]*\{([^}]*)\}[ \t]*from[ \t]*['"]\./gm,
};

/** The names under which a list like `one, two as three` is known, without its comments. */
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

/** Names declared in or imported into the top level of a `.py` file, or exported from a `.ts` file. */
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
