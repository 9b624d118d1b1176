/**
 * Loads Node's HTTP modules for programs whose start must be fast. An `import` of node:http makes Node load all that
 * the module exports, including the code behind `fetch`: some 10 MB and 20 ms at each start of a world host, which
 * never calls `fetch`. `process.getBuiltinModule` loads only what is used.
 */
import type * as Http from 'node:http';
import type * as Https from 'node:https';

export const http: typeof Http = process.getBuiltinModule('node:http');

/**
 * Returns node:https. It is loaded only at the first call, because programs on the same machine communicate without
 * TLS.
 */
export const https = (): typeof Https => process.getBuiltinModule('node:https');
