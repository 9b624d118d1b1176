/** Records which headers of a request user code reads, so that the answer may be cached by them. */

type Headers = Record<string, string>;

export type SeenHeaders = {
  headers: Headers;
  /** Returns the names that were read, present or not, or `all`. */
  seen(): string[] | 'all';
};

/**
 * Wraps headers to record reads. Code that iterates over them, or changes them, counts as reading all. The proxy's
 * target is empty, because `util.inspect` looks through proxies without triggering their traps.
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
