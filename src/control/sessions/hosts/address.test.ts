import { describe, expect, it } from 'vitest';
import { addressFault } from './address.ts';

const starting = (runtime: string) => ({ runtime, state: 'starting', address: null }) as const;

describe('the address that a host tells', () => {
  it.each([
    ['process', 'http://127.0.0.1:40123', '127.0.0.1'],
    ['kubernetes', 'http://10.1.2.3:8080', '10.1.2.3'],
    ['kubernetes', 'http://[fd00::7]:8080', 'fd00::7'],
    ['kubernetes', 'http://10.1.2.3:8080', undefined],
  ])('is taken from one on %s: %s', (runtime, told, source) => {
    expect(addressFault(starting(runtime), told, source)).toBeUndefined();
  });

  it.each([
    ['process', 'http://10.0.0.1:80', '10.0.0.1', 'not on 127.0.0.1'],
    ['process', 'http://[::1]:80', '127.0.0.1', 'not on 127.0.0.1'],
    ['process', 'http://127.0.0.2:80', '127.0.0.1', 'not on 127.0.0.1'],
    ['process', 'http://localhost:80', '127.0.0.1', 'not of the form'],
    ['kubernetes', 'http://10.1.2.3:80', '10.1.2.3', 'another port'],
    ['kubernetes', 'http://10.1.2.4:8080', '10.1.2.3', 'not where its report comes from'],
    ['kubernetes', 'http://169.254.169.254:8080', '10.1.2.3', 'not where its report comes from'],
    ['docker', 'http://127.0.0.1:40123', '127.0.0.1', 'the docker driver alone'],
  ])('is refused from one on %s: %s', (runtime, told, source, why) => {
    expect(addressFault(starting(runtime), told, source)).toContain(why);
  });

  it('is told once, before the host was warm', () => {
    const address = 'http://127.0.0.1:40123';
    const known = { runtime: 'process', state: 'recycling', address } as const;
    expect(addressFault(known, address, '127.0.0.1')).toBeUndefined();
    const other = 'http://127.0.0.1:5432';
    expect(addressFault(known, other, '127.0.0.1')).toContain('told first');
    const silent = { ...known, address: null };
    expect(addressFault(silent, other, '127.0.0.1')).toContain('too late');
  });
});
