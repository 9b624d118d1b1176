import { describe, expect, it } from 'vitest';
import { parseForm } from './form.ts';

describe('a form', () => {
  it.each<[string, unknown]>([
    ['', {}],
    ['a=1&b=two+words&c=%C3%A9', { a: '1', b: 'two words', c: 'é' }],
    ['a=1&a=2', { a: '2' }],
    ['a[b]=c&a[d][e]=f', { a: { b: 'c', d: { e: 'f' } } }],
    ['a%5Bb%5D=c', { a: { b: 'c' } }],
    ['a[]=x&a[]=y', { a: ['x', 'y'] }],
    ['a[1]=y&a[0]=x', { a: ['x', 'y'] }],
    ['a[7000000]=x', { a: ['x'] }],
    [
      'items[0][price]=p&items[0][quantity]=2&items[1][price]=q',
      {
        items: [{ price: 'p', quantity: '2' }, { price: 'q' }],
      },
    ],
    ['a[][b]=1&a[][c]=2&a[][b]=3', { a: [{ b: '1', c: '2' }, { b: '3' }] }],
    ['a[][]=1&a[][]=2', { a: [['1'], ['2']] }],
    ['a[0]=x&a[key]=y', { a: { 0: 'x', key: 'y' } }],
    ['a[b=1&[c]=2&d]=3', { 'a[b': '1', '[c]': '2', 'd]': '3' }],
    ['a', { a: '' }],
    ['0=x', { 0: 'x' }],
  ])('is read: %s', (text, value) => {
    expect(parseForm(text)).toEqual(value);
  });

  it('is refused if a name is both a value and an object', () => {
    expect(parseForm('a=1&a[b]=2')).toBeUndefined();
    expect(parseForm('a[b]=2&a=1')).toBeUndefined();
  });

  it('may have names such as "__proto__", which are plain names', () => {
    const form = parseForm('__proto__[polluted]=1&constructor[prototype][polluted]=1') ?? {};
    expect(Object.keys(form)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(form)).toBe(Object.prototype);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('is refused if it is nested too deep', () => {
    const deep = `a${'[b]'.repeat(10_000)}`;
    expect(parseForm(`${deep}=1`)).toEqual({ [deep]: '1' });
  });
});
