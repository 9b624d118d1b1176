/** List of what a browser may reach: the origins of its session's surfaces, and nothing else. */

/** One surface of the session, as the egress policy needs it. */
export type Reach = {
  /** Origin as pages see it, `http(s)://host[:port]`. */
  origin: string;
  /** Address that the proxy connects to, if it differs from the origin. */
  connectTo?: { host: string; port: number };
};

export type Endpoint = { host: string; port: number };

/** Address that the proxy connects to, and the host and port that the origin itself names. */
export type Destination = Endpoint & { authority: string };

export type Origins = {
  /** Replaces the list of reachable origins; an empty list blocks everything. */
  set(reach: readonly Reach[]): void;
  /** Returns true if a client may open a page at this address: a surface's page, or the empty page. */
  isPage(url: string): boolean;
  /** Returns true if an address (`http`, `https`, `ws`, `wss`) belongs to one of the origins. */
  covers(url: string): boolean;
  /** Returns the destination of a plain request for this address; undefined if it is not permitted. */
  forRequest(url: URL): Destination | undefined;
  /** Returns the destination of a tunnel to this `host:port`; undefined if it is not permitted. */
  forTunnel(authority: string): Destination | undefined;
  list(): string[];
};

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

const endpointOf = ({ hostname, port, protocol }: URL): Endpoint => ({
  host: hostname.replace(/^\[|\]$/g, ''),
  port: port === '' ? (defaultPorts[protocol] ?? 0) : Number(port),
});

/** Maps names below `localhost` to this machine, whatever a resolver answers (RFC 6761). */
const placeOf = (endpoint: Endpoint): Endpoint =>
  /(^|\.)localhost$/i.test(endpoint.host) ? { ...endpoint, host: '127.0.0.1' } : endpoint;

/** Returns the origin of an address; a WebSocket address has the origin of its page. */
const originOf = (url: URL): string => {
  const scheme = { 'ws:': 'http:', 'wss:': 'https:' }[url.protocol] ?? url.protocol;
  return `${scheme}//${url.host.toLowerCase()}`;
};

/** Creates the list, which is empty at first. */
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
