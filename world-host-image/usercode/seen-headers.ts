/** The headers of a request whose answer may be kept: which of them code looks at is noted. */

type Headers = Record<string, string>;

export type SeenHeaders = {
  headers: Headers;
  /** The names that were asked for, whether they are there or not, or `all`. */
  seen(): string[] | 'all';
};

/**
 * The same headers. Whatever goes over all of them, or changes them, has seen all. The target of the proxy has
 * none: `util.inspect` looks through proxies without asking them.
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
