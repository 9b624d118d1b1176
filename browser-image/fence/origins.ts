/** What a browser may reach: the origins of its session's surfaces, and nothing else. */

/** One surface of the session, as the fence needs it. */
export type Reach = {
  /** `http(s)://host[:port]`, as pages see it. */
  origin: string;
  /** Where the proxy connects to for it, where that is not what the origin says. */
  connectTo?: { host: string; port: number };
};

export type Endpoint = { host: string; port: number };

/** Where the proxy connects to, and the host and port that the origin itself names. */
export type Destination = Endpoint & { authority: string };

export type Origins = {
  /** Replaces what may be reached; the empty list shuts everything. */
  set(reach: readonly Reach[]): void;
  /** Whether a page of this address may be asked for by a client: a surface's, or the empty page. */
  isPage(url: string): boolean;
  /** Whether an address (`http`, `https`, `ws`, `wss`) lies in one of the origins. */
  covers(url: string): boolean;
  /** Where a plain request for this address goes; undefined when it may not. */
  forRequest(url: URL): Destination | undefined;
  /** Where a tunnel to this `host:port` goes; undefined when it may not. */
  forTunnel(authority: string): Destination | undefined;
  list(): string[];
};

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

const endpointOf = ({ hostname, port, protocol }: URL): Endpoint => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? (defaultPorts[protocol] ?? 0) : Number(port),
});

/** Names below `localhost` are this machine, whatever a resolver says (RFC 6761). */
const placeOf = (endpoint: Endpoint): Endpoint =>
  /(^|\.)localhost$/i.test(endpoint.host) ? { ...endpoint, host: '127.0.0.1' } : endpoint;

/** The origin that an address counts to; a WebSocket counts to its page's. */
const originOf = (url: URL): string => {
  const scheme = { 'ws:': 'http:', 'wss:': 'https:' }[url.protocol] ?? url.protocol;
  return `${scheme}//${url.host.toLowerCase()}`;
};

/** Makes the list, empty at first. */
export const createOrigins = (): Origins => {
  let allowed = new Map<string, Destination>();
  let tunnels = new Map<string, Destination>();

  const covers = (text: string): boolean => {
    if (!URL.canParse(text)) return false;
    const url = new URL(text);
    return url.username === '' && url.password === '' && allowed.has(originOf(url));
  };

  return {
    set(reach) {
      const entries = reach.map(({ origin, connectTo }) => {
        const url = new URL(origin);
        const authority = `${url.hostname}:${endpointOf(url).port}`.toLowerCase();
        return { url, to: { ...(connectTo ?? placeOf(endpointOf(url))), authority } };
      });
      allowed = new Map(entries.map(({ url, to }) => [originOf(url), to]));
      tunnels = new Map(entries.map(({ to }) => [to.authority, to]));
    },
    covers,
    isPage: (url) => url === '' || url === 'about:blank' || covers(url),
    forRequest: (url) => (covers(url.href) ? allowed.get(originOf(url)) : undefined),
    forTunnel: (authority) => tunnels.get(authority.toLowerCase()),
    list: () => [...allowed.keys()],
  };
};
