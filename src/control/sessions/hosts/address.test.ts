import { describe, expect, it } from 'vitest';
import type { HostAddressing } from '#domain/host-address.ts';
import { addressFault } from './address.ts';

const starting = (addressing: HostAddressing) =>
  ({ runtime: 'a driver', addressing, state: 'starting', address: null }) as const;

describe('the address that a host reports', () => {
  it.each([
    ['loopback', 'http://127.0.0.1:40123', '127.0.0.1'],
    ['own_ip', 'http://10.1.2.3:8080', '10.1.2.3'],
    ['own_ip', 'http://[fd00::7]:8080', 'fd00::7'],
    ['own_ip', 'http://10.1.2.3:8080', undefined],
  ] as const)('is accepted with the addressing %s: %s', (addressing, reported, source) => {
    expect(addressFault(starting(addressing), reported, source)).toBeUndefined();
  });

  it.each([
    ['loopback', 'http://10.0.0.1:80', '10.0.0.1', 'not on 127.0.0.1'],
    ['loopback', 'http://[::1]:80', '127.0.0.1', 'not on 127.0.0.1'],
    ['loopback', 'http://127.0.0.2:80', '127.0.0.1', 'not on 127.0.0.1'],
    ['loopback', 'http://localhost:80', '127.0.0.1', 'not of the form'],
    ['own_ip', 'http://10.1.2.3:80', '10.1.2.3', 'does not have port 8080'],
    ['own_ip', 'http://10.1.2.4:8080', '10.1.2.3', 'not the one that its report comes from'],
    ['own_ip', 'http://169.254.169.254:8080', '10.1.2.3', 'not the one that its report comes from'],
    ['assigned', 'http://127.0.0.1:40123', '127.0.0.1', 'only its driver may report it'],
  ] as const)('is refused with the addressing %s: %s', (addressing, reported, source, why) => {
    expect(addressFault(starting(addressing), reported, source)).toContain(why);
  });

  it('is accepted once, before the host was warm', () => {
    const address = 'http://127.0.0.1:40123';
    const known = { ...starting('loopback'), state: 'recycling', address } as const;
    expect(addressFault(known, address, '127.0.0.1')).toBeUndefined();
    const other = 'http://127.0.0.1:5432';
    expect(addressFault(known, other, '127.0.0.1')).toContain('reported first');
    const silent = { ...known, address: null };
    expect(addressFault(silent, other, '127.0.0.1')).toContain('too late');
  });
});

describe('a host that a program of the previous release registered', () => {
  const faultOn = (runtime: string, address: string, source: string) =>
    addressFault({ ...starting('loopback'), runtime, addressing: null }, address, source);

  it.each([
    ['process', 'http://127.0.0.1:40123', '127.0.0.1'],
    ['kubernetes', 'http://10.1.2.3:8080', '10.1.2.3'],
  ])('may report its address on %s', (runtime, address, source) => {
    expect(faultOn(runtime, address, source)).toBeUndefined();
  });

  it.each(['docker', 'unknown'])('may not report its address on %s', (runtime) => {
    expect(faultOn(runtime, 'http://127.0.0.1:40123', '127.0.0.1')).toContain('only its driver');
  });
});
