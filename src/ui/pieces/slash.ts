/** Makes the key `/` focus the search, unless the focus is in an input. */
import { type RefObject, useEffect } from 'react';

/** Returns true if a key belongs to the focused input, not to the page. */
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
