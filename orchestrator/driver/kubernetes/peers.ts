/**
 * Parses the network peers of hosts as an operator writes them: words separated by spaces. Each word is a network
 * (`10.0.0.0/16`) or pods (`namespace/label=value,label=value`; `namespace/` for all of that namespace).
 */
import { BlockList, isIP } from 'node:net';
import type { V1NetworkPolicyPeer } from '@kubernetes/client-node';

const labelPattern = /^([A-Za-z0-9][A-Za-z0-9._/-]{0,316})=([A-Za-z0-9._-]{0,63})$/;
const namespacePattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

const isNetwork = (word: string): boolean => {
  const [address = '', bits = '', ...rest] = word.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits)) return false;
  try {
    new BlockList().addSubnet(address, Number(bits), family === 4 ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    return false; // an address has fewer bits
  }
};

/** Parses one word; returns undefined when it is neither a network nor pods. */
const readPeer = (word: string): V1NetworkPolicyPeer | undefined => {
  if (isNetwork(word)) return { ipBlock: { cidr: word } };
  const at = word.indexOf('/');
  const namespace = word.slice(0, Math.max(0, at));
  if (!namespacePattern.test(namespace)) return undefined;
  const pairs = word
    .slice(at + 1)
    .split(',')
    .filter(Boolean)
    .map((pair) => labelPattern.exec(pair));
  const labels = pairs.map((match) => [match?.[1] ?? '', match?.[2] ?? ''] as const);
  if (labels.some(([name]) => name === '')) return undefined;
  return {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    podSelector: labels.length === 0 ? {} : { matchLabels: Object.fromEntries(labels) },
  };
};

export type ReadPeers = { peers: V1NetworkPolicyPeer[]; wrong: string[] };

/** Returns the peers of a text, and its words that are no peers. */
export const readPeers = (text: string): ReadPeers => {
  const words = text.split(/\s+/).filter(Boolean);
  const read = words.map((word) => ({ word, peer: readPeer(word) }));
  return {
    peers: read.flatMap(({ peer }) => peer ?? []),
    wrong: read.flatMap(({ word, peer }) => (peer === undefined ? [word] : [])),
  };
};

/** Returns a single address as a network. */
export const networkOf = (address: string): V1NetworkPolicyPeer => ({
  ipBlock: { cidr: `${address}/${isIP(address) === 6 ? 128 : 32}` },
});
