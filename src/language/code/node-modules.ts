/** Modules of Node that user code may import; the host refuses all others. */
export const nodeModules: ReadonlySet<string> = new Set([
  ...['assert', 'assert/strict', 'async_hooks', 'buffer', 'crypto', 'events', 'fs', 'fs/promises'],
  ...['path', 'path/posix', 'perf_hooks', 'process', 'querystring', 'stream', 'stream/promises'],
  ...['string_decoder', 'test', 'timers', 'timers/promises', 'url', 'util', 'zlib'],
]);

/** Globals of Node that the host removes, because user code has no network. */
export const hiddenGlobals: ReadonlySet<string> = new Set(['fetch', 'WebSocket', 'EventSource']);
