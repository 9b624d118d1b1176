/**
 * Checks the URL of a receiver before its name is resolved: https on port 443, no credentials, and a name of the
 * public DNS or a public address. The original text is checked as well. A parser drops or rewrites parts of it: line
 * ends, an empty user, numbers in other bases.
 */
import { isIP } from 'node:net';
import type { PushProblem } from '#domain/push.ts';
import { refusalOfAddress } from './public-address.ts';

/** URL that may be posted to, once the addresses of its name are found to be public. */
export type ReceiverUrl = {
  /** URL as the parser writes it. */
  href: string;
  /** Name, or address without brackets. */
  host: string;
  isAddress: boolean;
  /** Path and query. */
  target: string;
};

export type ReadUrl = { url: ReceiverUrl } | { problem: PushProblem };

export const longestUrl = 2_048;

/** Zones of names that no public server answers for, or that lead to this machine or its network. */
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

/** Returns why the text of a URL is refused, whatever a parser makes of it. */
const refusalOfText = (text: string): string | undefined => {
  if (text.length > longestUrl) return `the URL is longer than ${longestUrl} characters`;
  if (/[\r\n]/.test(text)) return 'the URL has an end of line in it';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\u0000-\u0020\u007f-\u00a0\u2028\u2029\ufeff]/.test(text)) {
    return 'the URL has a space or a control character in it';
  }
  if (text.includes('\\')) return 'the URL has a backslash in it';
  return undefined;
};

/** Returns the authority of a URL as it is written, which ends before the path. */
const authorityOf = (text: string): string => /^[a-z]+:\/*([^/?#]*)/i.exec(text)?.[1] ?? '';

const refusalOfName = (host: string): string | undefined => {
  if (host.endsWith('.')) return `the name "${host}" ends in a dot`;
  const labels = host.split('.');
  if (host.length > 253 || !labels.every((each) => label.test(each))) {
    return `"${host}" is no name of the DNS`;
  }
  const zone = ownZones.find((each) => host === each || host.endsWith(`.${each}`));
  if (zone !== undefined) return `"${host}" is in "${zone}", which is not public`;
  return labels.length < 2 ? `"${host}" is a name of one label, which is not public` : undefined;
};

/** Reads the URL of a receiver. Returns the URL, or the rule that it breaks. */
export const readReceiverUrl = (text: string): ReadUrl => {
  const refusal = refusalOfText(text);
  if (refusal !== undefined) return refuse('url', refusal);
  const url = URL.parse(text);
  if (url === null) return refuse('url', 'it is no URL');
  if (url.protocol !== 'https:') {
    return refuse('url', `the URL begins with ${url.protocol}//; only https:// is sent to`);
  }
  if (authorityOf(text).includes('@')) return refuse('url', 'the URL has credentials in it');
  if (url.port !== '') return refuse('url', `the URL names port ${url.port}; only 443 is sent to`);
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
