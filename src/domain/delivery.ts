/**
 * A delivery of a webhook as it goes over the wire. The ledger has its body as a JSON value; the text that is signed
 * and sent is made of that and of the type of its content, in one place, so that both are the same bytes.
 */

const formType = 'application/x-www-form-urlencoded';

/** The types of content that subscriptions may ask for. */
export const deliveryContentTypes = { json: 'application/json', form: formType } as const;

/**
 * The text that is sent for a body, given as JSON text: the same text, or the one field `payload` of a form for a
 * subscription that wants forms.
 */
export const textOfDelivery = (contentType: string | undefined, json: string): string =>
  contentType === formType ? new URLSearchParams({ payload: json }).toString() : json;
