/** Paths of operations as keys of the connector name several at once. */

/** Whether a path, as its operation writes it, is the one named; `*` at the end stands for anything. */
export const fitsPath = (named: string, path: string): boolean =>
  named.endsWith('*') ? path.startsWith(named.slice(0, -1)) : path === named;
