/**
 * Node's HTTP for programs that start while somebody waits. To `import` node:http makes Node read all
 * that the module exports, among it what loads `fetch`: some 10 MB and 20 ms that a world host, which
 * never calls it, would pay at each start. Asked for like this, the module loads only what is used.
 */
import type * as Http from 'node:http';
import type * as Https from 'node:https';

export const http: typeof Http = process.getBuiltinModule('node:http');

/** Loaded when it is first asked for: between the programs of one machine nothing is encrypted. */
export const https = (): typeof Https => process.getBuiltinModule('node:https');
