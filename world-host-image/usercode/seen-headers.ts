/** The headers of a request whose answer may be kept: which of them code looks at is noted. */

type Headers = Record<string, string>;

export type SeenHeaders = {
  headers: Headers;
  /** The names that were asked for, whether they are there or not, or `all`. */
  seen(): string[] | 'all';
};

/** The same headers. Whatever goes over all of them, or changes them, has seen all. */
export const watchHeaders = (headers: Headers): SeenHeaders => {
  const names = new Set<string>();
  let all = false;
  const note = (name: string | symbol): void => {
    if (typeof name === 'string') names.add(name);
  };
  const noteAll = (): void => {
    all = true;
  };
  const proxy = new Proxy(headers, {
    get(target, name, receiver) {
      note(name);
      return Reflect.get(target, name, receiver);
    },
    has(target, name) {
      note(name);
      return Reflect.has(target, name);
    },
    getOwnPropertyDescriptor(target, name) {
      note(name);
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    ownKeys(target) {
      noteAll();
      return Reflect.ownKeys(target);
    },
    defineProperty(target, name, descriptor) {
      noteAll();
      return Reflect.defineProperty(target, name, descriptor);
    },
    deleteProperty(target, name) {
      noteAll();
      return Reflect.deleteProperty(target, name);
    },
  });
  return { headers: proxy, seen: () => (all ? 'all' : [...names].sort()) };
};
