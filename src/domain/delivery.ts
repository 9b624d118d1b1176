/**
 * Returns the body of a webhook delivery as it is sent. The ledger stores the body as a JSON value. Only this file
 * turns it into text for its content type, so that the signed and the sent bytes are equal.
 */

const formType = 'application/x-www-form-urlencoded';

/** Content types that a subscription may request. */
export const deliveryContentTypes = { json: 'application/json', form: formType } as const;

/**
 * Returns the text that is sent for a body given as JSON text. A subscription with the form type gets a form with the
 * one field `payload`; any other gets the JSON text itself.
 */
export const textOfDelivery = (contentType: string | undefined, json: string): string =>
  contentType === formType ? new URLSearchParams({ payload: json }).toString() : json;
