/** Shows on the page that the dashboard's own code failed. Its author has no other way to see the error. */

const show = (words: string): void => {
  const element = document.createElement('div');
  element.className = 'fault-note';
  element.setAttribute('role', 'alert');
  element.textContent = `The code of this dashboard failed: ${words}`;
  document.body.prepend(element);
};

const wordsOf = (reason: unknown): string =>
  reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);

/** True after the first error. Later errors are not shown, since they mostly follow from the first. */
let isTold = false;

export const showFault = (reason: unknown): void => {
  if (isTold) return;
  isTold = true;
  show(wordsOf(reason));
};

/** Watches for uncaught errors and for violations of the page's content security policy. */
export const watchFaults = (): void => {
  addEventListener('error', ({ error, message }) => showFault(error ?? message));
  addEventListener('unhandledrejection', ({ reason }) => showFault(reason));
  addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) =>
    showFault(`a dashboard loads nothing, and this wanted ${blockedURI} (${effectiveDirective})`),
  );
};
