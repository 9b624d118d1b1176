/** Patterns with which the connector names the paths of several operations. */

/** Returns true if an operation's path matches a pattern; `*` at the end of a pattern matches any text. */
export const fitsPath = (named: string, path: string): boolean =>
  named.endsWith('*') ? path.startsWith(named.slice(0, -1)) : path === named;
