import { describe, expect, it } from 'vitest';
import { createOrigins } from './origins.ts';
import { isOpen, judge } from './rules.ts';

const origins = createOrigins();
origins.set([
  { origin: 'http://ses-a--ui.localhost:4400' },
  { origin: 'https://ses-a--api.worlds.example.com', connectTo: { host: '10.0.0.7', port: 8443 } },
]);
const context = { origins, downloads: '/work/downloads' };
const refused = { refused: expect.any(String) };

describe("a client's command", () => {
  it.each([
    ['Page.navigate', { url: 'http://ses-a--ui.localhost:4400/issues?x=1#y' }],
    ['Page.navigate', { url: 'https://ses-a--api.worlds.example.com/v1' }],
    ['Page.navigate', { url: 'about:blank' }],
    ['Runtime.evaluate', { expression: '1' }],
    ['Fetch.continueRequest', { requestId: '1' }],
    ['Fetch.continueRequest', { requestId: '1', url: 'http://ses-a--ui.localhost:4400/other' }],
    ['DOM.setFileInputFiles', { files: [] }],
    ['Target.attachToTarget', { targetId: 'x', flatten: true }],
  ])('%s %j passes unchanged', (method, params) => {
    expect(judge(method, params, context)).toEqual({ params });
  });

  it.each([
    ['Page.navigate', { url: 'http://ses-b--ui.localhost:4400/' }],
    ['Page.navigate', { url: 'http://ses-a--ui.localhost:4401/' }],
    ['Page.navigate', { url: 'https://ses-a--ui.localhost:4400/' }],
    ['Page.navigate', { url: 'http://ses-b--ui.localhost:4400@ses-a--ui.localhost:4400/' }],
    ['Page.navigate', { url: ' FILE:///etc/passwd' }],
    ['Page.navigate', { url: 'blob:http://ses-a--ui.localhost:4400/1' }],
    ['Page.navigate', { url: 'filesystem:http://ses-a--ui.localhost:4400/1' }],
    ['Page.navigate', { url: 'javascript:1' }],
    ['Page.navigate', { url: ['file:///etc/passwd'] }],
    ['Page.navigate', {}],
    ['Target.createTarget', { url: 'chrome://settings' }],
    ['Fetch.continueRequest', { requestId: '1', url: 'file:///etc/passwd' }],
    ['Fetch.continueRequest', { requestId: '1', headers: [{ name: 'hOsT', value: 'x' }] }],
    ['Network.setExtraHTTPHeaders', { headers: { ' Host': 'x' } }],
    ['Network.loadNetworkResource', { url: 'file:///etc/passwd' }],
    ['DOM.setFileInputFiles', { files: ['/etc/passwd'] }],
    ['DOM.setFileInputFiles', {}],
    ['Input.dispatchDragEvent', { data: { files: ['/etc/passwd'] } }],
    ['Target.createBrowserContext', { proxyBypassList: '*' }],
    ['Target.createBrowserContext', { originsWithUniversalNetworkAccess: ['file://'] }],
    ['Browser.grantPermissions', { permissions: ['geolocation', 'localFonts'] }],
    ['Browser.setPermission', { permission: { name: 'camera' }, setting: 'granted' }],
    ['Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false }],
    ['Target.attachToTarget', { targetId: 'x' }],
    ['page.navigate', { url: 'about:blank' }],
    ['Runtimeevaluate', {}],
    ['Page.startScreenRecording', {}],
    ['constructor', {}],
    ['', {}],
  ])('%s %j is refused', (method, params) => {
    expect(judge(method, params, context)).toEqual(refused);
  });

  it('that starts downloads gets the folder of the session, for any path', () => {
    const params = { behavior: 'allow', downloadPath: '/etc', browserContextId: 'c' };
    expect(judge('Browser.setDownloadBehavior', params, context)).toEqual({
      params: {
        behavior: 'allowAndName',
        downloadPath: '/work/downloads',
        eventsEnabled: false,
        browserContextId: 'c',
      },
    });
  });

  it('that makes a context has the context closed when its client disconnects', () => {
    const params = { disposeOnDetach: false };
    const verdict = judge('Target.createBrowserContext', params, context);
    expect(verdict).toEqual({ params: { disposeOnDetach: true } });
  });
});

it.each([
  [{ type: 'page', url: 'http://ses-a--ui.localhost:4400/' }, true],
  [{ type: 'page', url: '' }, true],
  [{ type: 'service_worker', url: 'http://ses-a--ui.localhost:4400/sw.js' }, true],
  [{ type: 'browser', url: '' }, true],
  [{ type: 'browser_ui', url: 'chrome://omnibox-popup.top-chrome/' }, false],
  [{ type: 'page', url: 'chrome://settings/' }, false],
  [{ type: 'page', url: 'Devtools://devtools/' }, false],
  [{ type: 'background_page', url: '' }, false],
  [{}, false],
])('a client may attach to the target %j: %s', (target, isAllowed) => {
  expect(isOpen(target)).toBe(isAllowed);
});

it('tunnels lead only to the surfaces, at their current addresses', () => {
  expect(origins.forTunnel('ses-a--API.worlds.example.com:443')).toMatchObject({
    host: '10.0.0.7',
    port: 8443,
  });
  expect(origins.forTunnel('ses-a--ui.localhost:4400')).toMatchObject({
    host: '127.0.0.1',
    port: 4400,
  });
  for (const other of ['10.0.0.7:8443', '127.0.0.1:4400', 'ses-b--ui.localhost:4400', '', 'x']) {
    expect(origins.forTunnel(other)).toBeUndefined();
  }
});
