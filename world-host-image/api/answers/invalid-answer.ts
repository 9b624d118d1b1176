/**
 * Builds the answer to a request that was read and then rejected: the vendor's error for the cause of the rejection.
 * Problems use the names that the client knows: its arguments, and the paths of the body that it sent.
 */
import { parsePointer } from '#domain/json.ts';
import type { ApiContract, InvalidCause, RouteContract, VendorError } from '#language/contract.ts';
import type { RefusalKind, StoreRefusal } from '#store/refusal.ts';
import { type ApiAnswer, vendorAnswer } from './answer.ts';
import { fillBody, type Wrong } from './fill-body.ts';

const causes: Partial<Record<RefusalKind, InvalidCause>> = {
  shape: 'shape',
  duplicate: 'duplicate',
  missing_reference: 'reference',
  referenced: 'reference',
};

/** Returns the cause for which the store refused a write; undefined if the rows of the request are not at fault. */
export const causeOf = (kind: unknown): InvalidCause | undefined =>
  typeof kind === 'string' ? causes[kind as RefusalKind] : undefined;

/** Returns the vendor's error for a cause, or its general `invalid` error. */
export const invalidWords = (api: ApiContract, cause: InvalidCause | undefined): VendorError =>
  (cause === undefined ? undefined : api.invalidBy?.[cause]) ?? api.invalid;

type Invalid = { cause?: InvalidCause | undefined; wrongs: readonly Wrong[]; reason: string };

/** Returns the vendor's error with its placeholders filled; `reason` goes to the ledger. */
export const invalidAnswer = (api: ApiContract, { cause, wrongs, reason }: Invalid): ApiAnswer => {
  const { status, body } = invalidWords(api, cause);
  const filled = fillBody(body, api.errorContentType, wrongs);
  return vendorAnswer(api, { status, body: filled }, reason);
};

/**
 * Returns the answer for an argument with an invalid value. `detail` is the end of a sentence that begins with the
 * argument's name.
 */
export const invalidArgument = (api: ApiContract, param: string, detail: string): ApiAnswer =>
  invalidAnswer(api, {
    wrongs: [{ param, field: null, message: detail }],
    reason: `"${param}" ${detail}`,
  });

const isBegin = (start: readonly string[], path: readonly string[]): boolean =>
  start.every((name, at) => name === path[at]);

/**
 * Returns the name by which the client knows a row's field: the name of an argument, or a path into the body. Null if
 * the client does not send the field.
 */
const paramOf = (route: RouteContract, path: readonly string[]): string | null => {
  const { body, filter, generate, defaults } = route;
  const argument = filter.find((one) => one.match === 'equals' && isBegin(one.path, path));
  if (argument !== undefined) return argument.argument;
  const mapped = body.find(({ field }) => isBegin(field, path));
  if (mapped !== undefined) return [...mapped.from, ...path.slice(mapped.field.length)].join('.');
  const [top = ''] = path;
  const isMade = generate.some(({ field }) => field === top) || Object.hasOwn(defaults, top);
  return isMade || body.length > 0 ? null : path.join('.');
};

/**
 * Returns the problem at a place of a row or body. In routes that write rows, fields may have other names than in the
 * request, so `param` is the name in the request.
 */
export const wrongAt = (route: RouteContract, pointer: string, message: string): Wrong => {
  const path = parsePointer(pointer);
  if (path.length === 0) return { param: null, field: null, message };
  const field = path.join('.');
  const isMapped = route.action === 'create' || route.action === 'update';
  return { param: isMapped ? paramOf(route, path) : field, field, message };
};

type Refused = Pick<StoreRefusal, 'kind' | 'message' | 'problems'>;

/** Returns the answer to a write that the store refused. */
export const refusedWrite = (api: ApiContract, route: RouteContract, refusal: Refused): ApiAnswer =>
  invalidAnswer(api, {
    cause: causeOf(refusal.kind),
    wrongs: refusal.problems.map(({ pointer, detail }) => wrongAt(route, pointer, detail)),
    reason: `${refusal.kind}: ${refusal.message}`,
  });
