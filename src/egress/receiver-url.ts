/**
 * Checks the URL of a receiver before its name is resolved: https on port 443, no credentials, and a name of the
 * public DNS or a public address. The original text is checked as well. A parser drops or rewrites parts of it: line
 * ends, an empty user, numbers in other bases.
 */
import { isIP } from 'node:net';
import type { PushProblem } from '#domain/push.ts';
import { refusalOfAddress } from './public-address.ts';

/** URL of a receiver. Requests may be sent to it once all addresses of its name have been checked to be public. */
export type ReceiverUrl = {
  /** URL in the parser's normal form. */
  href: string;
  /** Host name, or IP address without brackets. */
  host: string;
  isAddress: boolean;
  /** Path and query. */
  target: string;
};

export type ReadUrl = { url: ReceiverUrl } | { problem: PushProblem };

export const longestUrl = 2_048;

/** DNS zones that no public server answers for, or whose names lead to this machine or its network. */
const ownZones = [
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
  'in-addr.arpa',
  'ip6.arpa',
  'onion',
  'test',
  'example',
  'invalid',
  'alt',
];

const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

const refuse = (code: PushProblem['code'], message: string): ReadUrl => ({
  problem: { code, message },
});

/** Returns why the original text of a URL is refused, before it is parsed; undefined if it is not. */
const refusalOfText = (text: string): string | undefined => {
  if (text.length > longestUrl) return `the URL is longer than ${longestUrl} characters`;
  if (/[\r\n]/.test(text)) return 'the URL contains a line break';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff]/.test(text)) {
    return 'the URL contains a space or a control character';
  }
  if (text.includes('\\')) return 'the URL contains a backslash';
  return undefined;
};

/** Returns the authority (host and port) of a URL as it is written, up to the path. */
const authorityOf = (text: string): string => /^[a-z]+:\/*([^/?#]*)/i.exec(text)?.[1] ?? '';

const refusalOfName = (host: string): string | undefined => {
  if (host.endsWith('.')) return `the name "${host}" ends in a dot`;
  const labels = host.split('.');
  if (host.length > 253 || !labels.every((each) => label.test(each))) {
    return `"${host}" is not a valid DNS name`;
  }
  const zone = ownZones.find((each) => host === each || host.endsWith(`.${each}`));
  if (zone !== undefined) return `"${host}" is in "${zone}", which is not public`;
  return labels.length < 2 ? `"${host}" has only one label, so it is not a public name` : undefined;
};

/** Parses the URL of a receiver. Returns the URL, or the rule that the text breaks. */
export const readReceiverUrl = (text: string): ReadUrl => {
  const refusal = refusalOfText(text);
  if (refusal !== undefined) return refuse('url', refusal);
  const url = URL.parse(text);
  if (url === null) return refuse('url', 'the text is not a URL');
  if (url.protocol !== 'https:') {
    return refuse('url', `the URL begins with ${url.protocol}//; only https:// is allowed`);
  }
  if (authorityOf(text).includes('@')) return refuse('url', 'the URL contains credentials');
  if (url.port !== '')
    return refuse('url', `the URL names port ${url.port}; only port 443 is allowed`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isAddress = isIP(host) !== 0;
  if (isAddress) {
    const what = refusalOfAddress(host);
    if (what !== undefined) return refuse('address', `${host} is not public: it is ${what}`);
  } else {
    const problem = refusalOfName(host);
    if (problem !== undefined) return refuse('url', problem);
  }
  return { url: { href: url.href, host, isAddress, target: `${url.pathname}${url.search}` } };
};
