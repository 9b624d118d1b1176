/** Shows that a page's own code failed, in the page: its writer sees nothing else of it. */

const show = (words: string): void => {
  const element = document.createElement('div');
  element.className = 'fault-note';
  element.setAttribute('role', 'alert');
  element.textContent = `The code of this dashboard failed: ${words}`;
  document.body.prepend(element);
};

const wordsOf = (reason: unknown): string =>
  reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);

/** The first fault is told; those after it mostly come of it. */
let isTold = false;

export const tellFault = (reason: unknown): void => {
  if (isTold) return;
  isTold = true;
  show(wordsOf(reason));
};

/** Watches for what nobody catches, and for what the page's policy keeps it from. */
export const watchFaults = (): void => {
  addEventListener('error', ({ error, message }) => tellFault(error ?? message));
  addEventListener('unhandledrejection', ({ reason }) => tellFault(reason));
  addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) =>
    tellFault(`a dashboard loads nothing, and this wanted ${blockedURI} (${effectiveDirective})`),
  );
};
