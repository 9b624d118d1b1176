/**
 * Judges each DevTools command of a client before Chromium receives it. A command passes, perhaps changed, or is
 * refused with a reason that a person understands. The browser belongs to one session, so clients may do anything to
 * its pages. The rules protect everything beyond: the machine's files, other addresses, the browser's own settings.
 */
import { isObject } from '#domain/json.ts';
import type { Params } from '../cdp/message.ts';
import { isListed } from './methods.ts';
import type { Origins } from './origins.ts';

export type Verdict = { params: Params } | { refused: string };

export type RuleContext = {
  origins: Pick<Origins, 'isPage' | 'covers' | 'list'>;
  /** Folder that keeps the session's downloads. */
  downloads: string;
};

type Rule = (params: Params, context: RuleContext) => Verdict;

const pass: Rule = (params) => ({ params });

const refuse = (refused: string): Verdict => ({ refused });

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const surfacesOf = ({ origins }: RuleContext): string =>
  `this browser reaches the surfaces of its session alone: ${origins.list().join(', ') || 'none yet'}`;

const pageOnly: Rule = (params, context) =>
  typeof params.url === 'string' && context.origins.isPage(params.url)
    ? { params }
    : refuse(`"${textOf(params.url).slice(0, 200)}" cannot be opened; ${surfacesOf(context)}`);

/**
 * Returns true if the headers include `Host`. With its own `Host`, a client could reach another session behind the
 * same address.
 */
const namesHost = (headers: unknown): boolean => {
  const names = Array.isArray(headers)
    ? headers.map((one) => (isObject(one) ? textOf(one.name) : ''))
    : Object.keys(isObject(headers) ? headers : {});
  return names.some((name) => name.trim().toLowerCase() === 'host');
};

const noHostHeader: Rule = (params) =>
  namesHost(params.headers)
    ? refuse('the header "Host" is set by the browser; leave it out')
    : { params };

const ownRequest: Rule = (params, context) => {
  const url = textOf(params.url);
  if (params.url !== undefined && !context.origins.covers(url)) {
    return refuse(`a request cannot be sent on to "${url.slice(0, 200)}"; ${surfacesOf(context)}`);
  }
  return noHostHeader(params, context);
};

const noProxy: Rule = (params) => {
  const own = ['proxyServer', 'proxyBypassList', 'originsWithUniversalNetworkAccess'].find(
    (name) => params[name] !== undefined,
  );
  if (own !== undefined) {
    return refuse(
      `a context cannot have "${own}": all its requests go through the session's egress proxy`,
    );
  }
  // The context is disposed of when the client that made it disconnects.
  return { params: { ...params, disposeOnDetach: true } };
};

const noPaths: Rule = (params) =>
  Array.isArray(params.files) && params.files.length === 0
    ? { params }
    : refuse(
        'files of a path cannot be uploaded, as paths would be those of the machine that the browser runs on; ' +
          'hand in the bytes, for example setInputFiles({ name, mimeType, buffer })',
      );

const noDraggedPaths: Rule = (params) => {
  const files = isObject(params.data) ? params.data.files : undefined;
  return files === undefined || (Array.isArray(files) && files.length === 0)
    ? { params }
    : refuse('files of a path cannot be dropped on a page');
};

const keepDownloads: Rule = (params, { downloads }) => {
  const { behavior, browserContextId, eventsEnabled } = params;
  const context = browserContextId === undefined ? {} : { browserContextId };
  if (behavior === 'deny') return { params: { behavior, ...context } };
  return {
    params: {
      behavior: 'allowAndName',
      downloadPath: downloads,
      eventsEnabled: eventsEnabled === true,
      ...context,
    },
  };
};

/** Web platform permissions that affect nothing but the page and the browser's own clipboard. */
const grantable = new Set([
  'backgroundSync',
  'clipboardReadWrite',
  'clipboardSanitizedWrite',
  'clipboard-read',
  'clipboard-write',
  'durableStorage',
  'geolocation',
  'notifications',
  'sensors',
  'storageAccess',
  'persistent-storage',
]);

const nothingButGrantable = (names: readonly string[]): Verdict | undefined => {
  const other = names.find((name) => !grantable.has(name));
  return other === undefined
    ? undefined
    : refuse(
        `the permission "${other}" is not granted in a session; these permissions can be: ${[...grantable].join(', ')}`,
      );
};

const flatOnly: Rule = (params) =>
  params.flatten === true
    ? { params }
    : refuse(
        'the browser accepts commands for a session only by "sessionId": set "flatten" to true',
      );

const flatIfOn: Rule = (params, context) =>
  params.autoAttach === false
    ? { params: { ...params, flatten: true } }
    : flatOnly(params, context);

const rules: Readonly<Record<string, Rule>> = {
  'Browser.grantPermissions': (params) => {
    const names = Array.isArray(params.permissions) ? params.permissions.map(textOf) : [];
    return nothingButGrantable(names) ?? { params };
  },
  'Browser.setDownloadBehavior': keepDownloads,
  'Browser.setPermission': (params) => {
    const name = isObject(params.permission) ? textOf(params.permission.name) : '';
    return (params.setting === 'granted' && nothingButGrantable([name])) || { params };
  },
  'DOM.setFileInputFiles': noPaths,
  'Fetch.continueRequest': ownRequest,
  'Input.dispatchDragEvent': noDraggedPaths,
  'Network.loadNetworkResource': ownRequest,
  'Network.setExtraHTTPHeaders': noHostHeader,
  'Page.navigate': pageOnly,
  'Target.attachToTarget': flatOnly,
  'Target.createBrowserContext': noProxy,
  'Target.createTarget': pageOnly,
  'Target.setAutoAttach': flatIfOn,
};

/** Judges a client's command. */
export const judge = (method: string, params: Params, context: RuleContext): Verdict =>
  isListed(method)
    ? (Object.hasOwn(rules, method) ? (rules[method] as Rule) : pass)(params, context)
    : refuse(`the DevTools method "${method}" is not offered by a session's browser`);

/** Kinds of targets that belong to pages; every other kind is Chromium's own. */
const pageKinds = new Set([
  'page',
  'tab',
  'iframe',
  'worker',
  'service_worker',
  'shared_worker',
  'worklet',
  'auction_worklet',
  'shared_storage_worklet',
]);

const ownSchemes = /^(chrome|chrome-untrusted|chrome-extension|devtools|file|view-source):/i;

/**
 * Returns true if clients may send commands to an attached target: a page, something that a page runs, or the browser.
 */
export const isOpen = ({ type, url }: Params): boolean =>
  type === 'browser' || (pageKinds.has(textOf(type)) && !ownSchemes.test(textOf(url)));
