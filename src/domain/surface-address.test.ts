import { describe, expect, it } from 'vitest';
import { isId, newId } from './id.ts';
import { parseSurfaceTemplate, readSurfaceHost, surfaceUrl } from './surface-address.ts';

const parsed = (text: string) => {
  const template = parseSurfaceTemplate(text);
  if (template === undefined) throw new Error(`${text} is not taken`);
  return template;
};

describe('a template of surface addresses', () => {
  it('builds addresses, and readSurfaceHost finds the same session and surface in them', () => {
    const template = parsed('https://{session}--{surface}.Worlds.example.com:8443');
    const sessionId = newId('ses');
    const url = surfaceUrl(template, sessionId, 'api');
    expect(url).toBe(`https://${sessionId}--api.worlds.example.com:8443`);
    expect(readSurfaceHost(template, new URL(url).host)).toEqual({ sessionId, surface: 'api' });
    const shouted = `${sessionId.toUpperCase()}--UI.WORLDS.example.COM`;
    expect(readSurfaceHost(template, shouted)).toEqual({ sessionId, surface: 'ui' });
  });

  it.each([
    'https://worlds.example.com',
    'https://{surface}--{session}.example.com',
    'https://{session}--{surface}',
    'https://{session}--{surface}.example.com/path',
    'ftp://{session}--{surface}.example.com',
    'https://{session}--{surface}.example.com:99999',
    'https://{session}--{surface}.-example.com',
  ])('is rejected if it is %s', (text) => {
    expect(parseSurfaceTemplate(text)).toBeUndefined();
  });

  it('distinguishes host names of other domains from labels that no session has', () => {
    const template = parsed('http://{session}--{surface}.w.test');
    for (const host of ['w.test', 'example.com', 'xw.test', '127.0.0.1:80', '']) {
      expect(readSurfaceHost(template, host)).toBeUndefined();
    }
    const id = newId('ses');
    for (const label of [id, `${id}--db`, `${id}-api`, `x${id}--api`, `a.${id}--api`, '--api']) {
      expect(readSurfaceHost(template, `${label}.w.test`)).toEqual({ label });
    }
  });

  it('makes labels that are short enough for a host name, whatever the id', () => {
    const id = newId('ses');
    expect(isId('ses', id)).toBe(true);
    expect(isId('hst', id)).toBe(false);
    expect(isId('ses', `${id}0`)).toBe(false);
    expect(`${id}--browser`.length).toBeLessThanOrEqual(63);
  });
});
