/** The elements of index.html by their ids. */

/** The element with an id. Throws when the page has none of that kind. */
export const element = <Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind => {
  const found = document.querySelector(`#${id}`);
  if (found instanceof kind) return found;
  throw new Error(`index.html has no ${kind.name} #${id}`);
};
