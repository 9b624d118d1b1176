import { describe, expect, it } from 'vitest';
import { plainIp, readHostAddress } from './host-address.ts';

describe('the address of a host', () => {
  it.each([
    ['http://127.0.0.1:40123', { ip: '127.0.0.1', port: 40_123 }],
    ['http://10.1.2.3:8080', { ip: '10.1.2.3', port: 8_080 }],
    ['http://[fd00::7]:8080', { ip: 'fd00::7', port: 8_080 }],
    ['http://[::1]:1', { ip: '::1', port: 1 }],
  ])('is %s', (text, expected) => {
    expect(readHostAddress(text)).toEqual(expected);
  });

  it.each([
    'http://localhost:80',
    'http://metadata.google.internal:80',
    'http://127.1:80',
    'http://2130706433:80',
    'http://0x7f000001:80',
    'http://0177.0.0.1:80',
    'http://127.0.0.01:80',
    'http://127.0.0.256:80',
    'http://[::ffff:127.0.0.1]:80',
    'http://[::ffff:7f00:1]:80',
    'http://[::7f00:1]:80',
    'http://[fd00:0:0:0:0:0:0:7]:80',
    'http://[FD00::7]:80',
    'http://[fe80::1%25eth0]:80',
    'http://[::]:80',
    'http://127.0.0.1',
    'http://127.0.0.1:0',
    'http://127.0.0.1:65536',
    'http://127.0.0.1:080',
    'http://127.0.0.1:80/',
    'http://127.0.0.1:80/path',
    'http://127.0.0.1:80?query',
    'http://127.0.0.1:80#part',
    'http://user@127.0.0.1:80',
    'http://10.0.0.1:80@127.0.0.1:80',
    'https://127.0.0.1:80',
    'HTTP://127.0.0.1:80',
    'http:127.0.0.1:80',
    'http://127.0.0.1:80\n',
    ' http://127.0.0.1:80',
    'http://127。0。0。1:80',
    '',
  ])('is not %j', (text) => {
    expect(readHostAddress(text)).toBeUndefined();
  });
});

it('the peer address of a connection is compared in its IPv4 form', () => {
  expect(plainIp('::ffff:10.0.0.7')).toBe('10.0.0.7');
  expect(plainIp('10.0.0.7')).toBe('10.0.0.7');
  expect(plainIp('fe80::1%eth0')).toBe('fe80::1');
});
