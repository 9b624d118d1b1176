/** An API as far as a draft knows it, whether from a description or from what was seen of it. */
import type { JsonSchema } from '#language/contract.ts';

export type ApiAuth = {
  scheme: 'none' | 'bearer' | 'basic' | 'header' | 'query' | 'oauth2';
  name?: string;
  tokenUrl?: string;
};

export type ApiParam = { name: string; repeated: boolean; schema: JsonSchema; sample: unknown };

/** A route with plain schemas: without references, and without choices that no row could have. */
export type ApiRoute = {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Arguments of the path, with what is known of them. */
  pathParams: ApiParam[];
  params: ApiParam[];
  status: number;
  /** Of the good answer, and of the body that is sent. */
  answer: JsonSchema | null;
  request: JsonSchema | null;
  /** Bodies of good answers. */
  examples: unknown[];
};

export type Api = {
  title: string;
  baseUrl: string;
  auth: ApiAuth;
  routes: ApiRoute[];
};

/** Something that a draft could not tell, for a person to decide. */
export type Mark = { place: string; message: string };

/** Where a schema had a name before it was made plain. */
export const schemaName = 'x-name';

const words = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** A name in snake_case that begins with a letter. */
export const snakeCase = (text: string): string => {
  const name = words(text).join('_').slice(0, 100);
  return /^[a-z]/.test(name) ? name : `x_${name}`;
};

/** One of several: `boards` is of a `board`. */
export const singular = (name: string): string =>
  name
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x)es$/, '$1')
    .replace(/([^s])s$/, '$1');
