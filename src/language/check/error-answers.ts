/** Checks the bodies and statuses of the vendor's error answers; the bodies are sent unchanged. */
import { type ApiContract, invalidCauses, type VendorError } from '../contract.ts';
import type { ApiTable } from '../files/connector/api.ts';
import { languageLimits } from '../limits.ts';
import type { Place } from '../read/place.ts';
import type { RouteDraft } from './route-draft.ts';

/** Refuses a body that is too long, or that does not have the world's content type of errors. */
export const checkBody = (place: Place, body: string, contentType: string): void => {
  if (body.length > languageLimits.errorBodyChars) {
    const message = `the body has ${body.length} characters, more than ${languageLimits.errorBodyChars}`;
    place.refuse('bad_value', message);
    return;
  }
  if (body === '' || !/\bjson\b/i.test(contentType)) return;
  try {
    JSON.parse(body);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const hint = "set error_content_type if the vendor's errors have another content type";
    place.refuse('bad_value', 'the body is not valid JSON', hint);
  }
};

/** Returns the errors that are answered in place of `invalid`, by cause. */
const readInvalidBy = (place: Place, api: ApiTable): Pick<ApiContract, 'invalidBy'> => {
  const given = invalidCauses.flatMap((cause): [string, VendorError][] => {
    const answer = api.invalid_by[cause];
    if (answer === undefined) return [];
    const { body = api.invalid, status = api.invalid_status } = answer;
    if (answer.body !== undefined) checkBody(place.at(cause), body, api.error_content_type);
    return [[cause, { status, body }]];
  });
  return given.length === 0 ? {} : { invalidBy: Object.fromEntries(given) };
};

/** Returns the world's default errors, for routes that declare none of their own. */
export const readErrorAnswers = (
  place: Place,
  api: ApiTable,
): Pick<ApiContract, 'unauthorized' | 'notFound' | 'invalid' | 'invalidBy'> => {
  for (const key of ['unauthorized', 'not_found', 'invalid'] as const) {
    checkBody(place.at(key), api[key], api.error_content_type);
  }
  return {
    unauthorized: { status: api.unauthorized_status, body: api.unauthorized },
    notFound: { status: api.not_found_status, body: api.not_found },
    invalid: { status: api.invalid_status, body: api.invalid },
    ...readInvalidBy(place.at('invalid_by'), api),
  };
};

/** Returns the error that a route answers for a missing row. */
export const readNotFound = ({ api, apiPlace }: RouteDraft, world: ApiTable): VendorError => {
  if (api.not_found !== undefined) {
    checkBody(apiPlace.at('not_found'), api.not_found, world.error_content_type);
  }
  return {
    status: api.not_found_status ?? world.not_found_status,
    body: api.not_found ?? world.not_found,
  };
};
