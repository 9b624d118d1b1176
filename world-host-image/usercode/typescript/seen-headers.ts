/**
 * Records which headers of a request user code reads, so that the answer can be cached for requests with the same
 * values in these headers.
 */

type Headers = Record<string, string>;

export type SeenHeaders = {
  headers: Headers;
  /** Returns the names of the headers that were read, whether or not they are present; `all` if all count as read. */
  seen(): string[] | 'all';
};

/**
 * Wraps headers to record reads. If code iterates over the headers, or changes them, all count as read. The proxy's
 * target is empty, because `util.inspect` reads a proxy's target without triggering the proxy's traps.
 */
export const watchHeaders = (headers: Headers): SeenHeaders => {
  const names = new Set<string>();
  let all = false;
  const note = (name: string | symbol): void => {
    if (typeof name === 'string') names.add(name);
  };
  const noteAll = (): void => {
    all = true;
  };
  const proxy = new Proxy<Headers>(
    {},
    {
      get(_, name) {
        note(name);
        return Reflect.get(headers, name);
      },
      has(_, name) {
        note(name);
        return Reflect.has(headers, name);
      },
      getOwnPropertyDescriptor(_, name) {
        note(name);
        return Reflect.getOwnPropertyDescriptor(headers, name);
      },
      ownKeys() {
        noteAll();
        return Reflect.ownKeys(headers);
      },
      defineProperty(_, name, descriptor) {
        noteAll();
        return Reflect.defineProperty(headers, name, descriptor);
      },
      deleteProperty(_, name) {
        noteAll();
        return Reflect.deleteProperty(headers, name);
      },
    },
  );
  return { headers: proxy, seen: () => (all ? 'all' : [...names].sort()) };
};
