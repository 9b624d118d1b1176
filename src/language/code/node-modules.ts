/** Modules of Node that code of a world may import; the host refuses all others. */
export const nodeModules: ReadonlySet<string> = new Set([
  ...['assert', 'assert/strict', 'async_hooks', 'buffer', 'crypto', 'events', 'fs', 'fs/promises'],
  ...['path', 'path/posix', 'perf_hooks', 'process', 'querystring', 'stream', 'stream/promises'],
  ...['string_decoder', 'test', 'timers', 'timers/promises', 'url', 'util', 'zlib'],
]);

/** Globals of Node that the host takes away, as code of a world has no network. */
export const hiddenGlobals: ReadonlySet<string> = new Set(['fetch', 'WebSocket', 'EventSource']);
