/** `/` leads to the search from anywhere but a place to write in. */
import { type RefObject, useEffect } from 'react';

/** Whether a key is meant for what has the focus, and not for the page. */
export const isTyping = ({ target }: KeyboardEvent): boolean =>
  (target as Element).closest('input, textarea, select, dialog, [role=dialog]') !== null;

export const useSlash = (input: RefObject<HTMLInputElement | null>): void => {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== '/' || isTyping(event)) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [input]);
};
