import { describe, expect, it } from 'vitest';
import { createUpstreams, readNetwork, type UpstreamRules } from './upstreams.ts';

const find = (address: string, networks: string[], changes: Partial<UpstreamRules> = {}) => {
  const rules = {
    networks: networks.flatMap((text) => readNetwork(text) ?? []),
    ports: [{ first: 1_024, last: 65_535 }],
    others: () => [],
    ...changes,
  };
  const found = createUpstreams(rules).find(address);
  return 'fault' in found ? found.fault : found.upstream;
};

const everything = ['0.0.0.0/0', '::/0'];

describe('the gateway', () => {
  it('connects to a host in a configured network', () => {
    const networks = ['10.0.0.0/8', 'fd00::/8', '127.0.0.1/32'];
    expect(find('http://10.1.2.3:8080', networks)).toEqual({ host: '10.1.2.3', port: 8080 });
    expect(find('http://[fd00::7]:8080', networks)).toEqual({ host: 'fd00::7', port: 8080 });
    expect(find('http://127.0.0.1:8080', networks)).toEqual({ host: '127.0.0.1', port: 8080 });
    for (const address of [
      'http://11.1.2.3:8080',
      'http://127.0.0.2:8080',
      'http://[fc00::7]:8080',
    ]) {
      expect(find(address, networks), address).toContain('SVC_HOST_NETWORKS');
    }
  });

  it.each([
    'http://169.254.169.254:8080',
    'http://[fe80::1]:8080',
    'http://[fd00:ec2::254]:8080',
    'http://100.100.100.200:8080',
    'http://0.0.0.0:8080',
    'http://224.0.0.1:8080',
    'http://255.255.255.255:8080',
    'http://[ff02::1]:8080',
    'http://[64:ff9b::a9fe:a9fe]:8080',
    'http://[2002:7f00:1::]:8080',
  ])('never connects to %s, whatever networks are configured', (address) => {
    expect(find(address, everything)).toBe('no host can have an address in this range');
  });

  it.each(['http://127.0.0.1:8080', 'http://127.9.9.9:8080', 'http://[::1]:8080'])(
    'connects to %s only if a configured network lies within loopback',
    (address) => {
      expect(find(address, everything)).toContain('SVC_HOST_NETWORKS');
      expect(find(address, ['127.0.0.0/8', '::1/128'])).toMatchObject({ port: 8080 });
    },
  );

  it.each([
    'http://localhost:8080',
    'http://127.1:8080',
    'http://0x7f000001:8080',
    'http://[::ffff:127.0.0.1]:8080',
    'http://10.1.2.3:8080/path',
    'http://10.1.2.3:8080@127.0.0.1:8080',
    'https://10.1.2.3:8080',
    'file:///etc/passwd',
    'nonsense',
  ])('refuses %s, which has another form than http://<ip>:<port>', (address) => {
    expect(find(address, [...everything, '127.0.0.0/8'])).toBe(
      'it is not an IP address with a port',
    );
  });

  it('connects only to an allowed port', () => {
    const ports = [{ first: 8_080, last: 8_080 }];
    expect(find('http://10.1.2.3:8080', everything, { ports })).toMatchObject({ port: 8080 });
    expect(find('http://10.1.2.3:6443', everything, { ports })).toContain('SVC_HOST_PORTS');
    expect(find('http://10.1.2.3:443', everything)).toContain('SVC_HOST_PORTS');
  });

  it('never connects to a program of the installation, by whatever address of this machine', () => {
    const others = () => ['http://127.0.0.1:4502', 'http://0.0.0.0:4600', 'http://[::]:9090'];
    const ask = (address: string) => find(address, ['127.0.0.0/8', '::1/128'], { others });
    const own = 'it is the address of a program of the installation';
    for (const place of ['127.0.0.1:4502', '127.0.0.1:4600', '[::1]:4600', '127.0.0.1:9090']) {
      expect(ask(`http://${place}`), place).toBe(own);
    }
    expect(ask('http://127.0.0.1:4501')).toMatchObject({ port: 4501 });
  });
});

it.each(['10.0.0.0/33', '10.0.0.0', 'fd00::/129', 'localhost/8', '', '10.0.0/8', '/8'])(
  'readNetwork returns undefined for %j',
  (text) => {
    expect(readNetwork(text)).toBeUndefined();
  },
);
