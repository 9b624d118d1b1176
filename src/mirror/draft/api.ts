/** Model of an API for drafting a world, from a description or from observed requests. */
import type { JsonSchema } from '#language/contract.ts';

export type ApiAuth = {
  scheme: 'none' | 'bearer' | 'basic' | 'header' | 'query' | 'oauth2';
  name?: string;
  tokenUrl?: string;
};

export type ApiParam = { name: string; repeated: boolean; schema: JsonSchema; sample: unknown };

/** A route with resolved schemas, which contain neither references nor alternatives that no row could have. */
export type ApiRoute = {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  /** Arguments of the path, with their known types and samples. */
  pathParams: ApiParam[];
  params: ApiParam[];
  status: number;
  /** Schemas of the successful answer, and of the request's body. */
  answer: JsonSchema | null;
  request: JsonSchema | null;
  /** Bodies of successful answers. */
  examples: unknown[];
};

export type Api = {
  title: string;
  baseUrl: string;
  auth: ApiAuth;
  routes: ApiRoute[];
};

/** Point that the draft leaves open, for a person to decide. */
export type Mark = { place: string; message: string };

/** Key under which a resolved schema stores the name that it had in the document. */
export const schemaName = 'x-name';

const words = (text: string): string[] =>
  text
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');

/** Returns a name in snake_case that begins with a letter. */
export const snakeCase = (text: string): string => {
  const name = words(text).join('_').slice(0, 100);
  return /^[a-z]/.test(name) ? name : `x_${name}`;
};

/** Returns the singular of a plural name: `board` for `boards`. */
export const singular = (name: string): string =>
  name
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x)es$/, '$1')
    .replace(/([^s])s$/, '$1');
