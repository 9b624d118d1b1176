import { describe, expect, it } from 'vitest';
import { chooseBrowsers } from './browser-choice.ts';

const nowhere = '/nonexistent/chromium';

describe('choosing browsers', () => {
  it('is refused with instructions if browsers are requested but this machine has none', () => {
    expect(() => chooseBrowsers(1, 'process', nowhere)).toThrow(
      `there is no Chromium on this machine (looked at ${nowhere}): install one`,
    );
  });

  it('continues without browsers, and gives the reason, if none were requested', () => {
    expect(chooseBrowsers(undefined, 'process', nowhere)).toEqual({
      warm: undefined,
      says: expect.stringMatching(/^none: there is no Chromium/),
    });
  });

  it('ignores the browsers of this machine on Docker', () => {
    expect(chooseBrowsers(2, 'docker', nowhere)).toEqual({
      warm: 2,
      says: '2 warm, in containers',
    });
    expect(chooseBrowsers(undefined, 'docker', nowhere).warm).toBeUndefined();
  });
});
