/**
 * Node's HTTP modules for programs whose start must be fast. An `import` of node:http makes Node load all that the
 * module exports, including the code behind `fetch`: some 10 MB and 20 ms that a world host, which never calls it,
 * would pay at each start. `process.getBuiltinModule` loads only what is used.
 */
import type * as Http from 'node:http';
import type * as Https from 'node:https';

export const http: typeof Http = process.getBuiltinModule('node:http');

/** Returns node:https, which is loaded at the first call: the programs of one machine talk without TLS. */
export const https = (): typeof Https => process.getBuiltinModule('node:https');
