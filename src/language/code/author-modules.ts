/**
 * Modules that hosts provide to user code, and their exports. Their types are in `src/author-types`; a test compares
 * this list with them.
 */
import type { ContextKind } from './reading.ts';

/** Functions of the store whose first argument is the name of an entity. */
const pythonStore = ['get', 'query', 'count', 'insert', 'update', 'delete'];
const typescriptStore = ['get', 'query', 'count', 'insert', 'update', 'remove'];
const contexts = ['HandlerContext', 'VerifyContext'];

export type AuthorModules = {
  /** Exports by module. */
  exports: ReadonlyMap<string, ReadonlySet<string>>;
  /** Exports that are only types, which TypeScript imports with `import type`. */
  types: ReadonlySet<string>;
  /** Functions whose first argument names an entity; they are also methods of a context and of `world`. */
  store: ReadonlySet<string>;
  /** Functions whose first argument is a context and whose second is an entity. */
  finders: ReadonlySet<string>;
  members: Readonly<Record<ContextKind, ReadonlySet<string>>>;
};

const request = ['method', 'path', 'route', 'args', 'body', 'headers'];
const reading = ['get', 'query', 'count'];

export const pythonModules: AuthorModules = {
  exports: new Map([
    [
      'svc_env',
      new Set([...pythonStore, ...contexts, 'Row', 'Refused', 'fail', 'clock', 'ids', 'webhooks']),
    ],
    ['svc_env.ctx', new Set(contexts)],
    [
      'svc_env.finding',
      new Set(['Reader', 'whole_number', 'same_name', 'known', 'by_id', 'by_name', 'indexed']),
    ],
    ['svc_env.testing', new Set(['ToolError', 'Response', 'world'])],
  ]),
  types: new Set(),
  store: new Set(pythonStore),
  finders: new Set(['known', 'by_id', 'by_name']),
  members: {
    handler: new Set([
      ...[...request, 'media_type', 'content_type', 'clock', 'ids', ...pythonStore],
      ...['deliver', 'mint_token', 'revoke_token', 'set_header', 'respond', 'fail'],
    ]),
    verify: new Set([...reading, 'check']),
  },
};

export const typescriptModules: AuthorModules = {
  exports: new Map([
    ['svc_env', new Set([...typescriptStore, 'Refused', 'fail', 'clock', 'ids', 'webhooks'])],
    ['svc_env/testing', new Set(['ToolError', 'world'])],
  ]),
  types: new Set([
    ...[...contexts, 'Row', 'QueryOptions', 'HandlerRequest'],
    ...['RequestOptions', 'Response'],
  ]),
  store: new Set(typescriptStore),
  finders: new Set(),
  members: {
    handler: new Set([
      ...[...request, 'mediaType', 'contentType', 'clock', 'ids', ...typescriptStore],
      ...['deliver', 'mintToken', 'revokeToken', 'setHeader', 'respond', 'fail'],
    ]),
    verify: new Set([...reading, 'check']),
  },
};
