/**
 * The functions that a user-code file offers, found in its text: user code never runs here. Only
 * declarations at the beginning of a line count, as the languages' own style has them at top level.
 */
const declarations = {
  py: [/^(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*[([]/gm],
  ts: [
    /^export[ \t]+(?:async[ \t]+)?function[ \t]+([A-Za-z_$][\w$]*)/gm,
    /^export[ \t]+const[ \t]+([A-Za-z_$][\w$]*)/gm,
  ],
};

/** Names declared at the top level of a `.py` file, or exported from a `.ts` file. */
export const declaredFunctions = (path: string, text: string): Set<string> => {
  const patterns = path.endsWith('.py') ? declarations.py : declarations.ts;
  return new Set(
    patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = '']) => name)),
  );
};
